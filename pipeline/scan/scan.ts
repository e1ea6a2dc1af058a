// The scan job: one library from the walk to the decision about what vanished. Covers and hashes go
// on after it in lanes of their own, so that a library of terabytes can be scanned again meanwhile.
import { stat } from 'node:fs/promises'
import type { Sql, TransactionSql } from 'postgres'
import { tellScan, tellScans } from '../../lib/catalog/scan/scan-events.ts'
import type { Log } from '../../lib/log.ts'
import { phaseClock } from '../../lib/metrics/scan.ts'
import type { Session } from '../../lib/postgres/db.ts'
import type { Jobs, Queue } from '../../lib/queue/queue.ts'
import { storedSetting } from '../../lib/setting/setting.ts'
import { jobsOf } from '../index/follow-up-jobs.ts'
import { enqueueDue } from '../work/due.ts'
import { discover, unavailable } from './discover.ts'
import { forgetUndecided, settleSeries, settleVanished } from './finalize-scan.ts'
import { purgeAfterScan } from './purge.ts'
import { type LoadedScan, loadScan } from './scan-context.ts'
import { refreshStatistics } from './statistics.ts'

export type ScanDeps = {
  sql: Sql
  queue: Queue
  log: Log
  brakePercent: number
  wake: () => void
  /** Holds the locks of this process, and the libraries that it scans. */
  session: Session
  scanned: Set<string>
}

/**
 * Runs one scan; answers false when another scan of the library runs. At most one process scans a
 * library: the lock dies with its connection.
 */
export async function runScan(
  deps: ScanDeps,
  job: Jobs['scan'],
  stop: () => boolean,
): Promise<boolean> {
  const { sql, log, session, scanned } = deps
  const { libraryId } = job
  // A session may take its own locks twice.
  if (scanned.has(libraryId)) return false
  const before = session.losses()
  // Without its lock another process may be at the library.
  const ended = () => stop() || session.losses() !== before
  scanned.add(libraryId)
  try {
    const [lock] = await session.sql`
      select pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as locked`
    if (!lock!.locked) return false
    const scan = await loadScan(sql, job.scanId)
    if (!scan || !['queued', 'running'].includes(scan.state)) return true
    if (await isLeaving(sql, scan)) {
      await finish(sql, scan.scanId, 'cancelled', null)
      return true
    }
    const started = Date.now()
    await runLocked(deps, scan, ended).catch(error => giveUp(deps, scan.scanId, error))
    log.info({ libraryId, scanId: scan.scanId, ms: Date.now() - started }, 'library scanned')
    return true
  } finally {
    scanned.delete(libraryId)
    if (session.losses() === before)
      await session.sql`
        select pg_advisory_unlock(hashtext('stackroom.scan'), hashtext(${libraryId}))`.catch(
        () => {},
      )
  }
}

/** The library is being removed. */
async function isLeaving(sql: Sql, { libraryId }: LoadedScan) {
  const [row] = await sql`
    select 1 from library where id = ${libraryId} and deleting_at is not null`
  return row !== undefined
}

/** A scan that cannot go on says so; what the weather did (deadlock, lost connection) is tried again. */
async function giveUp({ sql, log }: ScanDeps, scanId: string, error: unknown) {
  const code = String((error as { code?: unknown }).code ?? '')
  if (/^(40|08|53|57|CONNECTION)/.test(code)) throw error
  log.error({ err: error, scanId }, 'scan failed')
  await finish(sql, scanId, 'failed', 'The scan failed; the log says why')
}

