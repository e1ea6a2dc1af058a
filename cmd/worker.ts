// stackroom worker: the pipeline without the API; any number of them on one database.
import { Command } from 'commander'
import { startPipeline } from '../pipeline/index.ts'
import { type CommonFlags, commonOptions, untilSignal, withStackroom } from './open.ts'

export function workerCommand(): Command {
  return commonOptions(new Command('worker'))
    .description('run the pipeline without the API')
    .action((flags: CommonFlags) =>
      withStackroom(flags, { quiet: false }, async stackroom => {
        const pipeline = await startPipeline(stackroom)
        stackroom.log.info('worker started')
        await untilSignal()
        await pipeline.close()
      }),
    )
}
