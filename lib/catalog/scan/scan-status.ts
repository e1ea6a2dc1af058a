// How a scan is shown: its words, its figures, what went wrong with which file.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { seesBook, seesLibrary, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { joinPath, pathText } from '../../path.ts'
import {
  count,
  list,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../schema.ts'
import { seen } from '../library/library-record.ts'
import {
  countedScans,
  type ScanFigures,
  scanFigures,
  scanStages,
  scanStatuses,
  shownStatus,
} from './scan-figures.ts'
import { isScan } from './scan-request.ts'

export const ScanStatus = record(
  {
    id: uuid(),
    libraryId: uuid(),
    status: oneOf(scanStatuses),
    mode: oneOf(['normal', 'deep']),
    stage: oneOf(scanStages, {
      description: 'Covers and hashes go on after the scan is completed.',
    }),
    filesTotal: count({ description: 'Book files met so far.' }),
    filesProcessed: count({ description: 'Those of them that are known, read or given up.' }),
    filesPerSecond: Type.Number({ description: 'Files dealt with since the scan began.' }),
    seriesCreated: count({ description: 'Series that this scan made.' }),
    seriesFound: count({ description: 'Series of the library now.' }),
    booksFound: count({ description: 'Books of the library now.' }),
    booksAdded: count(),
    booksChanged: count(),
    booksMoved: count(),
    booksMissing: count(),
    booksRestored: count(),
    bytesRead: count(),
    failures: count({ description: 'Files that could not be read.' }),
    errors: list(Type.String(), {
      description: 'Why the scan failed, and up to 100 files that could not be read.',
    }),
    message: nullable(Type.String()),
    startedAt: timestamp({ description: 'Of one that waits: when it was asked for.' }),
    completedAt: nullable(timestamp()),
  },
  { component: 'ScanStatus' },
)
export type ScanStatus = Static<typeof ScanStatus>

type Db = Sql | TransactionSql
type Row = ScanFigures & Pick<ScanStatus, 'seriesFound' | 'booksFound'>

const mostErrors = 100

/** The latest scan of a library. Throws NotFound when it was never scanned, or is hidden. */
export async function lastScan(sql: Db, viewer: Viewer, libraryId: string): Promise<ScanStatus> {
  const [row] = await select(
    sql,
    viewer,
    sql`s.library_id = ${libraryId} and ${sees(sql, viewer)}
      order by s.created_at desc, s.id desc
      limit 1`,
  )
  if (!row) throw new NotFound('No scan of this library is known')
  return await toStatus(sql, viewer, row)
}

/** Scans that wait or run, first come first. */
export async function activeScans(sql: Db, viewer: Viewer): Promise<ScanStatus[]> {
  const rows = await select(
    sql,
    viewer,
    sql`s.state in ('queued', 'running') and ${sees(sql, viewer)} order by s.created_at, s.id`,
  )
  return await Promise.all(rows.map(row => toStatus(sql, viewer, row)))
}

const sees = (sql: Db, viewer: Viewer) =>
  sql`l.deleting_at is null and ${isScan(sql)} and ${seesLibrary(sql, viewer)}`

function select(sql: Db, viewer: Viewer, where: Fragment) {
  return sql<Row[]>`
    select ${scanFigures(sql)},
      (select series from ${seen(sql, viewer)} v) as "seriesFound",
      (select books from ${seen(sql, viewer)} v) as "booksFound"
    from ${countedScans(sql)} s
    join library l on l.id = s.library_id
    where ${where}`
}

async function toStatus(sql: Db, viewer: Viewer, { state, ...row }: Row): Promise<ScanStatus> {
  const status = shownStatus(state)
  const errors = row.failures > 0 ? await unreadable(sql, viewer, row) : []
  if (status === 'failed' && row.message) errors.unshift(row.message)
  return { ...row, status, errors }
}

/** The files that this scan could not read, as far as the viewer sees their books. */
async function unreadable(
  sql: Db,
  viewer: Viewer,
  { id, libraryId }: Pick<Row, 'id' | 'libraryId'>,
) {
  const rows = await sql<{ folder: Uint8Array; name: Uint8Array; code: string; message: string }[]>`
    select d.path as folder, b.name, b.error_code as code, coalesce(b.error_message, '') as message
    from book b
    join series s on s.id = b.series_id
    join directory d on d.id = b.directory_id
    where b.library_id = ${libraryId} and b.scan_id = ${id} and b.error_code is not null
      and b.missing_at is null and ${seesBook(sql, viewer)}
    order by b.error_code, b.id
    limit ${mostErrors}`
  return rows.map(
    row => `${pathText(joinPath(row.folder, row.name))}: ${row.message} (${row.code})`,
  )
}
