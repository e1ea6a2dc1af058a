// Configuration reload on SIGHUP while the process is running.

import { Failure } from '../lib/base/errors.ts'
import { reloadConfig } from '../lib/store/config/config.ts'
import type { Context } from './context.ts'
import type { Shutdown } from './shutdown.ts'
import type { Terminal } from './terminal.ts'

/**
 * Reloads until disposed. If SIGHUP came from closing the terminal, it requests shutdown instead, or does
 * nothing if the process does not use the terminal.
 */
export function reloadOnHangup(
  context: Context,
  { shutdown, terminal }: { shutdown: Shutdown; terminal: Terminal },
): Disposable {
  const onHangup = () => {
    if (terminal.endsProcess()) shutdown.request()
    else if (terminal.isLeft()) context.log.info('the terminal was closed; the server continues')
    else reload(context)
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
