// Books of a read list in order, with read progress.
import { joinProgress } from '../../catalog/book/visible-books.ts'
import { readLists, tablesOf } from '../../organize/grouping/grouping.ts'
import { findGrouping } from '../../organize/grouping/list.ts'
import type { WithServices } from '../../store/services.ts'
import type { Reader } from './values.ts'

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
