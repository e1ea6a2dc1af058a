// Latency of every OPDS feed over HTTP on a seeded database (npm run bench -- seed): time until the last
// byte, for the account with the most progress, and for restricted accounts. Linux only, for the time
// on the processor: what a busy machine does not change.
// npm run bench -- opds-lists --data DIR [--rounds 30] [--only TEXT] [--viewer TEXT]
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { openApi } from '../lib/api/open.ts'
import { openLog } from '../lib/base/log.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { print } from './kit/stackroom.ts'
import { feedsOf } from './opds-lists/feeds.ts'
import { readersOf } from './opds-lists/readers.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rounds: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    viewer: { type: 'string', default: '' },
  },
})
const limitMs = 80
const flags = { data_dir: values.data, 'rate_limit.enabled': false, 'application.port': 0 }
const config = loadConfig({ env: {}, flags })
const database = await openDatabase(config)
const { sql } = database
const queue = await openQueue(sql, () => {})
const api = await openApi({ sql, config, queue, log: openLog({ level: 'error' }) })
const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let worst = 0

try {
  for (const { name, key } of await readersOf(sql)) {
    if (!name.includes(values.viewer)) continue
    for (const feed of await feedsOf(sql, path => get(path, key)))
      if (`${feed.name} ${feed.path}`.includes(values.only)) await measure(name, key, feed)
  }
  print({ worstP95: worst, limitMs })
} finally {
  agent.destroy()
  await api.close()
  await queue.close()
  await database.close()
}

async function measure(
  viewer: string,
  key: string,
  { name, path }: { name: string; path: string },
) {
  const times: number[] = []
  const work: number[] = []
  let body = ''
  for (let round = 0; round < Number(values.rounds) + 3; round++) {
    const before = await onProcessor(sql)
    const started = performance.now()
    body = await get(path, key)
    if (round < 3) continue
    times.push(performance.now() - started)
    work.push((await onProcessor(sql)) - before)
  }
  const p95 = at(times, 0.95)
  worst = Math.max(worst, p95)
  print({
    viewer,
    name,
    path,
    total: Number(/(?:totalResults>|"numberOfItems":)(\d+)/.exec(body)?.[1] ?? 0),
    kb: Math.round(body.length / 1024),
    p50: at(times, 0.5),
    p95,
    cpu: at(work, 0.5),
    ...(p95 > limitMs ? { slow: limitMs } : {}),
  })
}

function at(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10
}

function get(path: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(base + path, { agent, headers: { 'x-api-key': key } }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${path} ${response.statusCode} ${text.slice(0, 300)}`))
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Milliseconds that this process and the sessions of the database were at work. */
async function onProcessor(sql: Sql): Promise<number> {
  const { user, system } = process.cpuUsage()
  const backends = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database()`
  const ns = backends.map(({ pid }) => {
    try {
      return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      return 0
    }
  })
  return (user + system) / 1e3 + ns.reduce((a, b) => a + b, 0) / 1e6
}
