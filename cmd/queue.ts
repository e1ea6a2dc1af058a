// `stackroom queue`: lists and recovers the job queue.
import { Command } from 'commander'
import type { Log } from '../lib/base/log.ts'
import { type JobName, jobTypes } from '../lib/store/queue/jobs.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { allTasks } from '../lib/store/queue/task/scope.ts'
import { openTaskStats, type TypeStats } from '../lib/store/queue/task/stats.ts'
import { rebuildQueue, type WaitingJobCounts } from '../pipeline/doctor/rebuild.ts'
import { type CommonFlags, type Context, commonOptions, withContext } from './context.ts'

type Flags = CommonFlags & { json?: boolean }

export function queueCommand(): Command {
  const command = new Command('queue').description('list or rebuild the job queue')
  commonOptions(command.command('list'))
    .description('print the number of queued, running and failed tasks of each type')
    .option('--json', 'print a JSON array')
    .action((flags: Flags) =>
      withContext(flags, { quiet: true, dataDirectory: 'unused' }, context => list(context, flags)),
    )
  commonOptions(command.command('rebuild'))
    .description('delete the job queue and recreate it from the catalog')
    .option('--json', 'print the number of queued jobs as one JSON object')
    .addHelpText(
      'after',
      '\nStop `serve` and `worker` first. The task history is lost, but no pending work.\nExit codes: 0 success, 2 cannot run.',
    )
    .action((flags: Flags) =>
      withContext(flags, { quiet: true }, async ({ sql, log }) => {
        const rebuilt = await rebuildQueue(sql, logError(log))
        process.stdout.write(flags.json ? `${JSON.stringify(rebuilt)}\n` : queuedTable(rebuilt))
      }),
    )
  return command
}

async function list({ sql, log }: Context, { json = false }: Flags): Promise<void> {
  const queue = await openQueue(sql, logError(log))
  try {
    const stats = await openTaskStats(sql).all(allTasks)
    const counts = stats.map(({ type, pending, running, failed }) => ({
      type,
      pending,
      running,
      failed,
    }))
    process.stdout.write(json ? `${JSON.stringify(counts)}\n` : statsTable(counts))
  } finally {
    await queue.close()
  }
}

const logError = (log: Log) => (error: unknown) => log.error({ err: error }, 'job queue error')

type Counts = Pick<TypeStats, 'type' | 'pending' | 'running' | 'failed'>

function statsTable(counts: Counts[]): string {
  const rows = counts.map(({ type, pending, running, failed }) => [type, pending, running, failed])
  return [['', 'queued', 'running', 'failed'], ...rows]
    .map(([name, ...numbers]) =>
      [String(name).padEnd(22), ...numbers.map(number => String(number).padStart(9))].join(''),
    )
    .join('\n')
    .concat('\n')
}

function queuedTable(rebuilt: WaitingJobCounts): string {
  const queued = (Object.entries(rebuilt) as [JobName, number][]).filter(([, count]) => count > 0)
  if (queued.length === 0) return 'The job queue is empty.\n'
  return queued.map(([name, count]) => `${jobTypes[name].task.padEnd(20)} ${count}\n`).join('')
}
