// Terminal of this process, and whether the process survives without it (nohup, redirected streams).
import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

export type Terminal = ReturnType<typeof openTerminal>

/**
 * The terminal at startup. Node resets the signals that `nohup` ignores, so nohup is recognized by its other
 * effect: none of the standard streams is the terminal.
 */
export function openTerminal() {
  const hadTerminal = hasTerminal()
  const isInteractive = [0, 1, 2].some(descriptor => isatty(descriptor))
  const isClosed = () => process.platform === 'win32' || (hadTerminal && !hasTerminal())
  return {
    /** The terminal was closed, and the process should end with it. */
    endsProcess: () => isInteractive && isClosed(),
    /** The terminal was closed, and the process should continue. */
    isLeft: () => !isInteractive && hadTerminal && isClosed(),
  }
}

/** Lets a process that does not use its terminal continue after the terminal is closed. */
export function ignoreHangup() {
  if (![0, 1, 2].some(descriptor => isatty(descriptor))) process.on('SIGHUP', () => {})
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
