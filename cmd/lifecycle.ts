// What every process that stays has, whether it serves, works or both: the queue, the schedules, its
// metrics on an address of their own; and how it ends.
import { pruneEvents } from '../lib/event/prune.ts'
import { openMetricsServer } from '../lib/metrics/server.ts'
import { openQueue, type Queue } from '../lib/queue/queue.ts'
import { scanOnStart } from '../lib/schedule/scan.ts'
import { startScheduler } from '../lib/schedule/scheduler.ts'
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts'
import { type CommonFlags, type Stackroom, withStackroom } from './context.ts'
import { reloadOnHangup } from './reload.ts'
import { type Ending, openEnding } from './shutdown.ts'

export type Running = Stackroom & { queue: Queue; ending: Ending }

/** Runs `work` with all of it, and closes it afterwards in the opposite order. */
export async function whileRunning(
  flags: CommonFlags,
  settings: Record<string, unknown>,
  work: (running: Running) => Promise<void>,
) {
  const ending = await withStackroom(flags, { quiet: false, settings }, async stackroom => {
    // Not before: while the database is opened and migrated a signal ends the process as usual.
    const ending = openEnding()
    await withQueue(stackroom, ending, work)
    return ending
  })
  ending.leave()
}

async function withQueue(
  stackroom: Stackroom,
  ending: Ending,
  work: (running: Running) => Promise<void>,
) {
  const { sql, log, config } = stackroom
  await using stack = new AsyncDisposableStack()
  const closeLater = (part: string, open: { close(): Promise<unknown> }) =>
    stack.defer(() => ending.inTime(part, { ms: 1_000, log }, () => open.close()))
  const queue = await openQueue(sql, error => log.error({ err: error }, 'queue'))
  closeLater('queue', queue)
  if (config.metrics.bind) {
    const { bind } = config.metrics
    closeLater('metrics', await openMetricsServer(bind, { sql, log, dataDir: config.data_dir }))
  }
  const everyMinute = () => pruneEvents(sql)
  closeLater('scheduler', await startScheduler({ sql, queue, log, everyMinute }))
  stack.use(reloadOnHangup(stackroom, ending))
  await work({ ...stackroom, queue, ending })
}

/** The pipeline; if no other process works, libraries that ask for a scan at the start get it. */
export async function startWork({ sql, queue, config, log }: Running): Promise<Pipeline> {
  const pipeline = await startPipeline({ sql, queue, config, log })
  if (pipeline.isFirst) {
    await scanOnStart(sql, queue)
    pipeline.wake()
  }
  return pipeline
}

/** Lets the work at hand end at its next safe point; what does not is done again elsewhere. */
export async function endWork({ ending, log }: Running, pipeline: Pipeline | null) {
  await ending.inTime('pipeline', { ms: 12_000, log }, () => pipeline?.close())
}
