// Tells how scans get on: a message for the stream of scans and one for that of tasks, made of the
// scan's row in the transaction that moved its figures.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { type Progress, tellProgress } from '../../event/publish.ts'
import { countedScans, type ScanFigures, scanFigures, shownStatus } from './scan-figures.ts'

type Db = Sql | TransactionSql

type Telling = {
  /** Now, and not only when nothing was told for a while. */
  force?: boolean
  /** Of covers and hashes, which are no part of the scan's task. */
  isAfter?: boolean
}

const pauseMs = 500
const mostRemembered = 1_000
const toldAt = new Map<string, number>()

/** At most twice a second for each scan and process, unless forced. Call it after what changes the scan's row. */
export async function tellScan(sql: Db, scanId: string, telling: Telling = {}): Promise<void> {
  const since = toldAt.get(scanId) ?? Number.NEGATIVE_INFINITY
  if (!telling.force && performance.now() - since < pauseMs) return
  await write(sql, [scanId], telling)
}

/** Several scans at once, now. */
export async function tellScans(sql: Db, scanIds: readonly string[]): Promise<void> {
  if (scanIds.length > 0) await write(sql, scanIds, { force: true })
}

async function write(sql: Db, scanIds: readonly string[], { force, isAfter }: Telling) {
  for (const id of scanIds) remember(id)
  const rows = await load(sql, sql`s.id = any(${scanIds as string[]}::uuid[])`)
  await tellProgress(
    sql,
    rows.flatMap(row => [
      ...(row.isAnalysis ? [] : [scanMessage(row)]),
      // How a task ended is told once, and nothing of it afterwards.
      ...(row.completedAt === null || (force && !isAfter) ? [taskMessage(row)] : []),
    ]),
  )
}

/** What would be told now of the scans that wait or run, those of tasks beside: for whoever begins to listen. */
export async function messagesNow(sql: Db): Promise<Progress[]> {
  const rows = await load(sql, sql`s.state in ('queued', 'running')`)
  return rows.flatMap(row => [...(row.isAnalysis ? [] : [scanMessage(row)]), taskMessage(row)])
}

function load(sql: Db, where: Fragment) {
  return sql<(ScanFigures & { isAnalysis: boolean })[]>`
    select ${scanFigures(sql)}, s.options @> '{"analysis": true}' as "isAnalysis"
    from ${countedScans(sql)} s
    where ${where}
    order by s.created_at, s.id`
}

function remember(scanId: string) {
  toldAt.delete(scanId)
  toldAt.set(scanId, performance.now())
  for (const oldest of toldAt.keys()) {
    if (toldAt.size <= mostRemembered) break
    toldAt.delete(oldest)
  }
}

function scanMessage(scan: ScanFigures): Progress {
  const data = {
    scan_id: scan.id,
    library_id: scan.libraryId,
    status: shownStatus(scan.state),
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
    message: scan.message,
    started_at: scan.startedAt,
    completed_at: scan.completedAt,
  }
  return { stream: 'scan', type: 'scan_progress', data, libraryId: scan.libraryId }
}

// The task of a scan has the id of the scan.
function taskMessage(scan: ScanFigures & { isAnalysis: boolean }): Progress {
  const status = shownStatus(scan.state)
  const data = {
    task_id: scan.id,
    task_type: scan.isAnalysis ? 'analyze_books' : 'scan_library',
    status,
    progress: { current: scan.filesProcessed, total: scan.filesTotal, message: scan.stage },
    ...(status === 'failed' ? { error: scan.message ?? 'The scan failed' } : {}),
    started_at: scan.startedAt,
    ...(scan.completedAt ? { completed_at: scan.completedAt } : {}),
    library_id: scan.libraryId,
  }
  return { stream: 'task', type: 'task_progress', data, libraryId: scan.libraryId }
}
