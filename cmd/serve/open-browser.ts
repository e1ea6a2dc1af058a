// `serve --open`: the browser of the desktop.
import { spawn } from 'node:child_process'
import type { Log } from '../../lib/base/log.ts'

/** Returns at once. A failure is only logged: the server may run on a machine without a desktop. */
export function openBrowser(url: string, log: Log) {
  const [command, ...args] = openerOf(url)
  const fail = (reason: string) => log.warn({ command, reason }, 'the browser could not be opened')
  const child = spawn(command, args, { stdio: 'ignore', detached: true })
  child.once('error', error => fail(error.message))
  child.once('exit', code => {
    if (code) fail(`exit code ${code}`)
  })
  // A browser that this starts survives the server.
  child.unref()
}

function openerOf(url: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', url]
  // The first argument in quotes would be the title of a window.
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', url]
  return ['xdg-open', url]
}
