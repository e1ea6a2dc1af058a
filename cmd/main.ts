// Command line entry point: the commander program and its exit codes.
import { Command, CommanderError } from 'commander'
import { Failure } from '../lib/errors.ts'
import { hasBlockedThreads } from '../lib/mount/mount-health.ts'
import { version } from '../lib/version.ts'
import { exitNow } from './shutdown.ts'
import { ignoreHangup } from './terminal.ts'

// Loaded by name: all of them together take twice as long to load as most commands need to run.
const commands = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./serve.ts')).serveCommand()],
  ['scan', async () => (await import('./scan.ts')).scanCommand()],
  ['worker', async () => (await import('./worker.ts')).workerCommand()],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['user', async () => (await import('./user.ts')).userCommand()],
  ['config', async () => (await import('./config.ts')).configCommand()],
  ['openapi', async () => (await import('./openapi.ts')).openapiCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['queue', async () => (await import('./queue.ts')).queueCommand()],
])
const named = commands.get(process.argv[2] ?? '')

// A reader such as `head` has all it wants: no error. What runs for longer has its own handler.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

const program = new Command('stackroom')
  .description('A self-hosted library server for comics, manga and ebooks')
  .version(version)
  .addHelpText('after', '\nExit codes: 0 success, 1 some files failed, 2 usage or startup error.')
// Help and unknown commands need them all.
for (const load of named ? [named] : commands.values()) {
  const command = await load()
  program.addCommand(command)
  for (const c of [command, ...command.commands]) c.exitOverride()
}
program.exitOverride()
ignoreHangup()

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}
// A call on a disk that does not respond would keep the process.
if (hasBlockedThreads()) exitNow(Number(process.exitCode ?? 0))

/** Prints a failure in one line, a bug with its stack, and returns the exit code. */
function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Failure) process.stderr.write(`stackroom: ${error.message}\n`)
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return 2
}
