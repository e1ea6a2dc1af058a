// Lists of books: one page in a sort order, with the exact total, for a million books and more. Chooses
// the cheapest way to make the page; each way plans the filter and then reads the page.
import type { Sql } from 'postgres'
import { isLimited, isUnrestricted, type Viewer } from '../../auth/viewer.ts'
import { parseSearchQuery } from '../../name/search-text.ts'
import { type BookKey, listBooksByKeys } from './books-by-keys.ts'
import { listBooksByReading } from './books-by-reading.ts'
import { listBooksBySeries } from './books-by-series.ts'
import { hasVersion } from './marks/list-version.ts'
import type { MarkedRequest } from './marks/page-by-marks.ts'
import { rankMarksOf } from './marks/rank-marks.ts'
import { newestBooks } from './newest-books.ts'
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
export async function listBooks(
  sql: Sql,
  viewer: Viewer,
  request: BookListRequest,
): Promise<IdPage> {
  const { direction = 'asc', page, pageSize } = request
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const text = request.text ?? ''
  const search = parseSearchQuery(text)
  if (request.keys && (search || !text.trim()))
    return await listBooksByKeys(sql, viewer, { ...request, text, keys: request.keys, ...window })
  if (search) return await searchBooks(sql, viewer, { ...request, text, search, ...window })
  // Text without letters and digits matches nothing; blank text is no search.
  if (text.trim()) return { ids: [], total: 0 }
  const sort = request.sort === undefined || request.sort === 'relevance' ? 'title' : request.sort
  if (sort === 'read') return await listBooksByReading(sql, viewer, { ...request, direction })
  if (sort === 'series') return await listBooksBySeries(sql, viewer, { ...request, direction })
  const order = { sort, direction }
  const { filter, libraryId, seriesId, includeDeleted } = request
  if (seriesId || (filter && !hasVersion(filter.condition))) {
    const plan = await planBooks(sql, viewer, request)
    return await pagePlannedBooks(sql, plan, { ...order, ...window })
  }
  return await pageWithMarks(sql, viewer, {
    ...order,
    ...window,
    filter,
    libraryId,
    includeDeleted,
  })
}

// Skipping so many rows of an index costs as much as a walk from a rank mark.
const maxSkipped = 5_000
/** Lists of fewer books are read quickly without rank marks, and any list of so few. */
const minMarked = 20_000
/** Also those that took less time. */
const minMarkedMs = 30

/** All books that are visible and match, in all libraries or one. */
async function pageWithMarks(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage> {
  const { filter, libraryId, includeDeleted, offset } = request
  const isEverything =
    !filter && isUnrestricted(viewer) && libraryId === undefined && !includeDeleted
  if (isEverything && offset <= maxSkipped) return await pageAllBooks(sql, request)
  const marks = rankMarksOf(sql)
  const marked = await marks.page(sql, viewer, request)
  if (marked) return marked
  const started = performance.now()
  const page = await pageWithoutMarks(sql, viewer, { ...request, isEverything })
  const isLong = filter ? performance.now() - started > minMarkedMs : page.total > minMarked
  if (isLong && (await countPresentBooks(sql)) > minMarked) marks.refresh(sql, viewer, request)
  return page
}

async function pageWithoutMarks(
  sql: Sql,
  viewer: Viewer,
  { isEverything, ...request }: MarkedRequest & { isEverything: boolean },
): Promise<IdPage> {
  const { sort, filter = null, libraryId, includeDeleted } = request
  if (isEverything) return await pageAllBooks(sql, request)
  if (!filter && sort === 'created' && !isLimited(viewer) && !includeDeleted)
    return await newestBooks(sql, viewer, { ...request, by: sort })
  const plan = await planBooks(sql, viewer, { filter, libraryId, includeDeleted })
  return await pagePlannedBooks(sql, plan, request)
}
