// Probe of /health/live in its own thread, so that this process's computing does not count as server delay.
import { Worker } from 'node:worker_threads'

export type Longest = {
  /** The longest answer. */
  wallMs: number
  /** Without what the server and the probe waited for a processor, which other programs occupied. */
  ownMs: number
  count: number
  failed: number
}

export function startProbe(base: string, pid: number) {
  const worker = new Worker(new URL('./probe-thread.ts', import.meta.url), {
    workerData: { base, pid },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Longest>()
  worker.once('message', resolve)
  worker.once('error', reject)
  return {
    async stop(): Promise<Longest> {
      worker.postMessage('stop')
      return await promise.finally(() => worker.terminate())
    },
  }
}
