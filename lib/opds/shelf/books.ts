// Shelves of books of all series.
import { listBooks } from '../../catalog/list/list-books.ts'
import { booksBegun, onDeck as nextBooks } from '../../catalog/next.ts'
import type { Listing } from './listing.ts'

// Nobody turns more pages, and those in the middle of a million books take long to find.
const mostLatest = 10_000

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
  summary: 'Books by their date of release, the latest first',
  find: latest('released'),
}

function latest(sort: 'created' | 'released'): Listing['find'] {
  return async ({ sql, viewer, page, pageSize, ...asked }) => {
    const left = Math.max(mostLatest - (page - 1) * pageSize, 0)
    const order = { sort, direction: 'desc', filter: null } as const
    const { ids, total } = await listBooks(sql, viewer, {
      ...{ ...asked, ...order },
      ...{ page: left > 0 ? page : 1, pageSize },
    })
    return { ids: ids.slice(0, left), total: Math.min(total, mostLatest) }
  }
}
