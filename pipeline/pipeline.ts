// Background processing of one process: a handler for every job, the workers and threads that run them, and
// folder watching.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { runBackupJob } from '../lib/backup/job.ts'
import { openThreadPool, type ThreadPool } from '../lib/base/async/thread-pool.ts'
import type { Log } from '../lib/base/log.ts'
import { programFile } from '../lib/base/package.ts'
import { purgeMissing } from '../lib/catalog/book/purge.ts'
import { eraseLibrary, resumeErase } from '../lib/catalog/library/library-erase.ts'
import { fileAccess } from '../lib/catalog/library/library-root.ts'
import { failScans } from '../lib/catalog/scan/scan-failure.ts'
import { makeSourceCover, runMatchJob } from '../lib/match/job/match-job.ts'
import { limitsFromConfig } from '../lib/media/archive/limits.ts'
import { pollReleases } from '../lib/releases/job/poll.ts'
import type { Sources } from '../lib/sources/open.ts'
import { openSources } from '../lib/sources/stored/open.ts'
import type { Config } from '../lib/store/config/config.ts'
import { mountHealth } from '../lib/store/mount/mount-health.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import type { JobControl } from '../lib/store/queue/job-run.ts'
import { reindexJobs, startJobMaintenance } from '../lib/store/queue/maintenance.ts'
import { openQueue, type Queue } from '../lib/store/queue/queue.ts'
import { openSpaceGuard, type SpaceGuard } from '../lib/store/space-guard.ts'
import { createDedupeJob } from './finalize/dedupe.ts'
import { indexBooks } from './index/books.ts'
import { makeCoverOnDemand, makeCovers } from './index/covers.ts'
import { hashBooks } from './index/hashes.ts'
import type { JobContext } from './index/job-context.ts'
import { runScanJob, type ScanDeps } from './scan-job.ts'
import { startWatching } from './watch/watching.ts'
import type { ReadThreadData } from './work/item-task.ts'
import type { JobHandler, JobHandlers } from './work/job-runs.ts'
import { runMaintenance } from './work/maintenance.ts'
import { joinWorkers } from './work/process-lock.ts'
import { startWorkers } from './work/workers.ts'

export type Pipeline = Awaited<ReturnType<typeof startPipeline>>

type Options = {
  sql: Sql
  config: Config
  log: Log
  /** If given, stays open when the pipeline is closed. */
  queue?: Queue
  space?: SpaceGuard
  sources?: Sources
  threads?: ThreadPool
  /** Whether to watch library folders; for a process that keeps running. */
  watch?: boolean
}

/** Starts background processing; `close()` stops all jobs at their next safe point. */
export async function startPipeline(options: Options) {
  const parts: Part[] = []
  const close = async () => {
    for (const part of parts.splice(0).reverse())
      try {
        await part.close()
      } catch (err) {
        options.log.warn({ err }, 'a part of the pipeline failed to close')
      }
  }
  try {
    return { ...(await openParts(options, parts)), close }
  } catch (error) {
    await close()
    throw error
  }
}

type Part = { close(): unknown }

/** Adds what it opens to `parts`, which are closed in reverse order. */
async function openParts({ sql, config, log, watch = true, ...shared }: Options, parts: Part[]) {
  const add = <P extends Part>(part: P): P => {
    parts.push(part)
    return part
  }
  const onError = (error: unknown) => log.error({ err: error }, 'job queue error')
  const space = shared.space ?? add(openSpaceGuard({ config, log }))
  const queue = shared.queue ?? add(await openQueue(sql, onError))
  const membership = await joinWorkers(sql, () => queue.reclaimAll(failScans))
  add({ close: membership.leave })
  const sources = shared.sources ?? add(openSources({ config, log }))
  await resumeErase(sql, queue)
  const threads = shared.threads ?? add(openThreads(config, log))
  add(startJobMaintenance({ sql, log, onFailed: failScans }))
  let wakeIndexers = () => {}
  const handlers = createHandlers({
    ...{ sql, config, log, queue, threads, space, sources },
    connection: membership.connection,
    wakeIndexers: () => wakeIndexers(),
  })
  const workers = await startWorkers(
    { sql, queue, log, space },
    handlers,
    concurrencyOf(config, threads.size),
  )
  let watching: Part | null = null
  // Concurrently, so that a part that hangs on a disk does not prevent the others from stopping.
  add({ close: () => Promise.all([watching?.close(), workers.close()]) })
  wakeIndexers = () => workers.wake('index')
  const listening = mountHealth.listen(({ root, seconds }) => {
    if (seconds === null) return
    const resumed = queue.resume(Buffer.from(root, 'latin1')).then(() => workers.wake())
    resumed.catch(error => log.debug({ err: error }, 'jobs of a library were not resumed'))
  })
  add({ close: () => listening[Symbol.dispose]() })
  if (watch) watching = await startWatching({ sql, queue, log, wake: workers.wake })
  return {
    queue,
    /** Whether no other process ran a pipeline when this one started. */
    isFirst: membership.isFirst,
    wake: workers.wake,
    scanEnds: workers.scanEnds,
    isClaiming: workers.isClaiming,
    space,
  }
}

