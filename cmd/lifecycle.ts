// Lifecycle shared by `serve` and `worker`: job queue, scheduler, metrics server, SIGHUP, shutdown.
import { openSources } from '../lib/catalog/source/open.ts'
import { pruneEvents } from '../lib/event/prune.ts'
import type { Log } from '../lib/log.ts'
import { openMetricsServer } from '../lib/metrics/server.ts'
import { cacheHealth, mountHealth } from '../lib/mount/mount-health.ts'
import { pathText } from '../lib/path.ts'
import { openQueue, type Queue } from '../lib/queue/queue.ts'
import type { Readiness } from '../lib/readiness.ts'
import { scanOnStart } from '../lib/schedule/scan.ts'
import { startScheduler } from '../lib/schedule/scheduler.ts'
import type { Sources } from '../lib/source/open.ts'
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts'
import { type CommonFlags, type Context, withContext } from './context.ts'
import { watchParent } from './parent.ts'
import { reloadOnHangup } from './reload.ts'
import { collectAtRest } from './rest.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import { openTerminal } from './terminal.ts'

export type Service = Context & {
  queue: Queue
  sources: Sources
  shutdown: Shutdown
  /** Of the metrics server; `check` is set when the start is complete. */
  readiness: { check: (() => Promise<Readiness>) | null }
}

/** Runs `work` with all parts open, and closes them afterwards in reverse order. */
export async function runService(
  flags: CommonFlags & { library?: string[] },
  settings: Record<string, unknown>,
  work: (service: Service) => Promise<void>,
) {
  const shutdown = await withContext(
    flags,
    { quiet: false, settings, libraries: flags.library },
    async context => {
      // Not earlier: a signal during the start and migration of the database ends the process (cmd/signals.ts).
      const shutdown = createShutdown()
      await withParts(context, shutdown, work)
      return shutdown
    },
  )
  shutdown.exit()
}

async function withParts(
  context: Context,
  shutdown: Shutdown,
  work: (service: Service) => Promise<void>,
) {
  const { sql, log, config, space } = context
  await using stack = new AsyncDisposableStack()
  const closeLater = (part: string, open: { close(): Promise<unknown> }) =>
    stack.defer(() => shutdown.closeWithin(part, { ms: 1_000, log }, () => open.close()))
  const queue = await openQueue(sql, error => log.error({ err: error }, 'job queue error'))
  closeLater('queue', queue)
  const sources = openSources({ config, log })
  closeLater('sources', sources)
  const readiness: Service['readiness'] = { check: null }
  if (config.metrics.bind) {
    const { bind } = config.metrics
    closeLater(
      'metrics',
      await openMetricsServer(bind, { sql, log, space, readiness, dataDir: config.data_dir }),
    )
  }
  const everyMinute = () => pruneEvents(sql)
  closeLater('scheduler', await startScheduler({ sql, queue, log, everyMinute }))
  stack.use(logHungFolders(log))
  stack.use(collectAtRest())
  const terminal = openTerminal()
  stack.use(reloadOnHangup(context, { shutdown, terminal }))
  stack.use(watchParent({ shutdown, log, terminal }))
  await work({ ...context, queue, sources, shutdown, readiness })
}

/** One line when a folder of a library or of a cache begins to hang, and one when it responds again. */
function logHungFolders(log: Log): Disposable {
  const stack = new DisposableStack()
  for (const [health, kind] of [
    [mountHealth, 'library'],
    [cacheHealth, 'cache'],
  ] as const)
    stack.use(
      health.listen(({ root, seconds }) => {
        const folder = pathText(Buffer.from(root, 'latin1'))
        if (seconds === null) log.warn({ folder }, `a ${kind} folder does not respond`)
        else log.info({ folder, seconds: Math.round(seconds) }, `a ${kind} folder responds again`)
      }),
    )
  stack.use(
    mountHealth.listenFolders((folder, isHung) => {
      const place = { folder: pathText(Buffer.from(folder, 'latin1')) }
      if (isHung) log.warn(place, 'a folder in a library does not respond')
      else log.info(place, 'a folder in a library responds again')
    }),
  )
  return stack
}

/** Starts the pipeline; the first working process also scans the libraries configured to scan on start. */
export async function startWorkers(service: Service): Promise<Pipeline> {
  const { sql, queue, config, log, space, sources } = service
  const pipeline = await startPipeline({ sql, queue, config, log, space, sources })
  if (pipeline.isFirst) {
    await scanOnStart(sql, queue)
    pipeline.wake()
  }
  return pipeline
}

/** Lets running jobs stop at their next safe point; unfinished ones are retried by another process. */
export async function stopWorkers({ shutdown, log }: Service, pipeline: Pipeline | null) {
  await shutdown.closeWithin('pipeline', { ms: 12_000, log }, () => pipeline?.close())
}
