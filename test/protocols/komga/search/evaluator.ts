// Naive evaluator of Komga's search conditions over plain facts, as the contract describes them.
import { searchKey } from '../../../../lib/media/name/text.ts'
import type { BookFacts, SeriesFacts } from '../../../list/catalog-facts.ts'
import { createOracle } from '../../../list/oracle.ts'
import type { KomgaFacts } from './facts.ts'

type Operation = {
  operator: string
  value?: unknown
  dateTime?: string
  duration?: string
}
export type Tree = { allOf: Tree[] } | { anyOf: Tree[] } | Record<string, Operation>

const day = 86_400_000

export function createEvaluator(facts: KomgaFacts, account: string, now: Date) {
  const oracle = createOracle(facts, account)
  const { booksOf, progress } = oracle
  const groupsOf = (groups: Map<string, Set<string>>, id: string) =>
    [...groups].filter(([, members]) => members.has(id)).map(([group]) => group)
  const fold = (text: unknown) => searchKey(String(text))
  const roleOf = (role: string | null) =>
    role === 'cover_artist' ? 'cover' : (role?.toLowerCase() ?? 'writer')
  const readState = (b: BookFacts) => {
    const p = progress.get(b.id)
    return p?.done ? 'READ' : p && p.page > 0 ? 'IN_PROGRESS' : 'UNREAD'
  }
  const seriesState = (books: BookFacts[]) => {
    const states = books.map(readState)
    if (states.length > 0 && states.every(state => state === 'READ')) return 'READ'
    return states.some(state => state !== 'UNREAD') ? 'IN_PROGRESS' : 'UNREAD'
  }
  const dateOf = (released: number | null) =>
    released === null
      ? null
      : Date.UTC(Math.floor(released / 10_000), Math.max(Math.floor(released / 100) % 100, 1) - 1)
  const creditsOf = (b: BookFacts) =>
    facts.credits.get(b.id)!.map(({ name, role }) => ({ name: fold(name), role: roleOf(role) }))

  /** Null stands for no value; a list for any of its values. */
  const text = (op: Operation, value: string): boolean => {
    const [a, b] = [fold(value), fold(op.value)]
    switch (op.operator) {
      case 'is':
        return a === b
      case 'isNot':
        return a !== b
      case 'contains':
        return a.includes(b)
      case 'doesNotContain':
        return !a.includes(b)
      case 'beginsWith':
        return a.startsWith(b)
      case 'doesNotBeginWith':
        return !a.startsWith(b)
      case 'endsWith':
        return a.endsWith(b)
      case 'doesNotEndWith':
        return !a.endsWith(b)
    }
    throw new Error(op.operator)
  }
  const equals = (op: Operation, holds: boolean) => (op.operator === 'is' ? holds : !holds)
  const anyOf = (op: Operation, values: readonly string[]): boolean => {
    if (op.operator === 'isNull') return values.length === 0
    if (op.operator === 'isNotNull') return values.length > 0
    return equals(
      op,
      values.some(value => fold(value) === fold(op.value)),
    )
  }
  const number = (op: Operation, value: number | null): boolean => {
    if (op.operator === 'isNull') return value === null
    if (op.operator === 'isNotNull') return value !== null
    const bound = Number(op.value)
    if (op.operator === 'is') return value === bound
    if (op.operator === 'isNot') return value !== bound
    if (value === null) return false
    return op.operator === 'greaterThan' ? value >= bound : value <= bound
  }
  const date = (op: Operation, value: number | null): boolean => {
    if (op.operator === 'isNull') return value === null
    if (op.operator === 'isNotNull') return value !== null
    if (value === null) return false
    const today = Math.floor(now.getTime() / day)
    const bound = op.dateTime
      ? Math.floor(Date.parse(op.dateTime) / day)
      : today - Number(/\d+/.exec(op.duration!)![0])
    const isAfter = op.operator === 'after' || op.operator === 'isInTheLast'
    return isAfter ? value > bound * day : value < bound * day
  }
  const flag = (op: Operation, value: boolean | null) =>
    value !== null && (op.operator === 'isTrue') === value
  const credit = (op: Operation, credits: { name: string; role: string }[]) => {
    const { name, role } = op.value as { name?: string; role?: string }
    return equals(
      op,
      credits.some(
        c =>
          (name === undefined || c.name === fold(name)) &&
          (role === undefined || c.role === role.toLowerCase()),
      ),
    )
  }

  type Seen = (book: BookFacts) => boolean
  const testSeries = (s: SeriesFacts, key: string, op: Operation, isSeen: Seen): boolean => {
    const books = booksOf(s)
    const seen = books.filter(isSeen)
    switch (key) {
      case 'libraryId':
        return anyOf(op, [s.library])
      case 'collectionId':
        return anyOf(op, groupsOf(facts.collections, s.id))
      case 'deleted':
        return flag(op, books.length === 0)
      case 'oneShot':
        return flag(op, facts.oneShots.has(s.id))
      case 'complete':
        return flag(op, s.total === null ? null : s.total === seen.length)
      case 'title':
        return text(op, s.title)
      case 'titleSort':
        return text(op, s.titleSort ?? s.title)
      case 'releaseDate': {
        const dates = seen.flatMap(b => dateOf(b.released) ?? [])
        return date(op, dates.length === 0 ? null : Math.min(...dates))
      }
      case 'tag':
        return anyOf(op, [
          ...(s.ownTags ?? books.flatMap(b => b.tags)),
          ...seen.flatMap(b => b.tags),
        ])
      case 'genre':
        return anyOf(op, s.ownGenres ?? books.flatMap(b => b.genres))
      case 'sharingLabel':
        return anyOf(op, s.sharingTags)
      case 'publisher':
        return anyOf(op, [s.publisher ?? ''])
      case 'language':
        return anyOf(op, [s.language ?? ''])
      case 'ageRating':
        return number(op, s.ageRating)
      case 'readStatus':
        return equals(op, seriesState(seen) === op.value)
      case 'seriesStatus':
        return equals(op, s.status === String(op.value).toLowerCase())
      case 'author':
        return credit(op, seen.flatMap(creditsOf))
    }
    throw new Error(key)
  }

  const mediaStatus = (b: BookFacts) => {
    const error = facts.errors.get(b.id)
    if (error) return error === 'io' ? 'ERROR' : 'UNSUPPORTED'
    if (facts.unread.has(b.id)) return 'UNKNOWN'
    return b.pages === 0 ? 'ERROR' : 'READY'
  }
  const testBook = (b: BookFacts, key: string, op: Operation): boolean => {
    switch (key) {
      case 'libraryId':
        return anyOf(op, [b.series.library])
      case 'seriesId':
        return anyOf(op, [b.series.id])
      case 'readListId':
        return anyOf(op, groupsOf(facts.readLists, b.id))
      case 'deleted':
        return flag(op, b.missing)
      case 'oneShot':
        return flag(op, facts.oneShots.has(b.series.id))
      case 'title':
        return text(op, b.title)
      case 'releaseDate':
        return date(op, dateOf(b.released))
      case 'tag':
        return anyOf(op, b.tags)
      case 'numberSort':
        return number(op, b.number)
      case 'readStatus':
        return equals(op, readState(b) === op.value)
      case 'mediaStatus':
        return equals(op, mediaStatus(b) === op.value)
      case 'mediaProfile': {
        const profile = b.format === 'epub' ? 'EPUB' : b.format === 'pdf' ? 'PDF' : 'DIVINA'
        return equals(op, !facts.unread.has(b.id) && profile === op.value)
      }
      case 'author':
        return credit(op, creditsOf(b))
      case 'poster': {
        const { type, selected } = op.value as { type?: string; selected?: boolean }
        const { isGenerated, uploaded } = facts.covers.get(b.id)!
        const covers = [
          ...(isGenerated ? [{ type: 'GENERATED', selected: !uploaded.includes(true) }] : []),
          ...uploaded.map(isSelected => ({ type: 'USER_UPLOADED', selected: isSelected })),
        ]
        return equals(
          op,
          covers.some(
            c =>
              (type === undefined || c.type === type) &&
              (selected === undefined || c.selected === selected),
          ),
        )
      }
    }
    throw new Error(key)
  }

  /** Null for a tree that does not restrict. */
  const evaluate = (tree: Tree, test: (key: string, op: Operation) => boolean): boolean | null => {
    const [key] = Object.keys(tree) as [string]
    if (key === 'allOf' || key === 'anyOf') {
      const parts = (tree as Record<string, Tree[]>)
        [key]!.map(part => evaluate(part, test))
        .filter(part => part !== null)
      if (parts.length === 0) return null
      return key === 'allOf' ? parts.every(Boolean) : parts.some(Boolean)
    }
    const op = (tree as Record<string, Operation>)[key]!
    const isAny =
      key === 'poster' && Object.values(op.value as object).every(value => value === undefined)
    return isAny ? null : test(key, op)
  }
  return {
    ...oracle,
    matchesSeries: (tree: Tree, isSeen: Seen) => (s: SeriesFacts) =>
      evaluate(tree, (key, op) => testSeries(s, key, op, isSeen)) ?? true,
    matchesBook: (tree: Tree) => (b: BookFacts) =>
      evaluate(tree, (key, op) => testBook(b, key, op)) ?? true,
  }
}

/** Missing ones are listed if the tree names them. */
export function namesDeleted(tree: Tree): boolean {
  return JSON.stringify(tree).includes('"deleted":{"operator":"isTrue"}')
}
