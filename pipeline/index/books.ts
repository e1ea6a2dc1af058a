// The index job: reads a batch of pending files in threads, matches them to books and stores the result.
import { lstat } from 'node:fs/promises'
import { containmentOf } from '../../lib/base/containment.ts'
import { joinPath, pathText } from '../../lib/base/path.ts'
import { sortByFileName } from '../../lib/media/name/natural.ts'
import { countBooksRead, countReading } from '../../lib/store/metrics/pipeline.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Jobs } from '../../lib/store/queue/jobs.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runBatch } from '../work/threads.ts'
import type { JobContext } from './job-context.ts'
import { matchFiles, type PendingFile } from './match.ts'
import type { FileToRead, ReadError, Reading, ReadOptions } from './reading.ts'
import { storeEach } from './store-each.ts'

export async function indexBooks(
  { sql, queue, threads, thumbnailOptions, space, access, isStopped, signal }: JobContext,
  job: Jobs['index'],
): Promise<void> {
  const scan = await loadScan(sql, job.scanId)
  // Pending files of a canceled scan are left to the next one.
  if (scan?.state !== 'running') return
  const rows = await pendingFiles(sql, job.ids)
  const rowsById = new Map(rows.map(row => [row.id, row]))
  const items = rows.map(row => fileToRead(row, scan.root))
  const itemsById = new Map(items.map(item => [item.id, item]))
  const options: ReadOptions = {
    ...scan.rules,
    limits: thumbnailOptions.limits,
    containment: containmentOf(access, scan),
    hashesAll: scan.hashPolicy === 'full',
  }
  // Loads the parsers of sidecars, which the main thread does not need otherwise.
  const describeFailed = async (item: FileToRead, error: ReadError) =>
    (await import('./extract.ts')).failedReading(item, options, error)
  const failed = (id: string, error: ReadError) => describeFailed(itemsById.get(id)!, error)
  let isCanceled = false
  await runBatch<FileToRead, ReadOptions, Reading>(
    threads,
    'read',
    { items, options },
    {
      root: options.containment.root,
      isStopped: () => isStopped() || isCanceled,
      signal,
      failed: describeFailed,
      async onResults(readings, files) {
        const goneIds = await findGone(scan.root, files, readings)
        await deletePending(sql, [...goneIds])
        const matches = await matchFiles(
          sql,
          readings
            .filter(reading => !goneIds.has(reading.id))
            .map(reading => ({ file: rowsById.get(reading.id)!, reading })),
          { libraryId: scan.libraryId, scanId: scan.scanId, access },
        )
        const bytesRead = readings.reduce((sum, reading) => sum + reading.bytesRead, 0)
        const opens = readings.reduce((sum, reading) => sum + reading.opens, 0)
        countBooksRead(readings)
        countReading('index', readings)
        await space.whenEnough(['database'], isStopped)
        await storeEach({ sql, queue, scan }, { matches, bytesRead, opens }, failed)
        isCanceled = !(await isRunning(sql, scan.scanId))
      },
    },
  )
}

async function isRunning(sql: Sql, scanId: string): Promise<boolean> {
  const [row] = await sql`select 1 from scan where id = ${scanId} and state = 'running'`
  return row !== undefined
}

/** Ids of files that no longer exist: deleted, moved or unmounted since they were discovered. */
async function findGone(root: Uint8Array, files: FileToRead[], readings: Reading[]) {
  const goneIds = new Set<string>()
  for (const [i, { id, path }] of files.entries()) {
    if (readings[i]!.error?.code !== 'io') continue
    const error = await mountHealth
      .run(mountKey(root), () => lstat(Buffer.from(path, 'latin1')))
      .then(
        () => null,
        err => err,
      )
    if (error?.code === 'ENOENT' || error?.code === 'ENOTDIR') goneIds.add(id)
  }
  return goneIds
}

/** Deletes pending files. Their folders are compared again, in case the files come back unchanged. */
async function deletePending(sql: Sql, ids: string[]) {
  if (ids.length === 0) return
  await sql`
    with locked as (
      select id from pending_file where id = any(${ids}::bigint[])
      order by directory_id, name
      for update
    ), gone as (
      delete from pending_file f using locked where f.id = locked.id returning f.directory_id
    ), folders as (
      select id from directory where id in (select directory_id from gone)
      order by id
      for no key update
    )
    update directory d set digest = null, pending_digest = null
    from folders
    where d.id = folders.id`
}

type PendingRow = PendingFile & {
  folder: Uint8Array
  sidecars: Record<string, number>
  isAlone: boolean
}

/** In natural order, in which new books get their ids: lists order books that were added together by id. */
async function pendingFiles(sql: Sql, ids: string[]): Promise<PendingRow[]> {
  const rows = await sql<PendingRow[]>`
    select f.id::text, f.directory_id as "directoryId", encode(f.name, 'hex') as name,
      f.size::float8 as size, f.modified_ms::float8 as "modifiedMs", f.forced,
      d.path as folder, d.sidecars,
      -- Needed only for folders with sidecars.
      case when d.sidecars = '{}' then false else
        not exists (
          select 1 from book o
          where o.directory_id = f.directory_id and o.missing_at is null and o.name <> f.name)
        and not exists (
          select 1 from pending_file o where o.directory_id = f.directory_id and o.name <> f.name)
      end as "isAlone",
      p."bookAtPlace"
    from pending_file f
    join directory d on d.id = f.directory_id
    left join lateral (
      select json_build_object('id', b.id, 'libraryId', b.library_id, 'seriesId', b.series_id,
        'directoryId', b.directory_id, 'name', encode(b.name, 'hex'), 'size', b.size,
        'modifiedMs', b.modified_ms, 'fingerprint', encode(b.fingerprint, 'hex'),
        'checks', encode(a.checks, 'hex'), 'sha256', encode(a.sha256, 'hex'), 'pageCount', b.page_count, 'isMissing', b.missing_at is not null, 'format', b.format,
        'hasError', b.error_code is not null,
        'hasCover', num_nonnulls(a.cover, a.cover_error) > 0) as "bookAtPlace"
      from (
        -- The present book at the place, otherwise the last missing one; one branch for each of the two
        -- partial indexes on locations.
        (select * from book
         where directory_id = f.directory_id and name = f.name and missing_at is null)
        union all
        (select * from book
         where directory_id = f.directory_id and name = f.name and missing_at is not null
         order by id limit 1)
        limit 1
      ) b
      join book_artifact a on a.book_id = b.id
    ) p on true
    where f.id = any(${ids}::bigint[])`
  return sortByFileName(rows, row => pathText(relativePath(row)))
}

const relativePath = ({ folder, name }: PendingRow) => joinPath(folder, Buffer.from(name, 'hex'))

function fileToRead(row: PendingRow, root: Uint8Array): FileToRead {
  const relative = relativePath(row)
  const book = row.bookAtPlace
  return {
    id: row.id,
    path: joinPath(root, relative).toString('latin1'),
    relative: pathText(relative),
    known: book?.size === row.size ? book : null,
    // While a book was missing its series may have followed another folder, so it must be determined again.
    forced: row.forced || book?.isMissing === true,
    sidecars: Object.keys(row.sidecars),
    isAlone: row.isAlone,
  }
}
