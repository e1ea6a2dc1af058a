// Thread of the grid's client: sends one request at a time over one connection and measures it, so that reading what is
// received takes no time from the server in the main thread.
import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import type { GridRequest, Received } from './client.ts'

const base = workerData as string
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

parentPort!.on('message', async (message: { request: GridRequest; key: string }) => {
  try {
    parentPort!.postMessage({ received: await send(message.request, message.key) })
  } catch (error) {
    parentPort!.postMessage({ error })
  }
})

function send({ path, body }: GridRequest, key: string): Promise<Received> {
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
}
