// Lists of books in order, a page at a time, with exact totals, at a million books.
import type { Sql } from 'postgres'
import { isLimited, isUnrestricted, type Viewer } from '../../auth/viewer.ts'
import { searchBooks } from '../search/search-books.ts'
import { searchQuery } from '../search/search-text.ts'
import { countAll, listPlanned, walk } from './book-pages.ts'
import { type BooksWanted, planBooks } from './book-plan.ts'
import { newInLibraries } from './list-books-new.ts'
import { booksByReading } from './list-books-read.ts'
import { booksBySeries } from './list-books-series.ts'
import type { BookSort, Direction } from './sort.ts'

export type BooksAsked = BooksWanted & {
  /** Words to look for; empty or null for none. */
  text?: string | null | undefined
  /** As many are listed of a search that finds more, in an order by relevance. */
  most?: number | undefined
  sort?: BookSort | undefined
  direction?: Direction | undefined
  /** From 1. */
  page: number
  pageSize: number
}

export type Listed = { ids: string[]; total: number }

/** Ids of one page of the books that the viewer may see, and how many there are on all pages. */
export async function listBooks(sql: Sql, viewer: Viewer, asked: BooksAsked): Promise<Listed> {
  const { sort, direction = 'asc', page, pageSize } = asked
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const text = asked.text ?? ''
  const query = searchQuery(text)
  if (query) return await searchBooks(sql, viewer, { ...asked, text, query, ...window })
  // Text without a letter or digit is found nowhere; blank text is no text.
  if (text.trim()) return { ids: [], total: 0 }
  const by = sort === undefined || sort === 'relevance' ? 'title' : sort
  if (by === 'read') return await booksByReading(sql, viewer, { ...asked, direction })
  if (by === 'series') return await booksBySeries(sql, viewer, { ...asked, direction })
  const isAll = !asked.filter && !asked.libraryId && !asked.seriesId && !asked.includeDeleted
  if (isAll && isUnrestricted(viewer)) {
    const total = await countAll(sql)
    return { total, ids: await walk(sql, null, { sort: by, direction, ...window, total }) }
  }
  const libraries = wholeLibraries(viewer, asked)
  if (libraries && by === 'created')
    return await newInLibraries(sql, libraries, { direction, ...window })
  const plan = await planBooks(sql, viewer, asked)
  return await listPlanned(sql, plan, { ...asked, ...window, sort: by, direction })
}

/** The libraries whose present books are all that is asked for; null when that cannot be said of any. */
function wholeLibraries(viewer: Viewer, { filter, libraryId, ...asked }: BooksAsked) {
  if (filter || asked.seriesId || asked.includeDeleted || isLimited(viewer)) return null
  const seen = viewer.libraries
  if (!libraryId) return seen
  return seen === null || seen.includes(libraryId) ? [libraryId] : []
}