async function runLocked(deps: ScanDeps, scan: LoadedScan, stop: () => boolean) {
  const { sql, queue } = deps
  const reason = await unavailable(sql, scan)
  if (reason) return await finish(sql, scan.scanId, 'unavailable', reason)
  const device = await deviceOf(scan)
  if (!(await takeOver(sql, queue, scan))) return
  const passed = phaseClock()
  if (!scan.options.analysis) await look(deps, scan, stop)
  passed('walk')
  deps.wake()
  await untilIndexed(deps, scan, stop)
  if (stop()) return
  passed('read')
  // A disk may go while it is walked; what then seems gone is not.
  const late =
    (await unavailable(sql, scan)) ?? ((await deviceOf(scan)) === device ? null : exchanged)
  if (late) return await finish(sql, scan.scanId, 'unavailable', late)
  const message = scan.options.analysis ? null : await settleVanished(sql, scan, deps.brakePercent)
  if (stop()) return
  await refreshStatistics(sql, ['book', 'series', 'book_search', 'series_search'])
  await settleSeries(sql, scan)
  passed('settle')
  if (!scan.options.analysis)
    await sql`
      update library set last_scanned_at = now(), device = ${device} where id = ${scan.libraryId}`
  if (stop()) return
  await enqueueDue(sql, queue, scan)
  await enqueueDedupe(deps, scan)
  if (!message) await purgeAfterScan(sql, queue, scan)
  await finish(sql, scan.scanId, message ? 'unconfirmed' : 'completed', message)
}

/** Compares the disk with the catalogue. */
async function look({ sql, queue }: ScanDeps, scan: LoadedScan, stop: () => boolean) {
  const result = await discover({ sql, queue, scan, dry: false, stop })
  await sql.begin(async tx => {
    const [row] = await tx<{ isRunning: boolean }[]>`
      update scan
      set found = ${result.files}, unreadable_directories = ${result.unreadable}, discovered_at = now(),
        options = options || ${tx.json(result.leftOut.length > 0 ? { leftOut: result.leftOut } : {})}
      where id = ${scan.scanId}
      returning state = 'running' as "isRunning"`
    await tellScan(tx, scan.scanId, { force: row?.isRunning ?? false })
  })
}

/** Groups of duplicates are brought up to date after a scan that changed anything, unless an administrator put that off. */
async function enqueueDedupe({ sql, queue }: ScanDeps, scan: LoadedScan) {
  const { scanId, libraryId } = scan
  const [row] = await sql<{ altered: boolean }[]>`
    select to_index + added + changed + moved + restored + missing > 0 as altered
    from scan where id = ${scanId}`
  if (!row?.altered || !(await storedSetting(sql, 'deduplication.enabled'))) return
  // Nobody waits for what a watch found, and the next file may come at once.
  const afterSeconds = scan.options.quietMs === undefined ? 1 : 30
  await queue.send(sql, 'dedupe', [{ libraryId }], { key: 'all', afterSeconds })
}

const exchanged = 'The library folder was exchanged while it was scanned'

/** st_dev of the root; null when it cannot be asked. */
async function deviceOf(scan: LoadedScan): Promise<string | null> {
  try {
    return String((await stat(Buffer.from(scan.root))).dev)
  } catch {
    return null
  }
}

/**
 * Makes the work that a dead scan left behind this scan's own, and tries unreadable files again. False
 * when the scan was called off in this moment.
 */
async function takeOver(sql: Sql, queue: Queue, scan: LoadedScan): Promise<boolean> {
  return await sql.begin(async tx => {
    const { count } = await tx`
      update scan
      set state = 'running', started_at = coalesce(started_at, now()), found = 0, to_index = 0,
        discovered_at = null
      where id = ${scan.scanId} and state in ('queued', 'running')`
    if (count === 0) return false
    const superseded = await tx<{ id: string }[]>`
      update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
      where library_id = ${scan.libraryId} and id <> ${scan.scanId} and state = 'running'
        and (options @> '{"analysis": true}' or ${isWhole(scan)} and (mode = 'normal' or ${scan.deep}))
      returning id`
    // Records of earlier scans have no reader any more, unless their jobs go on.
    await tx`
      delete from scan_record r
      using scan s
      where s.id = r.scan_id and s.library_id = ${scan.libraryId} and s.id <> ${scan.scanId}
        and not exists (
          select 1 from pgboss.job
          where name in ('cover', 'hash') and state < 'completed'
            and data->>'libraryId' = ${scan.libraryId} and data->>'scanId' = s.id::text)`
    await forgetUndecided(tx, scan.libraryId)
    await tx`
      insert into found (library_id, scan_id, directory_id, name, size, modified_ms, forced)
      select library_id, ${scan.scanId}, directory_id, name, size, modified_ms, true
      from book
      where library_id = ${scan.libraryId} and error_code = 'io' and missing_at is null
      on conflict (directory_id, name) do nothing`
    await tx`update found set scan_id = ${scan.scanId} where library_id = ${scan.libraryId}`
    await queue.withdraw(tx, 'index', scan.libraryId)
    await queue.reassign(tx, scan.libraryId, scan.scanId)
    await enqueueFound(tx, queue, { scan, again: false })
    await tellScans(tx, [...superseded.map(row => row.id), scan.scanId])
    return true
  })
}

