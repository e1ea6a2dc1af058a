// Reading books anew on request. A library is scanned in deep mode; of a series or a single book the
// files are put where the pipeline takes its work from, under a scan that does not look at the disk.
import type { Fragment, Sql } from 'postgres'
import { seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { Invalid, NotFound } from '../../errors.ts'
import type { Queue } from '../../queue/queue.ts'
import { requireLibrary } from '../library/library.ts'
import { enqueueScan, startScan } from './scan-request.ts'

export type Analysis = {
  sql: Sql
  queue: Queue
  viewer: Viewer
  /** Only books whose files could not be read, or not yet. */
  unanalyzedOnly: boolean
}

/** All are to be read again; answers the id of the scan. Throws NotFound, Invalid when there is nothing to do, Conflict while it is scanned. */
export async function analyzeLibrary(analysis: Analysis, id: string): Promise<string> {
  const { sql, queue, viewer, unanalyzedOnly } = analysis
  await requireLibrary(sql, viewer, id)
  const [book] = await sql`
    select 1 from book where library_id = ${id} and missing_at is null limit 1`
  if (!book) throw new Invalid('The library has no books')
  if (unanalyzedOnly) return await enqueue(analysis, id, sql`b.library_id = ${id}`)
  return await startScan(sql, queue, { libraryId: id, mode: 'deep' })
}

/** The same for the books of a series. */
export async function analyzeSeries(analysis: Analysis, id: string): Promise<string> {
  const { sql, viewer } = analysis
  const [series] = await sql<{ libraryId: string; books: number }[]>`
    select library_id as "libraryId", book_count as books from series s
    where id = ${id} and ${seesSeries(sql, viewer)}`
  if (!series) throw new NotFound('Series not found')
  if (series.books === 0) throw new Invalid('The series has no books')
  return await enqueue(analysis, series.libraryId, sql`b.series_id = ${id}`)
}

/** The same for one book. */
export async function analyzeBook(analysis: Analysis, id: string): Promise<string> {
  const { sql, viewer } = analysis
  const [book] = await sql<{ libraryId: string; missing: boolean }[]>`
    select b.library_id as "libraryId", b.missing_at is not null as missing
    from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${seesBook(sql, viewer)}`
  if (!book) throw new NotFound('Book not found')
  if (book.missing) throw new Invalid('The file of this book is missing')
  return await enqueue(analysis, book.libraryId, sql`b.id = ${id}`)
}

/**
 * One statement puts the files there, whatever their number; a scan that runs takes them along, else
 * the analysis does.
 */
function enqueue(
  { sql, queue, viewer, unanalyzedOnly }: Analysis,
  libraryId: string,
  which: Fragment,
): Promise<string> {
  return sql.begin(async tx => {
    const scanId = await enqueueScan(tx, queue, {
      libraryId,
      mode: 'normal',
      options: { analysis: true },
    })
    const { count } = await tx`
      insert into found as f (library_id, scan_id, directory_id, name, size, modified_ms, forced)
      select b.library_id, ${scanId}, b.directory_id, b.name, b.size, b.modified_ms, true
      from book b
      join series s on s.id = b.series_id
      where ${which} and b.missing_at is null and ${seesBook(sql, viewer)}
        and ${unanalyzedOnly ? sql`(b.error_code is not null or b.fingerprint is null)` : sql`true`}
      order by b.directory_id, b.name
      on conflict (directory_id, name) do update set forced = true`
    if (count === 0)
      throw new Invalid(
        unanalyzedOnly ? 'All books are analyzed' : 'There are no books to be analyzed',
      )
    return scanId
  })
}
