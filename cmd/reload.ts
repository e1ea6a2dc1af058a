// SIGHUP: reads the configuration again while the process goes on.
import { closeSync, openSync } from 'node:fs'
import { reloadConfig } from '../lib/config/config.ts'
import { Failure } from '../lib/errors.ts'
import type { Stackroom } from './context.ts'
import type { Ending } from './shutdown.ts'

/** Until it is disposed of. The same signal also says that the terminal was closed: then it is the end. */
export function reloadOnHangup(stackroom: Stackroom, ending: Ending): Disposable {
  const hadTerminal = hasTerminal()
  const hungUp = () => {
    const isGone = process.platform === 'win32' || (hadTerminal && !hasTerminal())
    if (!isGone) reload(stackroom)
    // A shell and the system may both say so.
    else if (!ending.isAsked()) ending.ask()
  }
  process.on('SIGHUP', hungUp)
  return {
    [Symbol.dispose]: () => void process.off('SIGHUP', hungUp),
  }
}

function reload({ config, log }: Stackroom) {
  try {
    const { changed, waiting } = reloadConfig(config)
    log.level = config.logging.level
    log.info({ changed }, 'configuration reloaded')
    if (waiting.length > 0) log.warn({ keys: waiting }, `needs a restart: ${waiting.join(', ')}`)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    log.error({ reason: error.message }, 'configuration not reloaded, nothing has changed')
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
