// stackroom worker: the pipeline without the API; any number of them on one database.
import { Command } from 'commander'
import { type CommonFlags, commonOptions } from './context.ts'
import { endWork, startWork, whileRunning } from './lifecycle.ts'

export function workerCommand(): Command {
  return commonOptions(new Command('worker'))
    .description('run the pipeline without the API')
    .action((flags: CommonFlags) =>
      whileRunning(flags, {}, async running => {
        const pipeline = await startWork(running)
        running.log.info('worker started')
        await running.ending.asked
        running.ending.hurry()
        await endWork(running, pipeline)
      }),
    )
}
