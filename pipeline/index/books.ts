// The jobs that run over batches of books: index (what is in the file) and hash; covers.ts has the third.
// Each takes ids, asks for what is still to do, has threads do it, and stores what comes back slice by
// slice.
import { lstat } from 'node:fs/promises'
import type { Sql } from 'postgres'
import type { Threads } from '../../lib/async/thread-pool.ts'
import { tellScan } from '../../lib/catalog/scan/scan-events.ts'
import { ofBooks, tell } from '../../lib/event/publish.ts'
import { countParsed } from '../../lib/metrics/book.ts'
import { countReading } from '../../lib/metrics/scan.ts'
import { compareFileNames } from '../../lib/name/natural.ts'
import { joinPath, pathText } from '../../lib/path.ts'
import type { Jobs, Queue } from '../../lib/queue/queue.ts'
import { recordBooks, storeLaneFigures } from '../scan/progress.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runAll, runSpread } from '../work/threads.ts'
import { unreadReading } from './extract.ts'
import type { FileToHash, Hashed } from './hash.ts'
import { type Found, type Known, match } from './match.ts'
import type { FileToRead, ReadError, Reading, ReadingRules } from './reading.ts'
import { keepResults } from './results.ts'
import { storeEach } from './store-each.ts'
import type { ThumbnailRules } from './thumbnail.ts'

export type Lane = {
  sql: Sql
  queue: Queue
  threads: Threads
  thumbnails: ThumbnailRules
  /** True when the process is asked to end or the job was called off. */
  stop: () => boolean
  /** Aborted when `stop` begins to say so. */
  signal: AbortSignal
}

/** Reads the files of a batch of `found` rows and stores what they are. */
export async function indexBooks(
  { sql, queue, threads, thumbnails, stop, signal }: Lane,
  job: Jobs['index'],
) {
  const scan = await loadScan(sql, job.scanId)
  // What a scan that was called off had found waits for the next one.
  if (scan?.state !== 'running') return
  const rows = await foundRows(sql, job.ids)
  const items = rows.map(row => fileToRead(row, scan.root))
  const byId = new Map(rows.map(row => [row.id, row]))
  const rules: ReadingRules = { ...scan.rules, limits: thumbnails.limits }
  const unread = (id: string, error: ReadError) =>
    unreadReading(items.find(item => item.id === id)!, rules, error)
  let cancelled = false
  await runAll<FileToRead, ReadingRules, Reading>(threads, 'read', items, rules, {
    stop: () => stop() || cancelled,
    signal,
    failed: (item, error) => unreadReading(item, rules, error),
    slice: async (done, read) => {
      const gone = await goneOf(read, done)
      await forgetFound(sql, [...gone])
      const pairs = done
        .filter(reading => !gone.has(reading.id))
        .map(reading => ({ found: byId.get(reading.id)!, reading }))
      const matches = await match(sql, pairs)
      const bytesRead = done.reduce((sum, r) => sum + r.bytesRead, 0)
      const opens = done.reduce((sum, r) => sum + r.opens, 0)
      countParsed(done)
      countReading('index', done)
      await storeEach({ sql, queue, scan }, { matches, bytesRead, opens }, unread)
      cancelled = !(await isRunning(sql, scan.scanId))
    },
  })
}

async function isRunning(sql: Sql, scanId: string) {
  const [row] = await sql`select 1 from scan where id = ${scanId} and state = 'running'`
  return row !== undefined
}

/** Ids of those not there any more: deleted, moved or unmounted since the catalogue met them. */
async function goneOf(read: FileToRead[], done: Reading[]) {
  const gone = new Set<string>()
  for (const [i, { id, path }] of read.entries()) {
    if (done[i]!.error?.code !== 'io') continue
    const error = await lstat(Buffer.from(path, 'latin1')).then(
      () => null,
      err => err,
    )
    if (error?.code === 'ENOENT' || error?.code === 'ENOTDIR') gone.add(id)
  }
  return gone
}

/** Drops work on files that are gone. Their folders are compared again, should the files come back as they were. */
async function forgetFound(sql: Sql, ids: string[]) {
  if (ids.length === 0) return
  await sql`
    with gone as (delete from found where id = any(${ids}::bigint[]) returning directory_id)
    update directory set digest = null, pending_digest = null
    where id in (select directory_id from gone)`
}

type FoundRow = Found & { folder: Uint8Array; sidecars: Record<string, number>; alone: boolean }

async function foundRows(sql: Sql, ids: string[]): Promise<FoundRow[]> {
  // The present book of a place first, else the one last seen there.
  const rows = await sql<FoundRow[]>`
    select f.id::text, f.directory_id as "directoryId", encode(f.name, 'hex') as name,
      f.size::float8 as size, f.modified_ms::float8 as "modifiedMs", f.forced,
      d.path as folder, d.sidecars,
      -- Only a folder with sidecars is worth the question.
      case when d.sidecars = '{}' then false else
        not exists (
          select 1 from book o
          where o.directory_id = f.directory_id and o.missing_at is null and o.name <> f.name)
        and not exists (
          select 1 from found o where o.directory_id = f.directory_id and o.name <> f.name)
      end as alone,
      p.place
    from found f
    join directory d on d.id = f.directory_id
    left join lateral (
      select json_build_object('id', b.id, 'libraryId', b.library_id, 'seriesId', b.series_id,
        'directoryId', b.directory_id, 'name', encode(b.name, 'hex'), 'size', b.size,
        'fingerprint', encode(b.fingerprint, 'hex'), 'sha256', encode(b.sha256, 'hex'),
        'pageCount', b.page_count, 'missing', b.missing_at is not null, 'format', b.format,
        'failed', b.error_code is not null,
        'covered', num_nonnulls(b.cover, b.cover_error) > 0) as place
      from (
        -- One branch for each of the two partial indexes on places.
        (select * from book
         where directory_id = f.directory_id and name = f.name and missing_at is null)
        union all
        (select * from book
         where directory_id = f.directory_id and name = f.name and missing_at is not null
         order by id limit 1)
        limit 1
      ) b
    ) p on true
    where f.id = any(${ids}::bigint[])`
  return inNaturalOrder(rows)
}

