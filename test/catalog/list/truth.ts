// What conditions mean, worked out row by row over plain facts: the other opinion in tests of lists.

import type { Viewer } from '../../../lib/auth/viewer.ts'
import { labelKey } from '../../../lib/catalog/label/label.ts'
import type { Condition, Leaf } from '../../../lib/catalog/list/filter.ts'
import { searchLine } from '../../../lib/catalog/search/search-text.ts'
import { searchKey } from '../../../lib/name/normalise.ts'
import type { BookFacts, Facts, SeriesFacts } from './books.ts'

export function holds(condition: Condition, leaf: (leaf: Leaf) => boolean): boolean {
  if ('all' in condition) return condition.all.every(part => holds(part, leaf))
  if ('any' in condition) return condition.any.some(part => holds(part, leaf))
  return leaf(condition) !== condition.negated
}

function text(test: Leaf['test'], value: string | null): boolean {
  if (test.is === 'null') return value === null
  if (test.is !== 'text' || value === null) return false
  const [a, b] = [searchKey(value), searchKey(test.value)]
  return {
    equal: a === b,
    contains: a.includes(b),
    begins: a.startsWith(b),
    ends: a.endsWith(b),
  }[test.how]
}

function amount(test: Leaf['test'], value: number | null): boolean {
  if (test.is === 'null') return value === null
  if (value === null) return false
  if (test.is === 'between')
    return (
      (test.from === null || value >= Number(test.from)) &&
      (test.to === null || value <= Number(test.to))
    )
  if (test.is !== 'compare') return false
  const bound = Number(test.value)
  return {
    '=': value === bound,
    '<': value < bound,
    '<=': value <= bound,
    '>': value > bound,
    '>=': value >= bound,
  }[test.how]
}

export function truth(facts: Facts, account: string) {
  const present = facts.books.filter(book => !book.missing)
  const booksOf = (series: SeriesFacts) => present.filter(book => book.series === series)
  const progress = new Map(facts.progress.filter(p => p.account === account).map(p => [p.book, p]))
  const ownGenres = (s: SeriesFacts) => s.ownGenres ?? booksOf(s).flatMap(b => b.genres)
  const tagsOf = (s: SeriesFacts) => booksOf(s).flatMap(b => b.tags)
  const labels = (test: Leaf['test'], names: string[]) =>
    test.is === 'null' ? names.length === 0 : names.some(name => text(test, labelKey(name)))
  const bookStatus = (book: BookFacts) => {
    const p = progress.get(book.id)
    return p?.done ? 'read' : p && p.page > 0 ? 'in_progress' : 'unread'
  }
  const seriesStatus = (series: SeriesFacts) => {
    const states = booksOf(series).map(bookStatus)
    if (states.every(state => state === 'read')) return 'read'
    return states.some(state => state !== 'unread') ? 'in_progress' : 'unread'
  }

  const ofSeries = (s: SeriesFacts) => (leaf: Leaf) => {
    const { field, test } = leaf
    const count = booksOf(s).length
    switch (field) {
      case 'libraryId':
        return test.is === 'ids' && test.ids.includes(s.library)
      case 'genre':
        return labels(test, ownGenres(s))
      case 'tag':
        return labels(test, tagsOf(s))
      case 'readStatus':
        return test.is === 'status' && seriesStatus(s) === test.status
      case 'completion':
        return test.is === 'boolean' && s.total !== null && count >= s.total === test.value
      case 'sharingTag':
        return test.is === 'null'
          ? s.sharingTags.length === 0
          : s.sharingTags.some(t => text(test, t))
      case 'author':
        return labels(
          test,
          booksOf(s).map(b => b.author),
        )
      case 'year':
        return amount(test, s.year)
      case 'dateAdded':
        return amount(test, s.createdAt.getTime())
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
        return text(test, values[field]!)
      }
    }
  }

  const ofBook = (b: BookFacts) => (leaf: Leaf) => {
    const { field, test } = leaf
    switch (field) {
      case 'libraryId':
        return test.is === 'ids' && test.ids.includes(b.series.library)
      case 'seriesId':
        return test.is === 'ids' && test.ids.includes(b.series.id)
      case 'genre':
        return labels(test, [...ownGenres(b.series), ...b.genres])
      case 'tag':
        return labels(test, [...tagsOf(b.series), ...b.tags])
      case 'readStatus':
        return test.is === 'status' && bookStatus(b) === test.status
      case 'hasError':
        return test.is === 'boolean' && b.error === test.value
      case 'pageCount':
        return amount(test, b.pages)
      case 'dateAdded':
        return amount(test, b.createdAt.getTime())
      case 'path':
        return text(test, `Köln/${b.id}${b.name}`)
      default:
        return text(test, field === 'format' ? b.format : b.title)
    }
  }

  const seesSeries = (viewer: Viewer) => (s: SeriesFacts) => {
    const tags = s.sharingTags.map(tag => facts.sharingTags[tag]!)
    if (viewer.libraries && !viewer.libraries.includes(s.library)) return false
    if (viewer.deniedTags.some(tag => tags.includes(tag))) return false
    if (viewer.allowedTags.length > 0 && !viewer.allowedTags.some(tag => tags.includes(tag)))
      return false
    if (viewer.ageLimit === null) return true
    return s.ageRating === null ? viewer.showsUnrated : s.ageRating <= viewer.ageLimit
  }
  const seesBook = (viewer: Viewer) => (b: BookFacts) =>
    seesSeries(viewer)(b.series) &&
    (viewer.ageLimit === null || b.ageRating === null || b.ageRating <= viewer.ageLimit)

  /** Every word stands in one of the texts; short words begin a word. */
  const finds = (query: string, texts: string[]) => {
    const lines = texts.map(t => ` ${searchLine(t)}`)
    return searchLine(query)
      .split(' ')
      .every(word => lines.some(line => line.includes(word.length < 3 ? ` ${word}` : word)))
  }
  const findsBook = (query: string) => (b: BookFacts) =>
    finds(query, [
      b.title,
      b.series.title,
      b.author,
      b.number === null ? '' : String(b.number),
      ...b.tags,
    ])
  const findsSeries = (query: string) => (s: SeriesFacts) =>
    finds(query, [
      s.title,
      s.folder ?? s.title,
      ...ownGenres(s),
      ...tagsOf(s),
      ...booksOf(s).map(b => b.author),
    ])

  const shown = facts.series.filter(s => booksOf(s).length > 0)
  return {
    present,
    shown,
    progress,
    booksOf,
    ofSeries,
    ofBook,
    seesSeries,
    seesBook,
    findsBook,
    findsSeries,
  }
}
