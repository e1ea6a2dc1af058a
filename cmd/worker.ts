// `stackroom worker`: the pipeline without the API; any number of workers can share a database.
import { Command } from 'commander'
import { openDatabaseMonitor } from '../lib/postgres/monitor.ts'
import { checkReadiness } from '../lib/readiness.ts'
import { type CommonFlags, commonOptions } from './context.ts'
import { runService, startWorkers, stopWorkers } from './lifecycle.ts'

export function workerCommand(): Command {
  return commonOptions(new Command('worker'))
    .description('run background jobs without the API')
    .action((flags: CommonFlags) =>
      runService(flags, {}, async service => {
        const monitor = await openDatabaseMonitor(service.sql, service.log)
        const pipeline = await startWorkers(service)
        service.readiness.check = () =>
          checkReadiness({
            ...{ sql: service.sql, space: service.space, monitor },
            isShuttingDown: service.shutdown.isRequested(),
            isClaiming: pipeline.isClaiming(),
          })
        service.log.info('worker started')
        await service.shutdown.requested
        service.shutdown.startDeadline()
        await stopWorkers(service, pipeline)
        await monitor.close()
      }),
    )
}
