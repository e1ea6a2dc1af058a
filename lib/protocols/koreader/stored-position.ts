// Progress of a book with the position that KOReader wrote, as long as it is the newest.
import type { Viewer } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { KoreaderPosition } from './position.ts'

export type StoredPosition = {
  page: number
  percentage: number | null
  isCompleted: boolean
  updatedAt: Date
  koreader: KoreaderPosition | null
}

/** Progress in a visible book; null before it was started. */
export async function findPosition(
  sql: Queryable,
  { accountId }: Viewer,
  bookId: string,
): Promise<StoredPosition | null> {
  const [row] = await sql<StoredPosition[]>`
    select p.current_page as page, p.percentage, p.is_completed as "isCompleted",
      p.updated_at as "updatedAt", stored.koreader
    from progress p
    left join book_locator stored on stored.account_id = p.account_id
      and stored.book_id = p.book_id and stored.position_id = p.position_id
    where p.account_id = ${accountId} and p.book_id = ${bookId}`
  return row ?? null
}
