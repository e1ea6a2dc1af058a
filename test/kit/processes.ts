// Child processes of one installation: servers and workers, started, requested over HTTP, terminated.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { adminHeaders } from './accounts.ts'
import { commandLine } from './command.ts'

export type Process = Awaited<ReturnType<Awaited<ReturnType<typeof processes>>['serve']>>

/** `serve` and `worker` start a process and wait until it is ready; all are killed at the end of `t`. */
export async function processes(t: Test, variables: Record<string, string> = {}, data?: string) {
  const { sql, start, stackroom } = await commandLine(t, variables, data)

  async function startProcess(args: string[], readyMessage: RegExp) {
    const child = start(args)
    const output = { stdout: '', stderr: '' }
    const began = Date.now()
    const ready = new Promise<void>(resolve => {
      for (const name of ['stdout', 'stderr'] as const)
        child[name].on('data', chunk => {
          output[name] += chunk
          if (readyMessage.test(output.stdout + output.stderr)) resolve()
        })
    })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    t.teardown(() => child.kill('SIGKILL'))
    await Promise.race([ready, ended])
    if (child.exitCode !== null) throw new Error(output.stderr)
    return {
      child,
      output,
      /** URL of a server. */
      base: /listening on (\S+)/.exec(output.stdout)?.[1] ?? '',
      /** The exit code. */
      ended,
      startMs: Date.now() - began,
      /** Sends SIGTERM and waits; returns the exit code and the duration. */
      async terminate() {
        const sentAt = Date.now()
        child.kill('SIGTERM')
        return { code: await ended, ms: Date.now() - sentAt }
      },
    }
  }

  return {
    sql,
    stackroom,
    serve: (...args: string[]) =>
      startProcess(['serve', '--port', '0', ...args], /listening on (\S+)\n/),
    worker: (...args: string[]) => startProcess(['worker', ...args], /worker started/),
    /** Request headers of a new administrator. */
    admin: () => adminHeaders(sql),
  }
}

/** Polls a condition every 20 ms; throws after `seconds`. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, seconds = 120) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (await condition()) return
    await sleep(20)
  }
  throw new Error(`The condition is not met after ${seconds} s`)
}
