// Stored reading progress; lib/reading writes it.
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { joinProgress } from '../../catalog/book/visible-books.ts'
import { booksWithProgress, pageOfBooks } from '../../list/list-books.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { WithServices } from '../../store/services.ts'
import type { ProgressRow } from './progress-record.ts'

/** The viewer's progress in a book, or null. Throws NotFound for a hidden book. */
export async function findProgress(
  sql: Queryable,
  viewer: Viewer,
  bookId: string,
): Promise<ProgressRow | null> {
  const [row] = await sql<(ProgressRow | { accountId: null })[]>`
    select ${columns(sql)}
    from book b
    join series s on s.id = b.series_id
    ${joinProgress(sql, viewer)}
    where b.id = ${bookId} and ${visibleBook(sql, viewer)}`
  if (!row) throw new NotFound('Book not found')
  return row.accountId === null ? null : row
}

/** All progress of the viewer, including missing books, newest first. */
export async function listProgress(
  db: WithServices,
  viewer: Viewer,
  window: { offset: number; limit: number },
): Promise<{ rows: ProgressRow[]; total: number }> {
  const list = { ...booksWithProgress, ...window, includeDeleted: true }
  const { ids, total } = await pageOfBooks(db, viewer, list)
  if (ids.length === 0) return { rows: [], total }
  const { sql } = db
  const rows = await sql<ProgressRow[]>`
    select ${columns(sql)} from progress p
    where p.account_id = ${viewer.accountId} and p.book_id = any(${ids}::uuid[])
    order by p.updated_at desc, p.book_id desc`
  return { rows: [...rows], total }
}

function columns(sql: Queryable) {
  return sql`p.account_id as "accountId", p.book_id as "bookId", p.current_page as "currentPage",
    p.percentage, p.is_completed as "isCompleted", p.started_at as "startedAt",
    p.updated_at as "updatedAt", p.completed_at as "completedAt"`
}
