// End of the parent process: an `npm start` or `npx` stopped by a signal may leave the server behind.
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../lib/base/log.ts'
import { packageFolder } from '../lib/base/package.ts'
import type { Shutdown } from './shutdown.ts'
import type { Terminal } from './terminal.ts'

const pollMs = 500
const packageFile = join(packageFolder, 'package.json')

/**
 * Requests shutdown when the parent process ends, but only if the parent stands in for this process: npx, npm
 * running a script of this package, or the launcher. A service manager, a shell or `nohup` may end at any
 * time without affecting the server, and npm under `nohup` ends with the terminal.
 */
export function watchParent(
  {
    shutdown,
    log,
    terminal,
  }: { shutdown: Shutdown; log: Pick<Log, 'info'>; terminal: Pick<Terminal, 'isLeft'> },
  env = process.env,
): Disposable {
  const parent = process.ppid
  if (!isLauncher(parent, env) && !isOwnScript(env)) return { [Symbol.dispose]() {} }
  const timer = setInterval(() => {
    // An orphan gets another parent.
    if (process.ppid === parent || shutdown.isRequested()) return
    if (terminal.isLeft()) return clearInterval(timer)
    log.info('the process that started the server has ended')
    shutdown.request()
  }, pollMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const isLauncher = (pid: number, env: NodeJS.ProcessEnv) =>
  env._STACKROOM_LAUNCHER_PID === String(pid)

/** npx, or a script of this package; other packages' scripts may start a server in the background and end. */
function isOwnScript(env: NodeJS.ProcessEnv): boolean {
  if (env.npm_lifecycle_event === 'npx') return true
  if (env.npm_lifecycle_event === undefined || !env.npm_package_json) return false
  try {
    return realpathSync(env.npm_package_json) === realpathSync(packageFile)
  } catch {
    return false
  }
}
