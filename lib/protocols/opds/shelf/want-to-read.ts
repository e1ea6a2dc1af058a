// Shelves of the account's want-to-read list: books and series, each in the account's order.
import { wantedIds } from '../../../organize/personal/want-to-read.ts'
import { newestOf } from './books.ts'
import type { Listing } from './listing.ts'

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