const concurrencyOf = ({ pipeline }: Config, threads: number) => ({
  interactive: Math.max(2, threads),
  scans: pipeline.concurrent_scans,
  background: 1,
  backup: 1,
  erase: 1,
  // Mostly waiting for remote servers.
  releases: 2,
  matching: 2,
  // One more than there are threads: while one batch is stored, the threads read another.
  books: threads + 1,
})

type HandlerDeps = Required<Pick<Options, 'queue' | 'threads' | 'space' | 'sources'>> &
  Pick<Options, 'sql' | 'config' | 'log'> &
  Pick<ScanDeps, 'connection' | 'wakeIndexers'>

const fillsCatalog = ['database'] as const
const fillsCovers = ['database', 'thumbnails'] as const

/** The workers of a group take jobs in this order. */
function createHandlers(deps: HandlerDeps): JobHandlers<keyof ReturnType<typeof concurrencyOf>> {
  const { sql, config, log, queue, threads, space, sources, connection, wakeIndexers } = deps
  const thumbnailOptions = thumbnailOptionsOf(config)
  const context = (control: JobControl): JobContext => ({
    ...{ sql, queue, threads, space, thumbnailOptions, access: fileAccess(config) },
    ...control,
  })
  const scanDeps: ScanDeps = {
    ...{ sql, queue, log, space, connection, wakeIndexers },
    scanning: new Set(),
    ioDepth: config.pipeline.io_depth,
    get access() {
      return fileAccess(config)
    },
    // Read on each use, because the configuration can be reloaded.
    get brakePercent() {
      return config.pipeline.missing_brake_percent
    },
  }
  const scanHandler: JobHandler<'scan' | 'analyze', 'scans'> = {
    group: 'scans',
    fills: fillsCatalog,
    run: (job, { isStopped }) => runScanJob(scanDeps, job, isStopped),
  }
  return {
    coverOnDemand: {
      group: 'interactive',
      fills: fillsCovers,
      run: (job, control) => makeCoverOnDemand(context(control), job),
    },
    analyze: scanHandler,
    scan: scanHandler,
    dedupe: { group: 'background', fills: fillsCatalog, run: createDedupeJob(sql, queue) },
    purge: {
      group: 'background',
      async run({ libraryId }, { isStopped }) {
        await purgeMissing(sql, libraryId, isStopped)
      },
    },
    maintenance: {
      group: 'background',
      async run(_job, { isStopped }) {
        await runMaintenance({ sql, config, log }, isStopped)
        await reindexJobs(sql, queue, isStopped)
      },
    },
    backup: {
      group: 'backup',
      run: (_job, control) => runBackupJob({ sql, config, log }, control),
    },
    match: {
      group: 'matching',
      fills: fillsCovers,
      run: (job, control) =>
        runMatchJob(
          {
            ...{ sql, queue, sources, dataDir: config.data_dir },
            makeCover: original => makeSourceCover(threads, original, thumbnailOptions),
          },
          job,
          control,
        ),
    },
    erase: {
      group: 'erase',
      run: ({ libraryId }, { isStopped }) => eraseLibrary({ sql, queue, isStopped }, libraryId),
    },
    poll: {
      group: 'releases',
      fills: fillsCatalog,
      run: ({ releaseSourceId }, control) =>
        pollReleases({ sql, sources }, releaseSourceId, control),
    },
    index: {
      group: 'books',
      fills: fillsCatalog,
      run: (job, control) => indexBooks(context(control), job),
    },
    cover: {
      group: 'books',
      fills: fillsCovers,
      run: (job, control) => makeCovers(context(control), job),
    },
    hash: {
      group: 'books',
      fills: fillsCatalog,
      run: (job, control) => hashBooks(context(control), job),
    },
  }
}

function thumbnailOptionsOf(config: Config) {
  return {
    folder: join(config.data_dir, 'thumbnails'),
    maxSide: config.thumbnail.max_dimension,
    format: config.thumbnail.format,
    quality: config.thumbnail.quality,
    limits: limitsFromConfig(config.files),
  }
}

/** Threads that read books. */
export function openThreads({ pipeline }: Config, log: Log): ThreadPool {
  return openThreadPool({
    file: programFile('pipeline/index/worker'),
    maxThreads: pipeline.threads,
    timeoutMs: pipeline.book_timeout_seconds * 1000,
    memoryMb: pipeline.book_memory_mb,
    idleMs: 30_000,
    workerData: {
      ioDepth: pipeline.io_depth,
      threads: pipeline.threads || availableParallelism(),
    } satisfies ReadThreadData,
    onBug: error => log.error({ err: error }, 'a thread failed'),
  })
}
