// Job name → function; starts and stops the threads and the loops that feed them.
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { eraseLibrary, resumeErasing } from '../lib/catalog/library/library-erase.ts'
import type { Config } from '../lib/config.ts'
import { limitsOf } from '../lib/format/contract.ts'
import { openQueue, type Queue } from '../lib/jobs.ts'
import type { Log } from '../lib/log.ts'
import { startBackfill } from './backfill.ts'
import { coverBooks, hashBooks, indexBooks, type Lane } from './books.ts'
import { dedupeInTurn } from './dedupe.ts'
import { startLanes, type Work } from './lanes.ts'
import { runScan } from './scan.ts'
import { openThreads } from './threads.ts'

export type Pipeline = Awaited<ReturnType<typeof startPipeline>>

type Options = { sql: Sql; config: Config; log: Log; queue?: Queue }

/** Everything that works in the background of one process. A queue that is given stays open. */
export async function startPipeline({ sql, config, log, queue: given }: Options) {
  const queue = given ?? (await openQueue(sql, error => log.error({ err: error }, 'queue')))
  const worker = await joinWorkers(sql, queue)
  await resumeErasing(sql, queue)
  const limits = limitsOf(config.files)
  const threads = openThreads({
    threads: config.pipeline.threads,
    timeoutMs: config.pipeline.book_timeout_seconds * 1000,
    memoryMb: config.pipeline.book_memory_mb,
    onBug: error => log.error({ err: error }, 'a thread failed'),
  })
  const thumbnails = {
    folder: join(config.data_dir, 'thumbnails'),
    maxSide: config.thumbnail.max_dimension,
    format: config.thumbnail.format,
    quality: config.thumbnail.quality,
    limits,
  }
  const lane = (stop: () => boolean): Lane => ({ sql, queue, threads, thumbnails, stop })
  let wake = () => {}
  const scanDeps = {
    sql,
    queue,
    log,
    brakePercent: config.pipeline.missing_brake_percent,
    wake: () => wake(),
  }
  const work: Work = {
    scan: (job, stop) => runScan(scanDeps, job, stop),
    index: (job, stop) => indexBooks(lane(stop), job),
    cover: (job, stop) => coverBooks(lane(stop), job),
    hash: (job, stop) => hashBooks(lane(stop), job),
    dedupe: dedupeInTurn(sql, queue),
    erase: (job, stop) => eraseLibrary({ sql, queue, stop }, job.libraryId),
  }
  const lanes = startLanes(
    queue,
    work,
    [
      { lanes: ['scan'], slots: 2 },
      { lanes: ['dedupe'], slots: 1 },
      { lanes: ['erase'], slots: 1 },
      // One more than threads: while one batch is stored, the threads have another to read.
      { lanes: ['index', 'cover', 'hash'], slots: threads.size + 1 },
    ],
    log,
  )
  wake = lanes.wake
  const filling = startBackfill(sql, log)
  return {
    queue,
    wake: lanes.wake,
    async close() {
      await filling.close()
      await lanes.close()
      await threads.close()
      if (!given) await queue.close()
      await worker.leave()
    },
  }
}

/** Every process that works holds this lock shared; who could have it alone is the first. */
async function joinWorkers(sql: Sql, queue: Queue) {
  const held = await sql.reserve()
  const leave = async () => {
    await held`select pg_advisory_unlock_all()`
    held.release()
  }
  try {
    const [row] = await held`select pg_try_advisory_lock(hashtext('stackroom.workers')) as first`
    // While nobody else can join: the jobs of a process that comes next are not taken from it.
    if (row!.first) await queue.reclaim()
    await held`select pg_advisory_lock_shared(hashtext('stackroom.workers'))`
    if (row!.first) await held`select pg_advisory_unlock(hashtext('stackroom.workers'))`
    return { leave }
  } catch (error) {
    await leave()
    throw error
  }
}
