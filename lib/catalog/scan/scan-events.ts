// Progress events of scans: one message for the scan stream and one for the task stream, built from the scan's
// row in the transaction that changed its counters.
import type { Fragment } from 'postgres'
import { type Progress, publishProgress } from '../../store/event/publish.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import {
  publicScanState,
  type ScanProgress,
  scanProgressColumns,
  scansWithTotals,
  withoutCounts,
} from './scan-progress.ts'

type PublishOptions = {
  /** Publishes even if the previous message is more recent than the minimum interval. */
  force?: boolean
  /** Progress of covers and hashes, which are not part of the scan's task. */
  isFollowUp?: boolean
}

const minIntervalMs = 500
const maxTimestamps = 1_000
const publishedAt = new Map<string, number>()

/** At most twice a second per scan and process, unless forced. Must follow the update of the scan's row. */
export async function publishScan(sql: Queryable, scanId: string, options: PublishOptions = {}) {
  const last = publishedAt.get(scanId) ?? Number.NEGATIVE_INFINITY
  if (!options.force && performance.now() - last < minIntervalMs) return
  await publishAll(sql, [scanId], options)
}

/** Publishes several scans at once, without the minimum interval. */
export async function publishScans(sql: Queryable, scanIds: readonly string[]): Promise<void> {
  if (scanIds.length > 0) await publishAll(sql, scanIds, { force: true })
}

async function publishAll(
  sql: Queryable,
  scanIds: readonly string[],
  { force, isFollowUp }: PublishOptions,
) {
  for (const id of scanIds) recordPublished(id)
  const rows = await load(sql, sql`s.id = any(${scanIds as string[]}::uuid[])`)
  await publishProgress(
    sql,
    rows.flatMap(row => [
      ...(row.isAnalysis ? [] : [scanMessage(row)]),
      // The end of a task is published once, and then nothing more about it.
      ...(row.completedAt === null || (force && !isFollowUp) ? [taskMessage(row)] : []),
    ]),
  )
}

/** Current messages of queued and running scans, for a new subscriber of the scan or task stream. */
export async function currentProgress(sql: Queryable): Promise<Progress[]> {
  const rows = await load(sql, sql`s.state in ('queued', 'running')`)
  return rows.flatMap(row => [...(row.isAnalysis ? [] : [scanMessage(row)]), taskMessage(row)])
}

/** `seriesId` or `bookId` is set for an analysis of one series or book. */
type PublishedScan = ScanProgress & {
  isAnalysis: boolean
  seriesId: string | null
  bookId: string | null
}

function load(sql: Queryable, where: Fragment) {
  return sql<PublishedScan[]>`
    select ${scanProgressColumns(sql)}, s.options @> '{"analysis": true}' as "isAnalysis",
      s.options->'subject'->>'seriesId' as "seriesId", s.options->'subject'->>'bookId' as "bookId"
    from ${scansWithTotals(sql)} s
    where ${where}
    order by s.number`
}

function recordPublished(scanId: string) {
  publishedAt.delete(scanId)
  publishedAt.set(scanId, performance.now())
  for (const oldest of publishedAt.keys()) {
    if (publishedAt.size <= maxTimestamps) break
    publishedAt.delete(oldest)
  }
}

function scanMessage(scan: ScanProgress): Progress {
  const { libraryId } = scan
  const limited = scanData(withoutCounts(scan))
  return { stream: 'scan', type: 'scan_progress', data: scanData(scan), limited, libraryId }
}

function scanData(scan: ScanProgress) {
  return {
    scan_id: scan.id,
    library_id: scan.libraryId,
    status: publicScanState(scan.state),
    mode: scan.mode,
    stage: scan.stage,
    files_total: scan.filesTotal,
    files_discovered: scan.filesTotal,
    files_processed: scan.filesProcessed,
    series_created: scan.seriesCreated,
    books_added: scan.booksAdded,
    books_changed: scan.booksChanged,
    books_moved: scan.booksMoved,
    books_missing: scan.booksMissing,
    books_restored: scan.booksRestored,
    errors: scan.failures,
    bytes_read: scan.bytesRead,
    files_per_second: scan.filesPerSecond,
    covers_total: scan.coversTotal,
    covers_made: scan.coversMade,
    hashes_total: scan.hashesTotal,
    hashes_made: scan.hashesMade,
    seconds_left: scan.secondsLeft,
    message: scan.message,
    started_at: scan.startedAt,
    completed_at: scan.completedAt,
  }
}

// A scan and its task have the same id.
function taskMessage(scan: PublishedScan): Progress {
  const { libraryId, seriesId, bookId } = scan
  return {
    stream: 'task',
    type: 'task_progress',
    data: taskData(scan),
    ...(bookId === null ? { limited: taskData(withoutCounts(scan)) } : {}),
    ...{ libraryId, seriesId, bookId },
  }
}

function taskData(scan: PublishedScan) {
  const status = publicScanState(scan.state)
  return {
    task_id: scan.id,
    task_type: scan.isAnalysis ? 'analyze_books' : 'scan_library',
    status,
    progress: { current: scan.filesProcessed, total: scan.filesTotal, message: scan.stage },
    ...(status === 'failed' ? { error: scan.message ?? 'The scan failed' } : {}),
    started_at: scan.startedAt,
    ...(scan.completedAt ? { completed_at: scan.completedAt } : {}),
    library_id: scan.libraryId,
    ...(scan.seriesId ? { series_id: scan.seriesId } : {}),
    ...(scan.bookId ? { book_id: scan.bookId } : {}),
  }
}
