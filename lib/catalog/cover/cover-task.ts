// Thumbnails made anew on request: a job for the pipeline, under a scan that does not look at the disk.
import type { Sql } from 'postgres'
import { NotFound } from '../../errors.ts'
import { newId } from '../../id.ts'
import type { Queue } from '../../jobs.ts'
import { seesBook } from '../viewer.ts'
import { type Asked, requireOwner } from './cover.ts'

type Wanted = Asked & {
  queue: Queue
  /** Also when there is a thumbnail already. */
  force: boolean
}

type Subject = { id: string; libraryId: string; hasCover: boolean }

/** Of a series, the book whose cover is shown. Answers the id of the work. Throws NotFound. */
export async function remakeThumbnail(sql: Sql, wanted: Wanted): Promise<string> {
  const { viewer, owner, queue, force } = wanted
  await requireOwner(sql, wanted)
  const which = owner.kind === 'book' ? sql`b.id = ${owner.id}` : sql`b.series_id = ${owner.id}`
  return await sql.begin(async tx => {
    const [book] = await tx<Subject[]>`
      select b.id, b.library_id as "libraryId", b.cover is not null as "hasCover"
      from book b join series s on s.id = b.series_id
      where ${which} and ${seesBook(tx, viewer)}
      order by (b.id = s.cover_book_id) is true desc, b.missing_at is not null,
        b.error_code is not null, b.cover is null, b.number_sort nulls last, b.name_key, b.id
      limit 1`
    if (!book) throw new NotFound('The series has no books')
    const ids = book.hasCover && !force ? [] : [book.id]
    const scanId = newId()
    await tx`
      insert into scan (id, library_id, mode, state, options, to_cover, finished_at)
      values (${scanId}, ${book.libraryId}, 'normal', 'completed',
        ${tx.json({ analysis: true })}, ${ids.length}, now())`
    const { libraryId } = book
    if (ids.length > 0) await queue.send(tx, 'cover', [{ scanId, libraryId, ids }])
    return scanId
  })
}
