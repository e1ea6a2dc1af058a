// Thumbnails made anew on request: a job of its own, before all that nobody asked for.
import type { Sql } from 'postgres'
import { seesBook } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import type { Queue } from '../../queue/queue.ts'
import { type Asked, requireOwner } from './cover.ts'

type Wanted = Asked & {
  queue: Queue
  /** Also when there is a thumbnail already. */
  force: boolean
}

// Below what somebody looks at now; see cover-wait.ts.
const priority = 50

/** Of a series, the book whose cover is shown. Answers the id of the task. Throws NotFound. */
export async function remakeThumbnail(sql: Sql, wanted: Wanted): Promise<string> {
  const { viewer, owner, queue, force } = wanted
  await requireOwner(sql, wanted)
  const which = owner.kind === 'book' ? sql`b.id = ${owner.id}` : sql`b.series_id = ${owner.id}`
  const [book] = await sql<{ bookId: string; libraryId: string }[]>`
    select b.id as "bookId", b.library_id as "libraryId"
    from book b join series s on s.id = b.series_id
    where ${which} and ${seesBook(sql, viewer)}
    order by (b.id = s.cover_book_id) is true desc, b.missing_at is not null,
      b.error_code is not null, b.cover is null, b.number_sort nulls last, b.name_key, b.id
    limit 1`
  if (!book) throw new NotFound('The series has no books')
  const job = force ? { ...book, again: true as const } : { ...book }
  const sending = { key: book.bookId, priority }
  const [taskId] = await sql.begin(tx => queue.send(tx, 'show', [job], sending))
  return taskId!
}
