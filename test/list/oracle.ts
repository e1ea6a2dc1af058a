// Oracle of the list tests: conditions, visibility and searches evaluated over plain facts.
import type { Viewer } from '../../lib/accounts/viewer.ts'
import { labelKey } from '../../lib/catalog/label/label.ts'
import type { Condition, Predicate } from '../../lib/list/condition.ts'
import { normalizeSearchText } from '../../lib/media/name/search-text.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import type { BookFacts, Facts, SeriesFacts } from './catalog-facts.ts'

export function holds(condition: Condition, test: (predicate: Predicate) => boolean): boolean {
  if ('all' in condition) return condition.all.every(part => holds(part, test))
  if ('any' in condition) return condition.any.some(part => holds(part, test))
  return test(condition) !== condition.negated
}

function testText(test: Predicate['test'], value: string | null): boolean {
  if (test.kind === 'null') return value === null
  if (test.kind !== 'text' || value === null) return false
  const [a, b] = [searchKey(value), searchKey(test.value)]
  return {
    equals: a === b,
    contains: a.includes(b),
    beginsWith: a.startsWith(b),
    endsWith: a.endsWith(b),
  }[test.operator]
}

const testId = (test: Predicate['test'], id: string): boolean =>
  test.kind === 'ids' ? test.ids.includes(id) : testText(test, id)

function testNumber(test: Predicate['test'], value: number | null): boolean {
  if (test.kind === 'null') return value === null
  if (value === null) return false
  if (test.kind === 'between')
    return (
      (test.from === null || value >= Number(test.from)) &&
      (test.to === null || value <= Number(test.to))
    )
  if (test.kind !== 'compare') return false
  const bound = Number(test.value)
  return {
    '=': value === bound,
    '<': value < bound,
    '<=': value <= bound,
    '>': value > bound,
    '>=': value >= bound,
  }[test.operator]
}

/** The first day of a date with unknown parts. */
const releaseTime = (released: number) =>
  Date.UTC(Math.floor(released / 10_000), Math.max(Math.floor(released / 100) % 100, 1) - 1)

