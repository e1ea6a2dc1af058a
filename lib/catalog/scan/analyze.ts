// Reanalysis of books on request. A library is scanned in deep mode; for a series or a single book, the
// files are queued as pending files of a scan that does not walk the disk.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'
import type { AnalysisSubject } from '../../store/queue/jobs.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { requireLibrary } from '../library/library.ts'
import { enqueueScan, startScan } from './scan-request.ts'

export type AnalysisRequest = {
  sql: Sql
  queue: Queue
  viewer: Viewer
  /** Only books whose files could not be read or have not been read yet. */
  unanalyzedOnly: boolean
}

/** Reads all books of a library again. Returns the id of the scan. Throws NotFound; Invalid when there is nothing to do; Conflict while a scan is active. */
export async function analyzeLibrary(request: AnalysisRequest, id: string): Promise<string> {
  const { sql, queue, viewer, unanalyzedOnly } = request
  await requireLibrary(sql, viewer, id)
  const [book] = await sql`
    select from book b join series s on s.id = b.series_id
    where b.library_id = ${id} and b.missing_at is null and ${visibleBook(sql, viewer)}
    limit 1`
  if (!book) throw new Invalid('The library has no books', { reason: 'nothing_to_analyze' })
  if (unanalyzedOnly) return await enqueue(request, { libraryId: id })
  return await startScan(sql, queue, { libraryId: id, mode: 'deep' })
}

/** Reads the books of a series again. Returns the id of the scan. Throws NotFound, Invalid. */
export async function analyzeSeries(request: AnalysisRequest, id: string): Promise<string> {
  const { sql, viewer } = request
  const [series] = await sql<{ libraryId: string; hasBooks: boolean }[]>`
    select library_id as "libraryId", exists (
      select from book b
      where b.series_id = s.id and b.missing_at is null and ${visibleBook(sql, viewer)}) as "hasBooks"
    from series s
    where id = ${id} and ${visibleSeries(sql, viewer)}`
  if (!series) throw new NotFound('Series not found')
  if (!series.hasBooks)
    throw new Invalid('The series has no books', { reason: 'nothing_to_analyze' })
  return await enqueue(request, { libraryId: series.libraryId, seriesId: id })
}

/** Reads one book again. Returns the id of the scan. Throws NotFound, Invalid. */
export async function analyzeBook(request: AnalysisRequest, id: string): Promise<string> {
  const { sql, viewer } = request
  const [book] = await sql<{ libraryId: string; isMissing: boolean }[]>`
    select b.library_id as "libraryId", b.missing_at is not null as "isMissing"
    from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${visibleBook(sql, viewer)}`
  if (!book) throw new NotFound('Book not found')
  if (book.isMissing)
    throw new Invalid('The file of this book is missing', { reason: 'file_missing' })
  return await enqueue(request, { libraryId: book.libraryId, bookId: id })
}

/**
 * Queues the pending files in one statement. A running scan of the library processes them; otherwise the
 * analysis does.
 */
function enqueue(
  { sql, queue, viewer, unanalyzedOnly }: AnalysisRequest,
  { libraryId, ...subject }: { libraryId: string } & AnalysisSubject,
): Promise<string> {
  const { seriesId, bookId } = subject
  const condition = bookId
    ? sql`b.id = ${bookId}`
    : seriesId
      ? sql`b.series_id = ${seriesId}`
      : sql`b.library_id = ${libraryId}`
  return sql.begin(async tx => {
    const scanId = await enqueueScan(tx, queue, {
      libraryId,
      mode: 'normal',
      options: { analysis: true, subject },
    })
    const isIncluded = unanalyzedOnly ? isUnanalyzed(sql) : sql`true`
    const count = await queueFiles(
      tx,
      tx`${condition} and b.missing_at is null and ${visibleBook(sql, viewer)} and ${isIncluded}`,
    )
    if (count === 0)
      throw new Invalid(
        unanalyzedOnly ? 'All books are analyzed' : 'There are no books to analyze',
        { reason: 'nothing_to_analyze' },
      )
    return scanId
  })
}

/** Queues the files of these books (`book b` of `series s`) as pending ones; returns their number. */
export async function queueFiles(tx: Transaction, condition: Fragment): Promise<number> {
  const { count } = await tx`
    insert into pending_file as f (library_id, directory_id, name, size, modified_ms, forced, attempts)
    select b.library_id, b.directory_id, b.name, b.size, b.modified_ms, true, 0
    from book b join series s on s.id = b.series_id
    where ${condition}
    order by b.directory_id, b.name
    on conflict (directory_id, name) do update set forced = true, attempts = 0`
  return count
}

/** A condition on `book b`: it could not be read or has not been read yet. */
export function isUnanalyzed(sql: Queryable): Fragment {
  return sql`(b.error_code is not null or b.fingerprint is null)`
}
