// Server processes of a bench, started as installed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export type ServerProcess = { child: ChildProcess; base: string }

/** `stackroom serve` on any free port, without rate limits. */
export function startStackroom(flags: string[], env: NodeJS.ProcessEnv = {}) {
  const args = [join('cmd', 'stackroom.mjs'), 'serve', '--port', '0', ...flags]
  return startServer(args, { STACKROOM_RATE_LIMIT__ENABLED: 'false', ...env })
}

/** Starts a program of this repository that prints its URL; `base` has no slash at the end. */
export async function startServer(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  return await new Promise((resolve, reject) => {
    // Not an iterator: leaving it would close the pipe.
    child.stdout.on('data', chunk => {
      if (output.length < 10_000) output += chunk
      const [url] = /http:\/\/[^\s"]+(?=[\s"])/.exec(output) ?? []
      if (url) resolve({ child, base: url.replace(/\/$/, '') })
    })
    child.on('close', () => reject(new Error(`${args[0]} did not start`)))
  })
}

/** Sends SIGTERM and waits until the process has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
