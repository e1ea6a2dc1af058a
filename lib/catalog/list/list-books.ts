// Lists of books: one page in a sort order, with the exact total, for a million books and more. Chooses
// the cheapest way to make the page; each way plans the filter and then reads the page.
import type { Sql } from 'postgres'
import { isLimited, isUnrestricted, type Viewer } from '../../auth/viewer.ts'
import { parseSearchQuery } from '../../name/search-text.ts'
import { listBooksByReading } from './books-by-reading.ts'
import { listBooksBySeries } from './books-by-series.ts'
import { type MarkedRequest, rankMarksOf } from './marks/page-by-marks.ts'
import { newestBooks } from './newest-books.ts'
import type { IdPage } from './page.ts'
import { pageAllBooks, pagePlannedBooks } from './page-books.ts'
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
  if (search) return await searchBooks(sql, viewer, { ...request, text, search, ...window })
  // Text without letters and digits matches nothing; blank text is no search.
  if (text.trim()) return { ids: [], total: 0 }
  const sort = request.sort === undefined || request.sort === 'relevance' ? 'title' : request.sort
  if (sort === 'read') return await listBooksByReading(sql, viewer, { ...request, direction })
  if (sort === 'series') return await listBooksBySeries(sql, viewer, { ...request, direction })
  const order = { sort, direction }
  const { libraryId, includeDeleted } = request
  if (!request.filter && !request.seriesId)
    return await listWhole(sql, viewer, { ...order, ...window, libraryId, includeDeleted })
  const plan = await planBooks(sql, viewer, request)
  return await pagePlannedBooks(sql, plan, { ...order, ...window })
}

// Skipping so many rows of an index costs as much as a walk from a rank mark.
const maxSkipped = 5_000
/** Lists of fewer books are read quickly without rank marks. */
const minMarked = 20_000

/** All books that are visible, in all libraries or one. */
async function listWhole(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage> {
  const isEverything =
    isUnrestricted(viewer) && request.libraryId === undefined && !request.includeDeleted
  if (isEverything && request.offset <= maxSkipped) return await pageAllBooks(sql, request)
  const marks = rankMarksOf(sql)
  const marked = await marks.page(sql, viewer, request)
  if (marked) return marked
  const page = await pageWithoutMarks(sql, viewer, { ...request, isEverything })
  if (page.total > minMarked) marks.refresh(sql, request)
  return page
}

async function pageWithoutMarks(
  sql: Sql,
  viewer: Viewer,
  { isEverything, ...request }: MarkedRequest & { isEverything: boolean },
): Promise<IdPage> {
  const { sort, libraryId, includeDeleted } = request
  if (isEverything) return await pageAllBooks(sql, request)
  if (sort === 'created' && !isLimited(viewer) && !includeDeleted)
    return await newestBooks(sql, viewer, { ...request, by: sort })
  const plan = await planBooks(sql, viewer, { filter: null, libraryId, includeDeleted })
  return await pagePlannedBooks(sql, plan, request)
}
