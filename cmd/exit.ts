// Process exit: the message and exit code for an error, and an exit that waits for nothing.
import { constants } from 'node:os'
import { CommanderError } from 'commander'
import { Failure, isShortage, shortage } from '../lib/base/errors.ts'
import { hasBlockedThreads } from '../lib/store/mount/mount-health.ts'
import { isConnectionLost } from '../lib/store/postgres/connection-error.ts'

/** A signal ended startup, or a command without an orderly shutdown. */
export class Terminated extends Error {
  readonly signal: NodeJS.Signals
  constructor(signal: NodeJS.Signals) {
    super(`Terminated by ${signal}`)
    this.signal = signal
  }
}

/** The exit code that shells report for termination by a signal. */
export const signalCode = (name: NodeJS.Signals) => 128 + (constants.signals[name] ?? 0)

const tooManyConnections = '53300'

const reported = new WeakSet<object>()

/** Prints an expected error in one line, or a bug with its stack, once, and sets the exit code. */
export function report(error: unknown): void {
  process.exitCode = exitCodeOf(error)
  if (error instanceof CommanderError || error instanceof Terminated) return
  if (typeof error === 'object' && error !== null) {
    if (reported.has(error)) return
    reported.add(error)
  }
  const message = expectedMessage(error)
  const text = message === null ? stackOf(error) : `stackroom: ${message}`
  process.stderr.write(`${text}\n`)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Terminated) return signalCode(error.signal)
  return 2
}

/** One sentence for a problem that an operator can correct; null for a bug. */
function expectedMessage(error: unknown): string | null {
  if (error instanceof Failure) return error.message
  if (isShortage(error)) return shortage(error).message
  if (!(error instanceof Error)) return null
  const { code, syscall, path, severity } = error as NodeJS.ErrnoException & { severity?: string }
  if (severity !== undefined) {
    const remedy =
      code === tooManyConnections ? '; raise it, or lower database.max_connections' : ''
    return `The database reports: ${error.message} (${code})${remedy}`
  }
  if (isConnectionLost(error))
    return `The connection to the database was lost (${code}); check that its server is running, and see its log`
  if (syscall !== undefined) return `${path ?? syscall}: ${error.message}`
  return null
}

/** A message for programs, which have no use for the stack of a bug. */
export const failureMessage = (error: unknown): string => expectedMessage(error) ?? String(error)

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error))

/**
 * Exits without waiting for threads by replacing the process with one that has none; if that is not possible,
 * kills it if a thread may be blocked.
 */
export function exitNow(code: number): never {
  if (process.execve && process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, '--eval', `process.exit(${code})`])
  if (hasBlockedThreads()) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
