// Lifecycle shared by `serve` and `worker`: job queue, scheduler, metrics server, SIGHUP, shutdown.
import { setTimeout as sleep } from 'node:timers/promises'
import { isShortage } from '../lib/base/errors.ts'
import type { Log } from '../lib/base/log.ts'
import { pathText } from '../lib/base/path.ts'
import type { Sources } from '../lib/sources/open.ts'
import { openSources } from '../lib/sources/stored/open.ts'
import { pruneEvents } from '../lib/store/event/prune.ts'
import { openMetricsServer } from '../lib/store/metrics/server.ts'
import { cacheHealth, mountHealth } from '../lib/store/mount/mount-health.ts'
import { isConnectionLost, isDiskFull } from '../lib/store/postgres/connection-error.ts'
import { openQueue, type Queue } from '../lib/store/queue/queue.ts'
import type { Readiness } from '../lib/store/readiness.ts'
import { scanOnStart } from '../lib/store/schedule/scan.ts'
import { startScheduler } from '../lib/store/schedule/scheduler.ts'
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts'
import { type CommonFlags, type Context, withContext } from './context.ts'
import { watchParent } from './parent.ts'
import { reloadOnHangup } from './reload.ts'
import { openTerminal } from './terminal.ts'

const retryMs = 1_000

export type Service = Context & {
  parts: Parts
  queue: Queue
  sources: Sources
  /** Answers health checks of the metrics server; `check` is set once startup is complete. */
  readiness: { check: (() => Promise<Readiness>) | null }
}

/** Runs `work` with all parts open, and closes them afterwards in reverse order. */
export async function runService(
  flags: CommonFlags & { library?: string[] },
  settings: Record<string, unknown>,
  work: (service: Service) => Promise<void>,
) {
  const options = { quiet: false, settings, libraries: flags.library, endsItself: true }
  const shutdown = await withContext(flags, options, async context => {
    const parts = openParts(context)
    try {
      await work(await openService(context, parts))
    } catch (error) {
      context.shutdown.fail(error)
      throw error
    } finally {
      await parts.close()
    }
    return context.shutdown
  })
  shutdown.exit()
}

type Parts = ReturnType<typeof openParts>

/** Open parts, closed in reverse order; each has a second to close. */
function openParts({ shutdown, log }: Context) {
  const open: (() => unknown)[] = []
  return {
    /** Waits for a part to open, unless a signal interrupts startup. */
    async add<T extends { close(): unknown }>(name: string, opening: Promise<T>): Promise<T> {
      const part = await shutdown.unlessRequested(opening, late => late.close())
      open.push(() => shutdown.closeWithin(name, { ms: 1_000, log }, () => part.close()))
      return part
    },
    use: (disposable: Disposable) => void open.push(() => disposable[Symbol.dispose]()),
    async close() {
      for (const close of open.reverse()) await close()
    },
  }
}

async function openService(context: Context, parts: Parts): Promise<Service> {
  const { sql, log, config, space, shutdown } = context
  const onError = (error: unknown) => log.error({ err: error }, 'job queue error')
  const queue = await parts.add('queue', openQueue(sql, onError))
  const sources = await parts.add('sources', Promise.resolve(openSources({ config, log })))
  const readiness: Service['readiness'] = { check: null }
  const { bind } = config.metrics
  if (bind) {
    const deps = { sql, log, space, readiness, dataDir: config.data_dir }
    await parts.add('metrics', openMetricsServer(bind, deps))
  }
  const everyMinute = () => pruneEvents(sql)
  await parts.add('scheduler', startScheduler({ sql, queue, log, everyMinute }))
  parts.use(logHungFolders(log))
  const terminal = openTerminal()
  parts.use(reloadOnHangup(context, { shutdown, terminal }))
  parts.use(watchParent({ shutdown, log, terminal }))
  return { ...context, parts, queue, sources, readiness }
}

/** Logs one line when a library or cache folder starts to hang, and one when it responds again. */
function logHungFolders(log: Log): Disposable {
  const place = (folder: string) => ({ folder: pathText(Buffer.from(folder, 'latin1')) })
  const logHealth = (kind: string) => (change: { root: string; seconds: number | null }) => {
    const { root, seconds } = change
    if (seconds === null) log.warn(place(root), `a ${kind} folder does not respond`)
    else
      log.info({ ...place(root), seconds: Math.round(seconds) }, `a ${kind} folder responds again`)
  }
  const listening = [
    mountHealth.listen(logHealth('library')),
    cacheHealth.listen(logHealth('cache')),
    mountHealth.listenFolders((folder, isHung) => {
      if (isHung) log.warn(place(folder), 'a folder in a library does not respond')
      else log.info(place(folder), 'a folder in a library responds again')
    }),
  ]
  return {
    [Symbol.dispose]: () => {
      for (const listener of listening) listener[Symbol.dispose]()
    },
  }
}

/**
 * Starts the pipeline; the first process with workers also scans the libraries configured to scan on start.
 */
export async function startWorkers(service: Service): Promise<Pipeline> {
  const { sql, queue, config, log, space, sources, shutdown } = service
  const starting = startPipeline({ sql, queue, config, log, space, sources })
  const pipeline = await shutdown.unlessRequested(starting, late => late.close())
  if (pipeline.isFirst) {
    await whenPossible(service, () => scanOnStart(sql, queue))
    pipeline.wake()
  }
  return pipeline
}

/**
 * Repeats `work` while the database is lost or out of space, or descriptors are short; null once shutdown is
 * requested.
 */
export async function whenPossible<T>({ shutdown, space }: Context, work: () => Promise<T>) {
  while (!shutdown.isRequested()) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionLost(error) && !isDiskFull(error) && !isShortage(error)) throw error
      await Promise.race([sleep(retryMs), shutdown.requested])
      await space.whenEnough(['database'], shutdown.isRequested)
    }
  }
  return null
}

/** Lets running jobs stop at their next safe point; another process will retry unfinished ones. */
export async function stopWorkers({ shutdown, log }: Service, pipeline: Pipeline | null) {
  await shutdown.closeWithin('pipeline', { ms: 12_000, log }, () => pipeline?.close())
}