/** New books get their ids in this order, by which lists show those that came together. */
function inNaturalOrder(rows: FoundRow[]): FoundRow[] {
  return rows
    .map(row => ({ row, path: pathText(relativePath(row)) }))
    .sort((a, b) => compareFileNames(a.path, b.path))
    .map(({ row }) => row)
}

const relativePath = ({ folder, name }: FoundRow) => joinPath(folder, Buffer.from(name, 'hex'))

function fileToRead(row: FoundRow, root: Uint8Array): FileToRead {
  const relative = relativePath(row)
  const place = row.place as Known | null
  return {
    id: row.id,
    path: joinPath(root, relative).toString('latin1'),
    relative: pathText(relative),
    // A broken book is read again whenever there is a reason to look at it.
    known: place && !place.failed && place.size === row.size ? place.fingerprint : null,
    forced: row.forced,
    sidecars: Object.keys(row.sidecars),
    alone: row.alone,
  }
}

/** Hashes a batch of books whole. What is already hashed is left alone, unless the job says `again`. */
export async function hashBooks(lane: Lane, job: Jobs['hash']) {
  const { sql, threads } = lane
  const scan = await loadScan(sql, job.scanId)
  if (!scan || scan.state === 'cancelled') return
  const rows = await sql<
    {
      id: string
      folder: Uint8Array
      name: Uint8Array
      root: Uint8Array
      size: number
      modifiedMs: number
    }[]
  >`
    select b.id, d.path as folder, b.name, l.root, b.size::float8 as size, b.modified_ms::float8 as "modifiedMs"
    from book b
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where b.id = any(${job.ids}) and b.missing_at is null and (b.sha256 is null or ${job.again === true})
    order by d.path, b.name_key`
  const items = rows.map(row => ({
    id: row.id,
    path: joinPath(row.root, joinPath(row.folder, row.name)).toString('latin1'),
    size: row.size,
    modifiedMs: row.modifiedMs,
  }))
  const skipped = job.ids.length - items.length
  if (skipped > 0) await skipHashes(sql, job.scanId, skipped)
  const results = keepResults<Hashed>(lane, {
    lane: 'hash',
    scan,
    store: done => storeHashes(sql, scan, done),
  })
  await runSpread<FileToHash, null, Hashed>(threads, 'hash', items, null, {
    ...results,
    signal: lane.signal,
    failed: (item, error) => ({ ...item, sha256: null, bytesRead: 0, error }),
  })
  await results.end()
}

/** Books of a job that need no hash any more. */
async function skipHashes(sql: Sql, scanId: string, skipped: number) {
  await sql.begin(async tx => {
    const [scan] = await tx<{ isLast: boolean }[]>`
      update scan set hashed = hashed + ${skipped} where id = ${scanId}
      returning hashed >= to_hash as "isLast"`
    await tellScan(tx, scanId, { force: scan?.isLast ?? false, isAfter: true })
  })
}

async function storeHashes(sql: Sql, scan: { scanId: string; followed: boolean }, done: Hashed[]) {
  countReading('hash', done)
  const good = done.filter(d => d.sha256 !== null)
  const rows = good.map(d => ({ id: d.id, sha256: d.sha256, size: d.size, ms: d.modifiedMs }))
  await sql.begin(async tx => {
    const stored = await tx<
      { id: string; libraryId: string; seriesId: string; altered: boolean }[]
    >`
      update book b
      set sha256 = decode(h.sha256, 'hex')
      from jsonb_to_recordset(${tx.json(rows)}) as h(id uuid, sha256 text, size bigint, ms bigint),
        book old
      where b.id = h.id and old.id = h.id and b.size = h.size and b.modified_ms = h.ms
      returning b.id, b.library_id as "libraryId", b.series_id as "seriesId",
        old.sha256 is not null and old.sha256 <> b.sha256 as altered`
    const others = stored.filter(row => row.altered)
    const altered = others.map(row => row.id)
    if (altered.length > 0) {
      // Same size, time and fingerprint, other bytes: only a deep scan can see it, and only here.
      await tx`update scan set changed = changed + ${altered.length} where id = ${scan.scanId}`
      await tx`update book set updated_at = now() where id = any(${altered})`
      await tell(tx, ofBooks('book_updated', others))
    }
    if (scan.followed) {
      await recordBooks(
        tx,
        scan.scanId,
        stored.filter(r => !r.altered).map(r => r.id),
        'hashed',
      )
      await recordBooks(tx, scan.scanId, altered, 'changed')
    }
    await storeLaneFigures(tx, scan.scanId, {
      covers: 0,
      hashed: done.length,
      bytesRead: done.reduce((sum, d) => sum + d.bytesRead, 0),
      opens: done.length,
    })
  })
}
