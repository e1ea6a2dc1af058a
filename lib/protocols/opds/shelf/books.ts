// Shelves of books from all series, and the account's want-to-read list.
import { listBooks } from '../../../list/list-books.ts'
import { newestBookChange } from '../../../list/newest-change.ts'
import { wantedIds } from '../../../organize/personal/want-to-read.ts'
import { booksInProgress, booksOnDeck } from '../../../reading/progress/continue-reading.ts'
import { type Listing, maxLatest } from './listing.ts'

const maxPageSize = 500

const inProgress: Listing['list'] = ({ sql, services, viewer, ...request }) =>
  booksInProgress({ sql, services }, viewer, request)
const next: Listing['list'] = ({ sql, services: _, viewer, ...request }) =>
  booksOnDeck(sql, viewer, request)

export const keepReading: Listing = {
  kind: 'acquisition',
  path: '/keep-reading',
  title: 'Keep reading',
  summary: 'Books in progress, most recently read first',
  list: inProgress,
  updatedAt: newestOf(inProgress),
}

export const onDeck: Listing = {
  kind: 'acquisition',
  path: '/on-deck',
  title: 'On deck',
  summary: 'The next book of every series in progress',
  list: next,
  updatedAt: newestOf(next),
}

export const newBooks: Listing = {
  kind: 'acquisition',
  path: '/books/recent',
  title: 'New books',
  summary: `Recently added books, at most ${maxLatest}`,
  list: latest('created'),
  updatedAt: ({ sql, viewer }) => newestBookChange(sql, viewer, { areReleased: false }),
}

export const releases: Listing = {
  kind: 'acquisition',
  path: '/books/released',
  title: 'Latest releases',
  summary: `Books with a release date, latest first, at most ${maxLatest}`,
  list: latest('released'),
  updatedAt: ({ sql, viewer }) => newestBookChange(sql, viewer, { areReleased: true }),
}

/** For a list as long as what the viewer reads: most of it is on the first page. */
export function newestOf(list: Listing['list']): Listing['updatedAt'] {
  return async ({ sql, services, viewer }) => {
    const { ids } = await list({ sql, services, viewer, page: 1, pageSize: maxPageSize })
    return ids.length === 0 ? null : await newestBookChange(sql, viewer, { ids })
  }
}

function latest(by: 'created' | 'released'): Listing['list'] {
  const isReleased = { field: 'releaseDate', test: { kind: 'null' }, negated: true } as const
  const filter = by === 'released' ? { of: 'book' as const, condition: isReleased } : null
  return ({ sql, services, viewer, ...request }) =>
    listBooks({ sql, services }, viewer, {
      ...{ ...request, filter, sort: by, direction: 'desc', maxBooks: maxLatest },
    })
}

const listOf =
  (of: 'book' | 'series'): Listing['list'] =>
  ({ sql, services: _, viewer, ...request }) =>
    wantedIds(sql, viewer, { of, ...request })

export const wantedBooks: Listing = {
  kind: 'acquisition',
  path: '/want-to-read',
  title: 'Want to read',
  summary: 'Books to read, in the order chosen by the reader',
  list: listOf('book'),
  updatedAt: newestOf(listOf('book')),
}

export const wantedSeries: Listing = {
  kind: 'navigation',
  path: '/want-to-read/series',
  title: 'Series to read',
  summary: 'Series to read, in the order chosen by the reader',
  list: listOf('series'),
}
