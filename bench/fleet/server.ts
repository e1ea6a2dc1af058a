// Stackroom processes on one database: start, kill, readiness check.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/kit/ports.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

export type Member = Awaited<ReturnType<typeof member>>

/** A process that can be started again with the same arguments; `port` is null for a worker. */
export async function member(kind: 'serve' | 'worker', args: string[]) {
  const port = kind === 'serve' ? await freePort() : null
  let child: ChildProcess | null = null
  const own = port === null ? [] : ['--no-workers', '--port', String(port)]
  return {
    base: `http://127.0.0.1:${port}`,
    start() {
      child = spawn(process.execPath, [launcher, kind, ...own, ...args], {
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          STACKROOM_RATE_LIMIT__ENABLED: 'false',
          STACKROOM_APPLICATION__DRAIN_SECONDS: '2',
          STACKROOM_LOGGING__LEVEL: 'warn',
        },
        stdio: ['ignore', 'ignore', 'inherit'],
        // The launcher has a child on an old Node, and both must get the signal.
        detached: true,
      })
    },
    async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
      if (!child || child.exitCode !== null || child.signalCode !== null) return null
      const exited = once(child, 'exit')
      process.kill(signal === 'SIGKILL' ? -child.pid! : child.pid!, signal)
      const [code] = await exited
      return code
    },
    async isReady(): Promise<boolean> {
      const response = fetch(`http://127.0.0.1:${port}/health/ready`, {
        signal: AbortSignal.timeout(1_000),
      })
      return await response.then(
        ({ ok }) => ok,
        () => false,
      )
    },
    async waitUntilReady() {
      while (!(await this.isReady())) await sleep(100)
    },
  }
}
