// Client of the API in this process: requests one after another, and the statements that they send.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Sql } from '../../lib/store/postgres/db.ts'

export type GridRequest = { path: string; body?: object | undefined }
export type Statement = { text: string; values: unknown[] }
export type Received = { status: number; text: string; ms: number }

/** Records the statements of the pool and of the pools made from it. */
export function recordStatements(sql: Sql) {
  let sent: Statement[] = []
  sql.options.debug = (_: number, text: string, values: unknown[]) => sent.push({ text, values })
  return () => {
    const statements = sent
    sent = []
    return statements
  }
}

export function openClient(base: string) {
  const thread = new Worker(new URL('./client-thread.ts', import.meta.url), { workerData: base })
  return {
    close: () => thread.terminate(),
    /** GET, or POST with a body. To be called for one request at a time. */
    async send(request: GridRequest, key: string): Promise<Received> {
      thread.postMessage({ request, key })
      const [{ received, error }] = await once(thread, 'message')
      if (error) throw error
      return received
    },
  }
}
