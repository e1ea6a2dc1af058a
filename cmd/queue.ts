// stackroom queue: for when the queue was lost or is broken.
import { Command } from 'commander'
import { kinds } from '../lib/queue/task-kind.ts'
import { type Rebuilt, rebuildQueue } from '../pipeline/work/rebuild.ts'
import { type CommonFlags, commonOptions, withStackroom } from './context.ts'

type Flags = CommonFlags & { json?: boolean }

export function queueCommand(): Command {
  const command = new Command('queue').description('the work that waits')
  commonOptions(command.command('rebuild'))
    .description('drop the queue and make it anew from the catalogue')
    .option('--json', 'print the jobs that wait now as one JSON object')
    .addHelpText(
      'after',
      '\nNothing may work meanwhile. The history of tasks is lost; no work is.\nExit codes: 0 done, 2 cannot run.',
    )
    .action((flags: Flags) =>
      withStackroom(flags, { quiet: true }, async ({ sql, log }) => {
        const rebuilt = await rebuildQueue(sql, error => log.error({ err: error }, 'queue'))
        process.stdout.write(flags.json ? `${JSON.stringify(rebuilt)}\n` : table(rebuilt))
      }),
    )
  return command
}

function table(rebuilt: Rebuilt): string {
  const some = Object.entries(rebuilt).filter(([, count]) => count > 0)
  const lines = some.map(
    ([name, count]) => `${kinds[name as keyof typeof kinds].type.padEnd(20)} ${count}`,
  )
  return `${[...(lines.length > 0 ? lines : ['Nothing is to be done.'])].join('\n')}\n`
}
