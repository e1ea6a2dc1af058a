// Lists of books: one page in a sort order, with the exact total, for a million books and more. Chooses
// the cheapest way to make the page; each way plans the filter and then reads the page.
import type { Sql } from 'postgres'
import { isLimited, isUnrestricted, serverViewer, type Viewer } from '../../auth/viewer.ts'
import { parseSearchQuery } from '../../name/search-text.ts'
import { type BookRequest, bookIndexOf } from './bitmaps/books/book-index.ts'
import { orRead } from './bitmaps/row-index.ts'
import { type BookKey, listBooksByKeys } from './books-by-keys.ts'
import { listBooksByReading } from './books-by-reading.ts'
import { listBooksBySeries } from './books-by-series.ts'
import type { MarkedRequest } from './marks/page-by-marks.ts'
import { rankMarksOf } from './marks/rank-marks.ts'
import type { MarkedScope } from './marks/read-marks.ts'
import { newestBooks } from './newest-books.ts'
import { onlyId } from './only-id.ts'
import type { IdPage } from './page.ts'
import { countPresentBooks, pageAllBooks, pagePlannedBooks } from './page-books.ts'
import { type BookListFilter, planBooks } from './plan/book-plan.ts'
import { searchBooks } from './search-books.ts'
import type { BookSort, Direction } from './sort.ts'

