// Client thread of the overload bench: connections that repeat requests until they are stopped.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

type Request = { path: string; method?: string; body?: object; leaveAfterMs?: number }
type Sample = { path: string; ms: number; status: number }

const { base, key, requests, connections, pauseMs } = workerData as {
  base: string
  key: string
  requests: Request[]
  connections: number
  pauseMs: number
}
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const samples: Sample[] = []
let isStopped = false
parentPort!.on('message', () => {
  isStopped = true
  parentPort!.postMessage(samples)
})
const bodies = requests.map(({ body }) => (body ? JSON.stringify(body) : null))

for (let i = 0; i < connections; i++) void repeat(i)

async function repeat(first: number) {
  for (let i = first; !isStopped; i++) {
    const index = i % requests.length
    const started = performance.now()
    const status = await send(requests[index]!, bodies[index]!)
    samples.push({ path: requests[index]!.path, ms: performance.now() - started, status })
    // A client that is refused tries again soon: a patient one would be no attack.
    await sleep(status === 429 ? Math.max(pauseMs, 50) : pauseMs)
  }
}

/** The status; 0 when the client left before the response. */
function send({ path, method, leaveAfterMs }: Request, body: string | null): Promise<number> {
  return new Promise(resolve => {
    const headers = {
      ...(key ? { 'x-api-key': key } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const outgoing = request(base + path, {
      agent,
      headers,
      method: method ?? (body ? 'POST' : 'GET'),
    })
    outgoing.on('response', response => {
      response.on('data', () => {})
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    outgoing.on('error', () => resolve(0))
    if (leaveAfterMs) setTimeout(() => outgoing.destroy(), leaveAfterMs)
    outgoing.end(body ?? undefined)
  })
}
