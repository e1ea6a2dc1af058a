// `stackroom worker`: the pipeline without the API; any number of workers can share a database.
import { Command } from 'commander'
import { openDatabaseMonitor } from '../lib/store/postgres/monitor.ts'
import { checkReadiness } from '../lib/store/readiness.ts'
import { type CommonFlags, commonOptions } from './context.ts'
import { runService, type Service, startWorkers, stopWorkers } from './lifecycle.ts'

export function workerCommand(): Command {
  return commonOptions(new Command('worker'))
    .description('run background jobs without the API')
    .action((flags: CommonFlags) => runService(flags, {}, work))
}

async function work(service: Service) {
  const { sql, log, space, shutdown, readiness, parts } = service
  const monitor = await parts.add('monitor', openDatabaseMonitor(sql, log))
  const pipeline = await startWorkers(service)
  readiness.check = () =>
    checkReadiness({
      ...{ space, monitor },
      isShuttingDown: shutdown.isRequested(),
      isClaiming: pipeline.isClaiming(),
    })
  log.info('worker started')
  await shutdown.requested
  shutdown.startDeadline()
  await stopWorkers(service, pipeline)
}
