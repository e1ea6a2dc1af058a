// Scan status of the API: progress of a scan and the files that could not be read.
import type { Fragment } from 'postgres'
import { isLimited, type Viewer, visibleBook, visibleLibrary } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { joinPath, pathText } from '../../base/path.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { requireLibrary } from '../library/library.ts'
import { visibleCounts } from '../library/library-record.ts'
import {
  publicScanState,
  type ScanProgress,
  type ScanStatus,
  scanProgressColumns,
  scansWithTotals,
  withoutCounts,
} from './scan-progress.ts'
import { isScan } from './scan-request.ts'

type Row = ScanProgress & Pick<ScanStatus, 'seriesFound' | 'booksFound' | 'host' | 'pid'>

const maxErrors = 100

/** Latest scan of a library. Throws NotFound when it was never scanned or is hidden. */
export async function lastScan(sql: Queryable, viewer: Viewer, libraryId: string) {
  const [row] = await select(
    sql,
    viewer,
    sql`s.library_id = ${libraryId} and ${isVisible(sql, viewer)}
      order by s.number desc
      limit 1`,
  )
  if (!row) {
    await requireLibrary(sql, viewer, libraryId)
    throw new NotFound('This library has not been scanned yet')
  }
  return await toStatus(sql, viewer, row)
}

/** Queued and running scans, oldest first. */
export async function activeScans(sql: Queryable, viewer: Viewer): Promise<ScanStatus[]> {
  const rows = await select(
    sql,
    viewer,
    sql`s.state in ('queued', 'running') and ${isVisible(sql, viewer)} order by s.number`,
  )
  return await Promise.all(rows.map(row => toStatus(sql, viewer, row)))
}

/** The latest scan of each library, or of one. Libraries that were never scanned are left out. */
export async function latestScans(sql: Queryable, viewer: Viewer, libraryId: string | null) {
  const rows = await select(
    sql,
    viewer,
    sql`${libraryId === null ? sql`true` : sql`l.id = ${libraryId}`} and ${isVisible(sql, viewer)}
      and s.number = (
        select max(number) from scan where library_id = l.id and ${isScan(sql)}
      )
      order by s.number`,
  )
  return await Promise.all(rows.map(row => toStatus(sql, viewer, row)))
}

const isVisible = (sql: Queryable, viewer: Viewer) =>
  sql`l.deleting_at is null and ${isScan(sql)} and ${visibleLibrary(sql, viewer)}`

function select(sql: Queryable, viewer: Viewer, where: Fragment) {
  return sql<Row[]>`
    select ${scanProgressColumns(sql)}, s.host, s.pid,
      (select series from ${visibleCounts(sql, viewer)} v) as "seriesFound",
      (select books from ${visibleCounts(sql, viewer)} v) as "booksFound"
    from ${scansWithTotals(sql)} s
    join library l on l.id = s.library_id
    where ${where}`
}

async function toStatus(sql: Queryable, viewer: Viewer, row: Row): Promise<ScanStatus> {
  const status = publicScanState(row.state)
  const { failures, errors } = await unreadable(sql, viewer, row)
  const { state: _, ...scan } = isLimited(viewer) ? visiblePart(row, failures) : row
  if (status === 'failed' && scan.message) errors.unshift(scan.message)
  return { ...scan, status, errors }
}

/** Counts the books that are visible now as files, because the scan's counters include hidden ones. */
function visiblePart(row: Row, failures: number): Row {
  const isOver = row.state === 'completed'
  return {
    ...withoutCounts(row),
    failures,
    filesTotal: row.booksFound,
    filesProcessed: isOver ? row.booksFound : 0,
  }
}

/** How many files of visible books this scan could not read, and the first of them. */
async function unreadable(
  sql: Queryable,
  viewer: Viewer,
  { id, libraryId, failures }: Pick<Row, 'id' | 'libraryId' | 'failures'>,
): Promise<{ failures: number; errors: string[] }> {
  if (failures === 0) return { failures, errors: [] }
  type File = { folder: Uint8Array; name: Uint8Array; code: string; message: string; total: number }
  const rows = await sql<File[]>`
    select d.path as folder, b.name, b.error_code as code, coalesce(b.error_message, '') as message,
      count(*) over () as total
    from book b
    join series s on s.id = b.series_id
    join directory d on d.id = b.directory_id
    where b.library_id = ${libraryId} and b.scan_id = ${id} and b.error_code is not null
      and b.missing_at is null and ${visibleBook(sql, viewer)}
    order by b.error_code, b.id
    limit ${maxErrors}`
  const errors = rows.map(
    row => `${pathText(joinPath(row.folder, row.name))}: ${row.message} (${row.code})`,
  )
  return { failures: rows[0]?.total ?? 0, errors }
}