/** Does what another scan left undone; else that one goes on by itself, when its job comes again. */
function isWhole({ paths, options }: LoadedScan) {
  return paths.length === 0 && !options.analysis && options.quietMs === undefined
}

/** Jobs for all that is found and not indexed, a page of ids at a time; `again` in jobs of their own. */
async function enqueueFound(
  tx: TransactionSql,
  queue: Queue,
  { scan, again }: { scan: LoadedScan; again: boolean },
) {
  for (let last = '0'; ; ) {
    const rows = await tx<{ id: string }[]>`
      select id::text from found
      where library_id = ${scan.libraryId} and id > ${last}
      order by id
      limit 6400`
    if (rows.length === 0) return
    const ids = rows.map(row => row.id)
    await queue.send(tx, 'index', again ? ids.flatMap(id => jobsOf(scan, [id])) : jobsOf(scan, ids))
    if (!again)
      await tx`update scan set to_index = to_index + ${ids.length} where id = ${scan.scanId}`
    last = ids.at(-1)!
  }
}

/** Waits until nothing of the library is left to index. What its jobs gave up is asked for once more, alone. */
async function untilIndexed(deps: ScanDeps, scan: LoadedScan, ended: () => boolean) {
  const { sql, queue, wake, log } = deps
  let rounds = 0
  while (!ended()) {
    const [row] = await sql`select 1 from found where library_id = ${scan.libraryId} limit 1`
    if (!row) return
    if (!(await queue.busy(scan.libraryId, ['index']))) {
      const again = rounds++ === 0
      // One that was called off has no jobs any more, and gives nothing up.
      const goesOn = await sql.begin(async tx => {
        const [running] = await tx`
          select 1 from scan where id = ${scan.scanId} and state = 'running' for no key update`
        if (!running) return false
        if (again) await enqueueFound(tx, queue, { scan, again: true })
        else await leaveOut(tx, scan, log)
        return again
      })
      if (!goesOn) return
    }
    wake()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Files that no attempt could store: counted as failed, and looked at again by the next scan. */
async function leaveOut(tx: TransactionSql, scan: LoadedScan, log: Log) {
  const [row] = await tx<{ files: number }[]>`
    with dropped as (
      delete from found where library_id = ${scan.libraryId} returning directory_id
    ), forgotten as (
      update directory set digest = null where id in (select directory_id from dropped)
    )
    update scan
    set failed = failed || jsonb_build_object('internal',
      coalesce((failed->>'internal')::integer, 0) + (select count(*) from dropped))
    where id = ${scan.scanId}
    returning (select count(*)::integer from dropped) as files`
  log.error({ libraryId: scan.libraryId, files: row!.files }, 'files could not be stored')
}

async function finish(sql: Sql, scanId: string, state: string, message: string | null) {
  await sql.begin(async tx => {
    const { count } = await tx`
      update scan
      set state = ${state}, message = ${message}, indexed_at = now(), finished_at = now(),
        started_at = coalesce(started_at, now())
      where id = ${scanId} and state in ('queued', 'running')`
    if (count > 0) await tellScan(tx, scanId, { force: true })
  })
}
