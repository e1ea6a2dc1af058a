// Job name → function; starts and stops the threads and the loops that feed them.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { purgeMissing } from '../lib/catalog/book/purge.ts'
import { eraseLibrary, resumeErasing } from '../lib/catalog/library/library-erase.ts'
import type { Config } from '../lib/config/config.ts'
import { limitsOf } from '../lib/format/contract.ts'
import type { Log } from '../lib/log.ts'
import { openSession } from '../lib/postgres/db.ts'
import { reindexJobs, startMinding } from '../lib/queue/maintenance.ts'
import { openQueue, type Queue } from '../lib/queue/queue.ts'
import { hashBooks, indexBooks, type Lane } from './index/books.ts'
import { showBook } from './index/cover-on-demand.ts'
import { coverBooks } from './index/covers.ts'
import { dedupeInTurn } from './index/dedupe.ts'
import { scanTask } from './scan/scan-task.ts'
import { startWatching } from './watch/watching.ts'
import { startBackfill } from './work/backfill.ts'
import type { Course, Work } from './work/job-runs.ts'
import { upkeep } from './work/maintenance.ts'
import { openThreads } from './work/threads.ts'
import { startLanes } from './work/workers.ts'

export type Pipeline = Awaited<ReturnType<typeof startPipeline>>

type Options = {
  sql: Sql
  config: Config
  log: Log
  queue?: Queue
  /** Watches the folders of libraries; for a process that stays. */
  watch?: boolean
}

/** Everything that works in the background of one process. A queue that is given stays open. */
export async function startPipeline({ sql, config, log, queue: given, watch = true }: Options) {
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
  const lane = (course: Course): Lane => ({ sql, queue, threads, thumbnails, ...course })
  let wakeReaders = () => {}
  const scanDeps = {
    sql,
    queue,
    log,
    get brakePercent() {
      return config.pipeline.missing_brake_percent
    },
    wake: () => wakeReaders(),
    session: worker.session,
    scanned: new Set<string>(),
  }
  const work: Work = {
    scan: (job, { stop }) => scanTask(scanDeps, job, stop),
    analyze: (job, { stop }) => scanTask(scanDeps, job, stop),
    index: (job, course) => indexBooks(lane(course), job),
    cover: (job, course) => coverBooks(lane(course), job),
    hash: (job, course) => hashBooks(lane(course), job),
    dedupe: dedupeInTurn(sql, queue),
    erase: (job, { stop }) => eraseLibrary({ sql, queue, stop }, job.libraryId),
    show: (job, course) => showBook(lane(course), job),
    purge: async (job, { stop }) => void (await purgeMissing(sql, job.libraryId, stop)),
    async upkeep(_job, { stop }) {
      await upkeep({ sql, config, log }, stop)
      await reindexJobs(sql, queue, stop)
    },
  }
  const lanes = await startLanes({ sql, queue, log }, work, [
    { lanes: ['show'], slots: Math.max(2, threads.size) },
    { lanes: ['analyze', 'scan'], slots: 2 },
    { lanes: ['dedupe', 'purge', 'upkeep'], slots: 1 },
    { lanes: ['erase'], slots: 1 },
    // One more than threads: while one batch is stored, the threads have another to read.
    { lanes: ['index', 'cover', 'hash'], slots: threads.size + 1 },
  ])
  wakeReaders = () => lanes.wake('index')
  const minding = startMinding(sql, log)
  const filling = startBackfill(sql, log)
  const watching = watch ? await startWatching({ sql, queue, log, wake: lanes.wake }) : null
  return {
    queue,
    /** No other process worked when this one began. */
    isFirst: worker.isFirst,
    wake: lanes.wake,
    async close() {
      // At once: one that hangs on a disk must not keep the others from stopping.
      await Promise.all([watching?.close(), filling.close(), lanes.close()])
      await minding.close()
      await threads.close()
      if (!given) await queue.close()
      await worker.leave()
    },
  }
}

/** Every process that works holds this lock shared; who could have it alone is the first. */
async function joinWorkers(sql: Sql, queue: Queue) {
  let hasLeft = false
  const share = () => session.sql`select pg_advisory_lock_shared(hashtext('stackroom.workers'))`
  // Lost with its connection: the next process to come would take itself for the first.
  const again = async () => {
    while (!hasLeft) {
      try {
        await share()
        return
      } catch {
        await sleep(1_000)
      }
    }
  }
  const session = openSession(sql, () => void again())
  const leave = async () => {
    hasLeft = true
    await session.close()
  }
  try {
    const [row] = await session.sql`
      select pg_try_advisory_lock(hashtext('stackroom.workers')) as first`
    // While nobody else can join: the jobs of a process that comes next are not taken from it.
    if (row!.first) await queue.reclaim()
    await share()
    if (row!.first) await session.sql`select pg_advisory_unlock(hashtext('stackroom.workers'))`
    return { leave, session, isFirst: row!.first as boolean }
  } catch (error) {
    await leave()
    throw error
  }
}
