// Client of the API in this process: requests over one connection, and the statements that they send.
import { Agent, request } from 'node:http'
import type { Sql } from '../../lib/postgres/db.ts'

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
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    close: () => agent.destroy(),
    /** GET, or POST with a body. */
    send({ path, body }: GridRequest, key: string): Promise<Received> {
      const payload = body === undefined ? null : JSON.stringify(body)
      return new Promise((resolve, reject) => {
        const started = performance.now()
        const options = {
          agent,
          method: payload === null ? 'GET' : 'POST',
          headers: {
            'x-api-key': key,
            ...(payload === null ? {} : { 'content-type': 'application/json' }),
          },
        }
        const outgoing = request(`${base}/api/v1${path}`, options, response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const ms = performance.now() - started
            resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString(), ms })
          })
        })
        outgoing.on('error', reject)
        outgoing.end(payload ?? undefined)
      })
    },
  }
}
