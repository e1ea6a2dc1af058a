// Configuration reload on SIGHUP while the process keeps running.
import { closeSync, openSync } from 'node:fs'
import { reloadConfig } from '../lib/config/config.ts'
import { Failure } from '../lib/errors.ts'
import type { Context } from './context.ts'
import type { Shutdown } from './shutdown.ts'

/** Reloads until disposed. A SIGHUP because the terminal was closed requests the shutdown instead. */
export function reloadOnHangup(context: Context, shutdown: Shutdown): Disposable {
  const hadTerminal = hasTerminal()
  const onHangup = () => {
    const isTerminalClosed = process.platform === 'win32' || (hadTerminal && !hasTerminal())
    if (!isTerminalClosed) reload(context)
    // The shell and the kernel may both send the signal.
    else if (!shutdown.isRequested()) shutdown.request()
  }
  process.on('SIGHUP', onHangup)
  return {
    [Symbol.dispose]: () => void process.off('SIGHUP', onHangup),
  }
}

function reload({ config, log }: Context) {
  try {
    const { changed, restartRequired } = reloadConfig(config)
    log.level = config.logging.level
    log.info({ changed }, 'configuration reloaded')
    if (restartRequired.length > 0) log.warn({ keys: restartRequired }, 'restart required')
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    log.error({ reason: error.message }, 'configuration not reloaded')
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
