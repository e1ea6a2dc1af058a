// The scan job: one library from the walk to the decision about what vanished. Covers and hashes go
// on after it in lanes of their own, so that a library of terabytes can be scanned again meanwhile.
import { statSync } from 'node:fs'
import type { Sql, TransactionSql } from 'postgres'
import { storedSetting } from '../lib/catalog/setting.ts'
import type { Jobs, Queue } from '../lib/jobs.ts'
import type { Log } from '../lib/log.ts'
import { discover, unavailable } from './discover.ts'
import { enqueueDue } from './due.ts'
import { jobsOf } from './plan.ts'
import { type LoadedScan, loadScan } from './scan-context.ts'
import { forgetUndecided, settleSeries, settleVanished } from './settle.ts'

export type ScanDeps = { sql: Sql; queue: Queue; log: Log; brakePercent: number; wake: () => void }

/** Runs one scan. At most one process scans a library: the lock dies with its connection. */
export async function runScan(deps: ScanDeps, job: Jobs['scan'], stop: () => boolean) {
  const { sql, queue, log } = deps
  const held = await sql.reserve()
  try {
    const [lock] = await held`
      select pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(${job.libraryId})) as locked`
    if (!lock!.locked) {
      // Another scan of the library runs: this one comes back, and the lane is free meanwhile.
      await queue.send(sql, 'scan', [job], { key: job.scanId, afterSeconds: 1 })
      return
    }
    const scan = await loadScan(sql, job.scanId)
    if (!scan || !['queued', 'running'].includes(scan.state)) return
    if (await isLeaving(sql, scan)) return await finish(sql, scan.scanId, 'cancelled', null)
    const started = Date.now()
    await runLocked(deps, scan, stop).catch(error => giveUp(deps, scan.scanId, error))
    const { libraryId, scanId } = scan
    log.info({ libraryId, scanId, ms: Date.now() - started }, 'library scanned')
  } finally {
    await held`select pg_advisory_unlock_all()`
    held.release()
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
  const device = deviceOf(scan)
  await takeOver(sql, queue, scan)
  const cancelled = await watchCancel(sql, scan.scanId)
  const ended = () => stop() || cancelled.now()
  try {
    if (!scan.options.analysis) await look(deps, scan, ended)
    deps.wake()
    await untilIndexed(deps, scan, ended)
    if (ended()) return
    // A disk may go while it is walked; what then seems gone is not.
    const late = (await unavailable(sql, scan)) ?? (deviceOf(scan) === device ? null : exchanged)
    if (late) return await finish(sql, scan.scanId, 'unavailable', late)
    const message = scan.options.analysis
      ? null
      : await settleVanished(sql, scan, deps.brakePercent)
    await settleSeries(sql, scan)
    if (!scan.options.analysis)
      await sql`
        update library set last_scanned_at = now(), device = ${device} where id = ${scan.libraryId}`
    await enqueueDue(sql, queue, scan)
    await enqueueDedupe(deps, scan)
    await finish(sql, scan.scanId, message ? 'unconfirmed' : 'completed', message)
  } finally {
    cancelled.close()
  }
}

/** Compares the disk with the catalogue. */
async function look({ sql, queue }: ScanDeps, scan: LoadedScan, stop: () => boolean) {
  const result = await discover({ sql, queue, scan, dry: false, stop })
  await sql`
    update scan
    set found = ${result.files}, unreadable_directories = ${result.unreadable}, discovered_at = now()
    where id = ${scan.scanId}`
}

/** Groups of duplicates are brought up to date after a scan that changed anything, unless an administrator put that off. */
async function enqueueDedupe({ sql, queue }: ScanDeps, { scanId, libraryId }: LoadedScan) {
  const [row] = await sql<{ altered: boolean }[]>`
    select to_index + added + changed + moved + restored + missing > 0 as altered
    from scan where id = ${scanId}`
  if (!row?.altered || !(await storedSetting(sql, 'deduplication.enabled'))) return
  await queue.send(sql, 'dedupe', [{ libraryId }], { key: 'all', afterSeconds: 1 })
}

const exchanged = 'The library folder was exchanged while it was scanned'

/** st_dev of the root; null when it cannot be asked. */
function deviceOf(scan: LoadedScan): string | null {
  try {
    return String(statSync(Buffer.from(scan.root)).dev)
  } catch {
    return null
  }
}

/** Makes the work that a dead scan left behind this scan's own, and tries unreadable files again. */
async function takeOver(sql: Sql, queue: Queue, scan: LoadedScan) {
  await sql.begin(async tx => {
    await tx`
      update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
      where library_id = ${scan.libraryId} and id <> ${scan.scanId} and state = 'running'
        and (${scan.options.analysis === true} <= (options @> '{"analysis": true}'))`
    await tx`
      update scan set state = 'running', started_at = coalesce(started_at, now()), found = 0, to_index = 0
      where id = ${scan.scanId}`
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
    await enqueueFound(tx, queue, scan)
  })
}

/** Jobs for all that is found and not indexed, a page of ids at a time. */
async function enqueueFound(tx: TransactionSql, queue: Queue, scan: LoadedScan) {
  for (let last = '0'; ; ) {
    const rows = await tx<{ id: string }[]>`
      select id::text from found
      where library_id = ${scan.libraryId} and id > ${last}
      order by id
      limit 6400`
    if (rows.length === 0) return
    const ids = rows.map(row => row.id)
    await queue.send(tx, 'index', jobsOf(scan, ids))
    await tx`update scan set to_index = to_index + ${ids.length} where id = ${scan.scanId}`
    last = ids.at(-1)!
  }
}

/** Waits until nothing of the library is left to index. What its jobs gave up is asked for once more, alone. */
async function untilIndexed(deps: ScanDeps, scan: LoadedScan, ended: () => boolean) {
  const { sql, queue, wake } = deps
  let rounds = 0
  while (!ended()) {
    const [row] = await sql`select 1 from found where library_id = ${scan.libraryId} limit 1`
    if (!row) return
    if (!(await queue.busy(scan.libraryId, ['index']))) {
      if (rounds++ > 0) return await leaveOut(deps, scan)
      const left = await sql<{ id: string }[]>`
        select id::text from found where library_id = ${scan.libraryId} order by id`
      const jobs = left.map(f => ({ scanId: scan.scanId, libraryId: scan.libraryId, ids: [f.id] }))
      await queue.send(sql, 'index', jobs)
    }
    wake()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Files that no attempt could store: counted as failed, and looked at again by the next scan. */
async function leaveOut({ sql, log }: ScanDeps, scan: LoadedScan) {
  const [row] = await sql<{ files: number }[]>`
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

/** Looks at the scan's state four times a second. */
async function watchCancel(sql: Sql, scanId: string) {
  let cancelled = false
  const timer = setInterval(async () => {
    const [row] = await sql`select state from scan where id = ${scanId}`.catch(() => [
      { state: 'running' },
    ])
    cancelled = row?.state !== 'running'
  }, 250)
  return { now: () => cancelled, close: () => clearInterval(timer) }
}

async function finish(sql: Sql, scanId: string, state: string, message: string | null) {
  await sql`
    update scan
    set state = ${state}, message = ${message}, indexed_at = now(), finished_at = now(),
      started_at = coalesce(started_at, now())
    where id = ${scanId} and state in ('queued', 'running')`
}
