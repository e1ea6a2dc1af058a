// Read progress in the form used by trackers: how many books are read, and how far without a gap.
import type { Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { component, type Static, Type } from '../../base/schema.ts'
import { joinProgress } from '../../catalog/book/visible-books.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import { readLists, tablesOf } from '../../organize/grouping/grouping.ts'
import { findGrouping } from '../../organize/grouping/list.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { WithServices } from '../../store/services.ts'
import { numberedBooks } from './book-dto.ts'
import { bookCounters, type Reader } from './values.ts'

export const SeriesProgress = component('TachiyomiReadProgressV2Dto', {
  ...bookCounters,
  lastReadContinuousNumberSort: Type.Number(),
  maxNumberSort: Type.Number(),
})

export const ReadListProgress = component('TachiyomiReadProgressDto', {
  ...bookCounters,
  lastReadContinuousIndex: Type.Integer(),
})

/** Throws NotFound. */
export async function seriesProgress(
  sql: Sql,
  viewer: Viewer,
  id: string,
): Promise<Static<typeof SeriesProgress>> {
  await requireSeries(sql, viewer, id)
  const books = await sql<(ReadState & { numberSort: number })[]>`
    select b.id, n.number_sort as "numberSort", coalesce(p.is_completed, false) as "isRead",
      coalesce(not p.is_completed and p.current_page > 0, false) as "isOpened"
    ${presentBooks(sql, viewer, id)}
    order by n.place`
  const read = runOfRead(books)
  return {
    ...countersOf(books),
    lastReadContinuousNumberSort: read === 0 ? 0 : books[read - 1]!.numberSort,
    maxNumberSort: books.at(-1)?.numberSort ?? 0,
  }
}

/** Numbers arrive as 32-bit floats. */
const tolerance = 1e-4

/** Ids of the books with this number or a lower one. Throws NotFound. */
export async function booksUpTo(sql: Sql, viewer: Viewer, id: string, number: number) {
  await requireSeries(sql, viewer, id)
  const rows = await sql<{ id: string }[]>`
    select b.id ${presentBooks(sql, viewer, id)}
      and n.number_sort <= ${number + tolerance}`
  return rows.map(row => row.id)
}

const presentBooks = (sql: Queryable, viewer: Viewer, id: string) => sql`
  from ${numberedBooks(sql, viewer, sql`select ${id}::uuid`)} n
  join book b on b.id = n.id
  join series s on s.id = b.series_id
  ${joinProgress(sql, viewer)}
  where ${presentBook(sql)} and ${visibleBook(sql, viewer)}`

export const readListProgress = (books: readonly ReadState[]): Static<typeof ReadListProgress> => ({
  ...countersOf(books),
  lastReadContinuousIndex: runOfRead(books),
})

function countersOf(books: readonly ReadState[]) {
  const booksReadCount = books.filter(({ isRead }) => isRead).length
  const booksInProgressCount = books.filter(({ isOpened }) => isOpened).length
  return {
    booksCount: books.length,
    booksReadCount,
    booksUnreadCount: books.length - booksReadCount - booksInProgressCount,
    booksInProgressCount,
  }
}

/** How many books are read without a gap from the beginning. */
function runOfRead(books: readonly ReadState[]): number {
  const end = books.findIndex(({ isRead }) => !isRead)
  return end < 0 ? books.length : end
}

export type ReadState = { id: string; isRead: boolean; isOpened: boolean }

/**
 * All books that the caller sees, in manual order or by release date. At most 20,000, the limit of a list.
 * Throws NotFound.
 */
export async function readListBooks(
  db: WithServices,
  { viewer, isAdmin }: Reader,
  id: string,
): Promise<{ name: string; books: ReadState[] }> {
  const { name, ordered } = await findGrouping(db, viewer, readLists, { id, withEmpty: isAdmin })
  const { sql } = db
  const { m } = tablesOf(sql, readLists)
  const books = await sql<ReadState[]>`
    select b.id, coalesce(p.is_completed, false) as "isRead",
      coalesce(not p.is_completed and p.current_page > 0, false) as "isOpened"
    from ${m} m
    join book b on b.id = m.book_id
    ${joinProgress(sql, viewer)}
    where m.read_list_id = ${id} and ${readLists.isShown(sql, viewer)}
    order by ${ordered ? sql`` : sql`b.released nulls last,`} m.position, b.id`
  return { name, books: [...books] }
}