export function createOracle(facts: Facts, account: string) {
  const present = facts.books.filter(book => !book.missing)
  const booksOf = (series: SeriesFacts) => present.filter(book => book.series === series)
  const progress = new Map(facts.progress.filter(p => p.account === account).map(p => [p.book, p]))
  const ownGenres = (s: SeriesFacts) => s.ownGenres ?? booksOf(s).flatMap(b => b.genres)
  const ownTags = (s: SeriesFacts) => s.ownTags ?? booksOf(s).flatMap(b => b.tags)
  const testLabels = (test: Predicate['test'], names: string[]) =>
    test.kind === 'null' ? names.length === 0 : names.some(name => testText(test, labelKey(name)))
  const bookStatus = (book: BookFacts) => {
    const p = progress.get(book.id)
    return p?.done ? 'read' : p && p.page > 0 ? 'in_progress' : 'unread'
  }
  const statusOf = (books: BookFacts[]) => {
    const states = books.map(bookStatus)
    if (states.length > 0 && states.every(state => state === 'read')) return 'read'
    return states.some(state => state !== 'unread') ? 'in_progress' : 'unread'
  }

  const own = facts.ratings.filter(r => r.account === account)
  const ratingOf = (s: SeriesFacts) => own.find(r => r.series === s)?.rating ?? null
  const meanRating = (s: SeriesFacts) => {
    const ratings = facts.ratings.filter(r => r.series === s).map(r => r.rating)
    return ratings.length > 0 ? ratings.reduce((a, b) => a + b) / ratings.length : null
  }
  const wanted = new Set(
    facts.wanted.filter(w => w.account === account).map(w => w.book?.id ?? w.series?.id),
  )
  const readAt = (b: BookFacts) => progress.get(b.id)?.at.getTime() ?? null
  const lastReadAt = (s: SeriesFacts) => {
    const times = booksOf(s).flatMap(b => readAt(b) ?? [])
    return times.length > 0 ? Math.max(...times) : null
  }

  const testSeries = (s: SeriesFacts, viewer: Viewer) => (predicate: Predicate) => {
    const { field, test } = predicate
    const isWithinAge = ({ ageRating }: BookFacts) => (ageRating ?? 0) <= (viewer.ageLimit ?? 99)
    const seen = booksOf(s).filter(isWithinAge)
    switch (field) {
      case 'format':
        return testLabels(
          test,
          seen.map(b => b.format),
        )
      case 'hasError':
        return test.kind === 'boolean' && seen.some(b => b.error) === test.value
      case 'hasMissing': {
        const missing = facts.books.filter(b => b.series === s && b.missing && isWithinAge(b))
        return test.kind === 'boolean' && missing.length > 0 === test.value
      }
      case 'bookCount':
        return testNumber(test, seen.length)
      case 'pageCount':
        return testNumber(
          test,
          seen.reduce((sum, b) => sum + b.pages, 0),
        )
      case 'ageRating':
        return testNumber(test, s.ageRating)
      case 'libraryId':
        return testId(test, s.library)
      case 'genre':
        return testLabels(test, ownGenres(s))
      case 'tag':
        return testLabels(test, ownTags(s))
      case 'readStatus':
        return test.kind === 'status' && statusOf(seen) === test.status
      case 'completion':
        return test.kind === 'boolean' && s.total !== null && seen.length >= s.total === test.value
      case 'sharingTag':
        return test.kind === 'null'
          ? s.sharingTags.length === 0
          : s.sharingTags.some(t => testText(test, t))
      case 'author':
        return testLabels(
          test,
          seen.map(b => b.author),
        )
      case 'year':
        return testNumber(test, s.year)
      case 'releaseDate':
        return testNumber(test, s.year && Date.UTC(s.year))
      case 'dateAdded':
      case 'addedAt':
        return testNumber(test, s.createdAt.getTime())
      case 'lastReadAt':
        return testNumber(test, lastReadAt(s))
      case 'wantToRead':
        return test.kind === 'boolean' && wanted.has(s.id) === test.value
      case 'hasUserRating':
        return test.kind === 'boolean' && (ratingOf(s) !== null) === test.value
      case 'userRating':
        return testNumber(test, ratingOf(s))
      case 'communityRating':
        return testNumber(test, meanRating(s))
      default: {
        const values: Record<string, string | null> = {
          name: s.title,
          title: s.title,
          titleSort: s.titleSort ?? s.title,
          path: s.folder,
          publisher: s.publisher,
          status: s.status,
          language: s.language,
        }
        return testText(test, values[field]!)
      }
    }
  }

  const testBook = (b: BookFacts) => (predicate: Predicate) => {
    const { field, test } = predicate
    switch (field) {
      case 'libraryId':
        return testId(test, b.series.library)
      case 'seriesId':
        return testId(test, b.series.id)
      case 'genre':
        return testLabels(test, [...ownGenres(b.series), ...b.genres])
      case 'tag':
        return testLabels(test, [...ownTags(b.series), ...b.tags])
      case 'readStatus':
        return test.kind === 'status' && bookStatus(b) === test.status
      case 'hasError':
        return test.kind === 'boolean' && b.error === test.value
      case 'pageCount':
        return testNumber(test, b.pages)
      case 'releaseDate':
        return testNumber(test, b.released && releaseTime(b.released))
      case 'dateAdded':
      case 'addedAt':
        return testNumber(test, b.createdAt.getTime())
      case 'lastReadAt':
        return testNumber(test, readAt(b))
      case 'wantToRead':
        return test.kind === 'boolean' && wanted.has(b.id) === test.value
      case 'userRating':
        return testNumber(test, ratingOf(b.series))
      case 'path':
        return testText(test, `Köln/${b.id}${b.name}`)
      case 'format':
        return testText(test, b.format)
      case 'title':
        return testText(test, b.title)
      case 'titleSort':
        return testText(test, b.titleSort ?? b.title)
      case 'summary':
        return testText(test, b.summary)
      case 'bookType':
        return testText(test, b.bookType)
      case 'author':
        return testLabels(test, [b.author])
      default:
        throw new Error(`The oracle has no field ${field}`)
    }
  }

  const isVisibleSeries = (viewer: Viewer) => (s: SeriesFacts) => {
    const tags = s.sharingTags.map(tag => facts.sharingTags[tag]!)
    if (viewer.libraries && !viewer.libraries.includes(s.library)) return false
    if (viewer.deniedTags.some(tag => tags.includes(tag))) return false
    if (viewer.allowedTags.length > 0 && !viewer.allowedTags.some(tag => tags.includes(tag)))
      return false
    if (viewer.ageLimit === null) return true
    return s.ageRating === null ? viewer.showsUnrated : s.ageRating <= viewer.ageLimit
  }
  const isVisibleBook = (viewer: Viewer) => (b: BookFacts) =>
    isVisibleSeries(viewer)(b.series) &&
    (viewer.ageLimit === null || b.ageRating === null || b.ageRating <= viewer.ageLimit)

  /**
   * Every word but articles is in one of the texts, short words at the start of a word, or is several words of one of the
   * titles together; or a short one is in a text together with the word beside it.
   */
  const matches = (query: string, titles: string[], others: string[]) => {
    const lines = [...titles, ...others].map(t => ` ${normalizeSearchText(t)}`)
    const isIn = (word: string) => lines.some(line => line.includes(word))
    const all = normalizeSearchText(query).split(' ')
    const named = all.filter(word => !['a', 'an', 'the'].includes(word))
    const words = named.length > 0 ? named : all
    const hasLong = words.some(word => word.length >= 3)
    return words.every((word, i) => {
      if (word.length >= 3)
        return isIn(word) || titles.some(title => togetherIn(normalizeSearchText(title), word))
      const pairs = [i > 0 && words[i - 1] + word, i < words.length - 1 && word + words[i + 1]!]
      return isIn(` ${word}`) || (hasLong && pairs.some(pair => pair && isIn(pair)))
    })
  }
  const togetherIn = (line: string, word: string) => {
    const words = line.split(' ')
    return words.some((_, i) =>
      words.some((_, j) => j > i && words.slice(i, j + 1).join('') === word),
    )
  }
  const matchesBook = (query: string) => (b: BookFacts) =>
    matches(
      query,
      [b.title, b.series.title],
      [b.author, b.number === null ? '' : String(b.number), ...b.tags],
    )
  const matchesSeries = (query: string) => (s: SeriesFacts) =>
    matches(
      query,
      [s.title, s.folder ?? s.title],
      [...ownGenres(s), ...ownTags(s), ...booksOf(s).map(b => b.author)],
    )

  const listed = facts.series.filter(s => booksOf(s).length > 0)
  return {
    present,
    listed,
    progress,
    ratingOf,
    meanRating,
    lastReadAt,
    booksOf,
    testSeries,
    testBook,
    isVisibleSeries,
    isVisibleBook,
    matchesBook,
    matchesSeries,
  }
}