export type BookListRequest = BookListFilter & {
  /** Words to search for; empty or null for none. */
  text?: string | null | undefined
  /** Searches by relevance list at most so many books, not the best of all. */
  maxResults?: number | undefined
  sort?: BookSort | undefined
  direction?: Direction | undefined
  /** Instead of `sort`: orders without an index, for which all books of the list are sorted. */
  keys?: readonly BookKey[] | undefined
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of one page of the books that are visible, and the number on all pages. */
export async function listBooks(sql: Sql, viewer: Viewer, given: BookListRequest): Promise<IdPage> {
  const request = { ...given, sort: sortWithin(given) }
  const { direction = 'asc', page, pageSize } = request
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const text = request.text ?? ''
  const search = parseSearchQuery(text)
  const { keys } = request
  if (keys && (search || !text.trim())) {
    const read = () => listBooksByKeys(sql, viewer, { ...request, text, keys, ...window })
    const [key, second] = keys
    // The only one of them that is long.
    if (second || key?.sort !== 'path' || request.seriesId) return await read()
    const { filter, libraryId, includeDeleted } = request
    const scope = { text: search ? text : null, filter, libraryId, includeDeleted }
    const list = { ...window, ...scope, sort: key.sort, direction: key.direction }
    return await pageWithIndex(sql, viewer, list, read)
  }
  if (search) {
    const read = () => searchBooks(sql, viewer, { ...request, text, search, ...window })
    if (request.seriesId || request.maxResults) return await read()
    const { sort = 'relevance', filter, libraryId, includeDeleted } = request
    const list = { ...window, text, sort, direction, filter, libraryId, includeDeleted }
    return await pageWithIndex(sql, viewer, list, read)
  }
  // Text without letters and digits matches nothing; blank text is no search.
  if (text.trim()) return { ids: [], total: 0 }
  const sort = request.sort === undefined || request.sort === 'relevance' ? 'title' : request.sort
  const { filter, libraryId, seriesId, includeDeleted } = request
  const list = { ...window, sort, direction, filter, libraryId, includeDeleted }
  const readPage = () => pageWithoutIndex(sql, viewer, { ...request, ...list })
  const isUnindexed = filter === null && sort !== 'read' && sort !== 'series'
  const index = bookIndexOf(sql)
  // Without a condition an index is made by the first list alone.
  const isIndexed = index.isRead() ? !isAtStart(viewer, list) : index.isUnused()
  const usesIndex = !isUnindexed || isIndexed
  return usesIndex && !seriesId
    ? await pageWithIndex(sql, viewer, list, readPage)
    : await readPage()
}

/** By number, the books of one series are in reading order. */
function sortWithin({ sort, seriesId, filter }: BookListRequest): BookSort | undefined {
  if (sort !== 'number') return sort
  const isOfOne = seriesId ?? (filter && onlyId(filter.condition, 'seriesId'))
  return isOfOne ? 'series' : sort
}

/** Lists of fewer books are read quickly without an index or rank marks, and any list of so few. */
const minIndexed = 20_000

/** Reads what lists of books need, if there are many books (prepare-lists.ts). */
export async function prepareBookLists(sql: Sql): Promise<void> {
  if ((await countPresentBooks(sql)) <= minIndexed) return
  const window = { offset: 0, limit: 1 }
  const list = { filter: null, sort: 'title', direction: 'asc', ...window } as const
  await bookIndexOf(sql).prepare(sql, serverViewer, list)
}

/** The books that the viewer has progress of, by its time. */
export const booksWithProgress = {
  sort: 'read',
  filter: {
    of: 'book',
    condition: { field: 'lastReadAt', test: { kind: 'null' }, negated: true },
  },
} as const satisfies Partial<BookRequest>

/** By the index of bitmaps if it is in memory, else by `readPage`. */
export async function pageWithIndex(
  sql: Sql,
  viewer: Viewer,
  request: BookRequest,
  readPage: () => Promise<IdPage>,
): Promise<IdPage> {
  const index = bookIndexOf(sql)
  const isFirst = index.isUnused()
  return await orRead(await index.page(sql, viewer, request), {
    ...{ read: readPage, isFirst },
    isLarge: async () => (await countPresentBooks(sql)) > minIndexed,
    refresh: () => index.refresh(sql, viewer, request),
  })
}

type PlannedRequest = BookListRequest &
  Omit<BookRequest, keyof BookListFilter> & { sort: Exclude<BookSort, 'relevance'> }

async function pageWithoutIndex(
  sql: Sql,
  viewer: Viewer,
  request: PlannedRequest,
): Promise<IdPage> {
  const { sort, direction, offset, limit, filter, libraryId, includeDeleted } = request
  if (sort === 'read') return await listBooksByReading(sql, viewer, request)
  if (sort === 'series') return await listBooksBySeries(sql, viewer, request)
  const window = { sort, direction, offset, limit }
  if (filter || request.seriesId)
    return await pagePlannedBooks(sql, await planBooks(sql, viewer, request), window)
  return await pageWithMarks(sql, viewer, { ...window, libraryId, includeDeleted })
}

// Skipping so many rows of an index costs as much as a walk from a rank mark.
const maxSkipped = 5_000

const isEverything = (viewer: Viewer, { libraryId, includeDeleted }: MarkedScope) =>
  isUnrestricted(viewer) && libraryId === undefined && !includeDeleted
/** Of all books: read along the index of the order, with a total from counters. */
const isAtStart = (viewer: Viewer, list: MarkedScope & { offset: number }) =>
  isEverything(viewer, list) && list.offset <= maxSkipped

/** All books that are visible, in all libraries or one. */
async function pageWithMarks(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage> {
  if (isAtStart(viewer, request)) return await pageAllBooks(sql, request)
  const marks = rankMarksOf(sql)
  const marked = await marks.page(sql, viewer, request)
  if (marked) return marked
  const page = await pageWithoutMarks(sql, viewer, request)
  if (page.total > minIndexed && (await countPresentBooks(sql)) > minIndexed)
    marks.refresh(sql, request)
  return page
}

async function pageWithoutMarks(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage> {
  const { sort, libraryId, includeDeleted } = request
  if (isEverything(viewer, request)) return await pageAllBooks(sql, request)
  if (sort === 'created' && !isLimited(viewer) && !includeDeleted)
    return await newestBooks(sql, viewer, { ...request, by: sort })
  const plan = await planBooks(sql, viewer, { filter: null, libraryId, includeDeleted })
  return await pagePlannedBooks(sql, plan, request)
}
