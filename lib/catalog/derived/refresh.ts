// Derived state of books and series: which tables and columns follow from a change, and how they are refreshed.
// Labels, the lowest age rating, the first release, the reading order, search rows, reading counters and metadata aggregated
// from books are stored, because lists filter, sort by or show them. Every change of their sources calls one of these
// functions in its transaction.

import { refreshFirstRelease } from '../../releases/first-release.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { refreshAuthorKeys } from './author-key.ts'
import { refreshBooksMetadata } from './books-metadata.ts'
import { refreshLabels } from './labels.ts'
import { refreshLowestAge } from './lowest-age.ts'
import { refreshReadingOrder } from './reading-order.ts'
import { refreshBookSearch, refreshSeriesSearch } from './search-rows.ts'
import { refreshSeriesReading } from './series-reading.ts'

// Columns of the owner that each derived state is computed from.
const sources = {
  labels: { book: ['genres', 'tags'], series: ['genres', 'tags'] },
  authorKey: { book: ['authors'], series: ['authors'] },
  lowestAge: { book: ['age_rating'], series: [] },
  firstRelease: { book: ['year', 'month', 'day'], series: [] },
  readingOrder: { book: ['volume', 'number', 'number_sort'], series: [] },
  booksMetadata: { book: ['authors', 'publisher', 'language', 'year', 'age_rating'], series: [] },
  bookSearch: { book: ['title', 'sort_key', 'number', 'authors', 'tags'], series: [] },
  seriesSearch: {
    book: ['authors', 'genres', 'tags'],
    // The provenance shows whether a user chose the title, which a concurrent scan cannot know yet.
    series: ['title', 'alternate_titles', 'authors', 'genres', 'tags', 'provenance'],
  },
} as const

type Edit = {
  seriesIds: string[]
  /** Books whose columns changed; if absent, columns of the series changed. */
  bookIds?: string[]
  /** Names of the changed columns. */
  columns: readonly string[]
}

// Search texts of books are built in the process, this many at a time.
const bookBatch = 500

/** After a user changed columns of books or series. Returns the series whose own genres or tags changed as a result. */
export async function refreshEdited(tx: Transaction, { seriesIds, bookIds, columns }: Edit) {
  const isAffected = (state: keyof typeof sources) => {
    const names: readonly string[] = sources[state][bookIds ? 'book' : 'series']
    return columns.some(column => names.includes(column))
  }
  const relabeled = isAffected('labels') ? await refreshLabels(tx, seriesIds) : []
  if (isAffected('authorKey')) await refreshAuthorKeys(tx, seriesIds)
  if (isAffected('lowestAge')) await refreshLowestAge(tx, seriesIds)
  if (isAffected('firstRelease')) await refreshFirstRelease(tx, seriesIds)
  if (isAffected('readingOrder')) await refreshReadingOrder(tx, seriesIds)
  if (isAffected('booksMetadata')) await refreshBooksMetadata(tx, seriesIds)
  if (bookIds && isAffected('bookSearch'))
    for (let start = 0; start < bookIds.length; start += bookBatch)
      await refreshBookSearch(tx, bookIds.slice(start, start + bookBatch))
  if (isAffected('seriesSearch')) await refreshSeriesSearch(tx, seriesIds)
  return relabeled
}

/**
 * After books of the series were added, removed, moved or read again; their search rows are written along with
 * them. Returns the series whose own genres or tags changed as a result.
 */
export async function refreshScanned(tx: Transaction, seriesIds: string[]): Promise<string[]> {
  const relabeled = await refreshLabels(tx, seriesIds)
  await refreshSeriesReading(tx, seriesIds)
  await refreshAuthorKeys(tx, seriesIds)
  await refreshLowestAge(tx, seriesIds)
  await refreshFirstRelease(tx, seriesIds)
  await refreshReadingOrder(tx, seriesIds)
  await refreshBooksMetadata(tx, seriesIds)
  await refreshSeriesSearch(tx, seriesIds)
  return relabeled
}
