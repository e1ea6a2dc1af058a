// Shelves of books of all series.
import { latestBooks } from '../../catalog/list/list-books-latest.ts'
import { booksBegun, onDeck as nextBooks } from '../../catalog/progress/on-deck.ts'
import { type Listing, mostLatest } from './listing.ts'

export const keepReading: Listing = {
  kind: 'acquisition',
  path: '/keep-reading',
  title: 'Keep reading',
  summary: 'Books that the caller is reading, the last read first',
  find: ({ sql, viewer, ...asked }) => booksBegun(sql, viewer, asked),
}

export const onDeck: Listing = {
  kind: 'acquisition',
  path: '/on-deck',
  title: 'On deck',
  summary: 'The next book of every series that the caller reads',
  find: ({ sql, viewer, ...asked }) => nextBooks(sql, viewer, asked),
}

export const newBooks: Listing = {
  kind: 'acquisition',
  path: '/books/recent',
  title: 'New books',
  summary: `Books that came last, ${mostLatest} at most`,
  find: latest('created'),
}

export const releases: Listing = {
  kind: 'acquisition',
  path: '/books/released',
  title: 'Latest releases',
  summary: `Books that have a date of release, the latest first, ${mostLatest} at most`,
  find: latest('released'),
}

function latest(by: 'created' | 'released'): Listing['find'] {
  return ({ sql, viewer, ...asked }) => latestBooks(sql, viewer, { ...asked, by, most: mostLatest })
}
