// Shortages of file descriptors, memory or threads in the process or on the machine: temporary, and not
// caused by the file being read.
import { Shortage } from './errors.ts'

const tooManyFiles = 'The server has too many files open; try again later'
const messages = new Map([
  ['EMFILE', tooManyFiles],
  ['ENFILE', tooManyFiles],
  ['ENOMEM', 'The server has too little memory; try again later'],
  ['ERR_WORKER_INIT_FAILED', 'The server cannot start another thread; try again later'],
])

// Module loader errors: without file descriptors, some versions of Node.js report an existing module as
// missing.
const loaderCodes = new Set([
  'ERR_DLOPEN_FAILED',
  'ERR_INVALID_PACKAGE_CONFIG',
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
])

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

/** Whether a system error, possibly from another thread, reports a shortage. */
export const isShortage = (error: unknown): boolean => messages.has(codeOf(error))

/**
 * Whether an error requires replacing the thread: in a shortage, or when one of its modules failed to load.
 */
export const endsThread = (error: unknown): boolean =>
  isShortage(error) || loaderCodes.has(codeOf(error))

/** The failure for an error for which `isShortage` is true. */
export const shortage = (cause: unknown): Shortage =>
  new Shortage(messages.get(codeOf(cause))!, { code: codeOf(cause), cause })

/** The failure of a call whose thread could not start or was replaced for any reason. */
export const threadShortage = (cause: unknown): Shortage =>
  shortage(isShortage(cause) ? cause : { code: 'ERR_WORKER_INIT_FAILED', cause })
