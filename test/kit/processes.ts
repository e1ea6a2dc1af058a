// Processes of one installation: they serve, work, are told to end, and are asked over HTTP.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { newKey } from '../../lib/auth/api-key.ts'
import { permissionsOfRole } from '../../lib/auth/permission.ts'
import { newId } from '../../lib/id.ts'
import { commandLine } from './command.ts'

export type Process = Awaited<ReturnType<Awaited<ReturnType<typeof processes>>['serve']>>

/** `serve` and `worker` begin a process and wait until it is there; all end with the test. */
export async function processes(t: Test) {
  const { sql, start } = await commandLine(t)

  async function begin(args: string[], isThere: RegExp) {
    const child = start(args)
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', chunk => {
        said[name] += chunk
      })
    const began = Date.now()
    const ended = once(child, 'close').then(([code]) => code as number | null)
    t.teardown(() => child.kill('SIGKILL'))
    await until(() => isThere.test(said.stdout + said.stderr) || child.exitCode !== null)
    if (child.exitCode !== null) throw new Error(said.stderr)
    const base = /listens on (\S+)/.exec(said.stdout)?.[1] ?? ''
    return {
      child,
      said,
      base,
      ended,
      startMs: Date.now() - began,
      /** Ends it with SIGTERM: the exit code, and how long that took. */
      async end() {
        const at = Date.now()
        child.kill('SIGTERM')
        return { code: await ended, ms: Date.now() - at }
      },
    }
  }

  return {
    sql,
    serve: (...args: string[]) => begin(['serve', '--port', '0', ...args], /listens on/),
    worker: (...args: string[]) => begin(['worker', ...args], /worker started/),
    /** Headers of an administrator. */
    async admin() {
      const id = newId()
      await sql`
        insert into account (id, username, email, password_hash, role)
        values (${id}, ${`admin ${id}`}, ${`${id}@example.org`}, '-', 'admin')`
      const { key, prefix, digest } = newKey()
      await sql`
        insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
        values (${newId()}, ${id}, 'test', ${prefix}, ${digest}, ${[...permissionsOfRole.admin]})`
      return { 'x-api-key': key }
    },
  }
}

/** Looks every few milliseconds, for half a minute at most. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (await holds()) return
    await sleep(20)
  }
  throw new Error('it does not come')
}
