// Command line entry point: the commander program and its exit codes.
import { Command } from 'commander'
import { version } from '../lib/base/version.ts'
import { hasBlockedThreads } from '../lib/store/mount/mount-health.ts'
import { exitNow, report, Terminated } from './exit.ts'
import { ignoreHangup } from './terminal.ts'

// Loaded by name: loading all of them takes twice as long as running most commands.
const commands = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./serve.ts')).serveCommand()],
  ['scan', async () => (await import('./scan.ts')).scanCommand()],
  ['worker', async () => (await import('./worker.ts')).workerCommand()],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['backup', async () => (await import('./backup.ts')).backupCommand()],
  ['restore', async () => (await import('./backup.ts')).restoreCommand()],
  ['user', async () => (await import('./user.ts')).userCommand()],
  ['library', async () => (await import('./library.ts')).libraryCommand()],
  ['config', async () => (await import('./config.ts')).configCommand()],
  ['openapi', async () => (await import('./openapi.ts')).openapiCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['secrets', async () => (await import('./secrets.ts')).secretsCommand()],
  ['queue', async () => (await import('./queue.ts')).queueCommand()],
])
const named = commands.get(process.argv[2] ?? '')

// A reader such as `head` has all it wants. The starter of a service may have stopped reading, or be out of
// space.
const isService = ['serve', 'worker'].includes(process.argv[2] ?? '')
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (isService || error.code === 'EPIPE') return
    report(error)
    exitNow(2)
  })

const program = new Command('stackroom')
  .description('A self-hosted library server for comics, manga and ebooks')
  .version(version)
  .addHelpText(
    'after',
    '\nExit codes: 0 success, 1 some files or folders failed, 2 usage or startup error.',
  )
// Help and unknown commands need all of them.
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
  report(error)
  if (error instanceof Terminated) endBy(error.signal)
  // A command that failed halfway may have left something open.
  setTimeout(() => exitNow(Number(process.exitCode)), 500).unref()
}
// A call on an unresponsive disk would prevent the process from exiting.
if (hasBlockedThreads()) exitNow(Number(process.exitCode ?? 0))

/** Service managers distinguish termination by a signal from a failure. */
function endBy(signal: NodeJS.Signals) {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
