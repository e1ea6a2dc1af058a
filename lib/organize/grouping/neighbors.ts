// Neighbors of a book in a read list.
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import type { WithServices } from '../../store/services.ts'
import { readLists, tablesOf } from './grouping.ts'
import { findGrouping } from './list.ts'

/**
 * Ids of the books before and after a book that the viewer sees, in manual order or by release date. Throws
 * NotFound for a hidden read list, and for a book that is not in it.
 */
export async function neighborsInReadList(
  db: WithServices,
  viewer: Viewer,
  { readListId, bookId }: { readListId: string; bookId: string },
): Promise<{ prev: string | null; next: string | null }> {
  const { sql } = db
  const request = { id: readListId, withEmpty: false }
  const { ordered } = await findGrouping(db, viewer, readLists, request)
  const { m } = tablesOf(sql, readLists)
  const [row] = await sql<{ prev: string | null; next: string | null }[]>`
    select prev, next
    from (
      select b.id, lag(b.id) over places as prev, lead(b.id) over places as next
      from ${m} m join book b on b.id = m.book_id
      where m.read_list_id = ${readListId} and ${readLists.isShown(sql, viewer)}
      window places as (order by ${ordered ? sql`` : sql`b.released nulls last,`} m.position, b.id)
    ) members
    where id = ${bookId}`
  if (!row) throw new NotFound('Book not found')
  return row
}
