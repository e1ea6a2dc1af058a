// Overload by one account: 15 connections send the most expensive lists while other clients probe the
// server. Latency of /health and of another reader's list, and the delay of the event loop, per kind of
// request. A heavy list is answered or refused with 429, a big invalid body with 400 or 413; the others must not notice it.
// npm run bench -- overload --data DIR [--seconds 8] [--connections 15] [--only TEXT]
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { openApi } from '../lib/api/open.ts'
import { newId } from '../lib/base/id.ts'
import { openLog } from '../lib/base/log.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { print } from './kit/stackroom.ts'
import { heavyRequests } from './overload/requests.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '15' },
    only: { type: 'string', default: '' },
  },
})
const limitMs = 100
const seconds = Number(values.seconds)
const config = loadConfig({
  env: {},
  flags: { data_dir: values.data, 'rate_limit.enabled': false },
})
const database = await openDatabase(config)
const queue = await openQueue(database.sql, () => {})
const log = openLog({ level: 'fatal' })
const api = await openApi({ sql: database.sql, config, queue, log })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
const [attacker, reader] = [
  await insertAccount(database.sql, 'reader', { username: newId() }),
  await insertAccount(database.sql, 'reader', { username: newId() }),
]

try {
  for (const [name, requests] of Object.entries(heavyRequests()))
    if (name.includes(values.only)) await measure(name, requests)
} finally {
  await api.close()
  await queue.close()
  await database.close()
}

type Sample = { path: string; ms: number; status: number }

async function measure(name: string, requests: readonly object[]) {
  // Clients run in threads of their own: what they cost must not count as delay of the server.
  const clients = (count: number, list: readonly object[], key: string, pauseMs: number) =>
    startClients({ base, key, requests: list, connections: count, pauseMs })
  const load = clients(Number(values.connections), requests, attacker.key, 0)
  const health = clients(1, [{ path: '/health' }], '', 20)
  const lists = clients(1, [{ path: '/api/v1/books?pageSize=20' }], reader.key, 20)
  await sleep(500)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await sleep(seconds * 1000)
  delay.disable()
  const [heavy, probes, others] = await Promise.all([load(), health(), lists()])
  const statuses: Record<string, number> = {}
  for (const { status } of heavy) statuses[status] = (statuses[status] ?? 0) + 1
  const loopP99 = delay.percentile(99) / 1e6
  print({
    name,
    statuses,
    loopP99: round(loopP99),
    loopMax: round(delay.max / 1e6),
    health: times(probes),
    otherReader: times(others),
    ...(loopP99 > limitMs ? { slow: limitMs } : {}),
  })
  await sleep(500)
}

function times(samples: Sample[]) {
  const sorted = samples.map(sample => sample.ms).sort((a, b) => a - b)
  const at = (share: number) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  const failed = samples.filter(({ status }) => status !== 200).length
  return { n: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1), failed }
}

function round(ms: number) {
  return Math.round(ms * 10) / 10
}

/** Returns a function that stops the clients and returns what they measured. */
function startClients(options: object): () => Promise<Sample[]> {
  const worker = new Worker(new URL('./overload/client.ts', import.meta.url), {
    workerData: options,
  })
  return () =>
    new Promise(resolve => {
      worker.once('message', (samples: Sample[]) => {
        void worker.terminate()
        resolve(samples)
      })
      worker.postMessage('stop')
    })
}
