// The scan job: one library from the walk to the decision about what vanished. Covers and hashes go
// on after it in lanes of their own, so that a library of terabytes can be scanned again meanwhile.
import { statSync } from 'node:fs'
import type { Sql } from 'postgres'
import { Conflict } from '../lib/errors.ts'
import { newId } from '../lib/id.ts'
import type { Jobs, Queue } from '../lib/jobs.ts'
import type { Log } from '../lib/log.ts'
import { discover, unavailable } from './discover.ts'
import { jobsOf } from './plan.ts'
import { type LoadedScan, loadScan } from './scan-context.ts'
import { forgetUndecided, settleSeries, settleVanished } from './settle.ts'

export type ScanRequest = {
  libraryId: string
  mode: 'normal' | 'deep'
  /** Library-relative folders or files; empty for all. */
  paths?: Uint8Array[]
  /** `followed`: records for `scan --ndjson`; `pageHash`: hash of page 1; `confirmMissing`: no brake. */
  options?: { followed?: boolean; pageHash?: boolean; confirmMissing?: boolean }
}

/** Enqueues a scan and returns its id. An older scan of the library that no process runs any more is closed. */
export async function requestScan(sql: Sql, queue: Queue, request: ScanRequest): Promise<string> {
  const scanId = newId()
  await sql.begin(async tx => {
    await tx`
      insert into scan (id, library_id, mode, paths, options)
      values (${scanId}, ${request.libraryId}, ${request.mode},
        ${(request.paths ?? []).map(p => `\\x${Buffer.from(p).toString('hex')}`)}::text[]::bytea[],
        ${tx.json(request.options ?? {})})`
    await queue.send(tx, 'scan', [{ scanId, libraryId: request.libraryId }], { key: scanId })
  })
  return scanId
}

/** Cancels a queued or running scan; its jobs stop at their next safe point. */
export async function cancelScan(sql: Sql, scanId: string): Promise<void> {
  const [row] = await sql`
    update scan set state = 'cancelled', finished_at = now()
    where id = ${scanId} and state in ('queued', 'running')
    returning id`
  if (!row) throw new Conflict('The scan is not running')
}

export type ScanDeps = { sql: Sql; queue: Queue; log: Log; brakePercent: number; wake: () => void }

/** Runs one scan. At most one process scans a library: the lock dies with its connection. */
export async function runScan(deps: ScanDeps, job: Jobs['scan'], stop: () => boolean) {
  const { sql, log } = deps
  const held = await sql.reserve()
  try {
    if (!(await lockLibrary(held, job.libraryId, stop))) return
    const scan = await loadScan(sql, job.scanId)
    if (!scan || !['queued', 'running'].includes(scan.state)) return
    const started = Date.now()
    await runLocked(deps, scan, stop)
    log.info(
      { libraryId: scan.libraryId, scanId: scan.scanId, ms: Date.now() - started },
      'library scanned',
    )
  } finally {
    await held`select pg_advisory_unlock_all()`
    held.release()
  }
}

async function lockLibrary(held: Sql, libraryId: string, stop: () => boolean) {
  while (!stop()) {
    const [row] =
      await held`select pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(${libraryId})) as locked`
    if (row!.locked) return true
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  return false
}

async function runLocked(deps: ScanDeps, scan: LoadedScan, stop: () => boolean) {
  const { sql, queue } = deps
  const reason = await unavailable(sql, scan)
  if (reason) return await finish(sql, scan.scanId, 'unavailable', reason)
  await takeOver(sql, queue, scan)
  const cancelled = await watchCancel(sql, scan.scanId)
  const ended = () => stop() || cancelled.now()
  try {
    const result = await discover({ sql, queue, scan, dry: false, stop: ended })
    await sql`
      update scan
      set found = ${result.files}, unreadable_directories = ${result.unreadable}, discovered_at = now()
      where id = ${scan.scanId}`
    deps.wake()
    await untilIndexed(deps, scan, ended)
    if (ended()) return
    const message = await settleVanished(sql, scan, deps.brakePercent)
    await settleSeries(sql, scan)
    const device = String(statSync(Buffer.from(scan.root)).dev)
    await sql`
      update library set last_scanned_at = now(), device = ${device} where id = ${scan.libraryId}`
    await queue.send(sql, 'dedupe', [{ libraryId: scan.libraryId }], {
      key: 'all',
      afterSeconds: 1,
    })
    await finish(sql, scan.scanId, message ? 'unconfirmed' : 'completed', message)
  } finally {
    cancelled.close()
  }
}

/** Makes the work that a dead scan left behind this scan's own, and tries unreadable files again. */
async function takeOver(sql: Sql, queue: Queue, scan: LoadedScan) {
  await sql.begin(async tx => {
    await tx`
      update scan set state = 'cancelled', message = 'Superseded by a later scan', finished_at = now()
      where library_id = ${scan.libraryId} and id <> ${scan.scanId} and state = 'running'`
    await tx`
      update scan set state = 'running', started_at = coalesce(started_at, now()), found = 0, to_index = 0
      where id = ${scan.scanId}`
    await forgetUndecided(tx, scan.libraryId)
    await tx`
      insert into found (library_id, scan_id, directory_id, name, size, modified_ms, forced)
      select library_id, ${scan.scanId}, directory_id, name, size, modified_ms, true
      from book
      where library_id = ${scan.libraryId} and error_code = 'io' and missing_at is null
      on conflict (directory_id, name) do nothing`
    const left = await tx<{ id: string }[]>`
      update found set scan_id = ${scan.scanId} where library_id = ${scan.libraryId} returning id::text`
    await queue.withdraw(tx, 'index', scan.libraryId)
    await queue.reassign(tx, scan.libraryId, scan.scanId)
    await queue.send(
      tx,
      'index',
      jobsOf(
        scan,
        left.map(row => row.id),
      ),
    )
    await tx`update scan set to_index = to_index + ${left.length} where id = ${scan.scanId}`
  })
}

/** Waits until nothing of the library is left to index. */
async function untilIndexed(
  { sql, queue, wake }: ScanDeps,
  scan: LoadedScan,
  ended: () => boolean,
) {
  while (!ended()) {
    const [row] = await sql`select 1 from found where library_id = ${scan.libraryId} limit 1`
    if (!row) return
    if (!(await queue.busy(scan.libraryId, ['index']))) {
      // Its jobs were given up: the rest is asked for once more, a batch of its own for each file.
      const left = await sql<{ id: string }[]>`
        select id::text from found where library_id = ${scan.libraryId} order by id limit 1000`
      await queue.send(
        sql,
        'index',
        left.map(f => ({ scanId: scan.scanId, libraryId: scan.libraryId, ids: [f.id] })),
      )
    }
    wake()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
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
