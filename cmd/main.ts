// The command line: the commander program made of the files beside it.
import { Command, CommanderError } from 'commander'
import { Failure } from '../lib/errors.ts'
import { version } from '../lib/version.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { migrateCommand } from './migrate.ts'
import { openapiCommand } from './openapi.ts'
import { queueCommand } from './queue.ts'
import { scanCommand } from './scan.ts'
import { serveCommand } from './serve.ts'
import { userCommand } from './user.ts'
import { workerCommand } from './worker.ts'

const program = new Command('stackroom')
  .description('A digital-library server for comics, manga and ebooks')
  .version(version)
  .addHelpText('after', '\nExit codes: 0 done, 1 some files failed, 2 wrong usage or cannot run.')
for (const command of [
  serveCommand(),
  scanCommand(),
  workerCommand(),
  migrateCommand(),
  userCommand(),
  configCommand(),
  openapiCommand(),
  doctorCommand(),
  queueCommand(),
]) {
  program.addCommand(command)
  for (const c of [command, ...command.commands]) c.exitOverride()
}
program.exitOverride()

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = complain(error)
}

/** Says what is wrong in one line and gives the exit code; a bug shows its stack. */
function complain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Failure) process.stderr.write(`stackroom: ${error.message}\n`)
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return 2
}
