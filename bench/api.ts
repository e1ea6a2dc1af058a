// HTTP throughput and latency of the API on a seeded database (npm run bench -- seed): 50 readers of page 1 of /books
// against a bare route with the same statements, then latencies of the lists, then memory.
// node bench/api.ts --data DIR [--rounds 3] [--seconds 8]
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { insertApiKey } from '../test/kit/accounts.ts'
import { startServer, startStackroom, stopProcess } from './kit/server-process.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
  },
})
const config = loadConfig({ env: {}, flags: { data_dir: values.data } })
const database = await openDatabase(config, {})
const children: ChildProcess[] = []

try {
  const key = await busyReader()
  const flags = ['--no-workers', '--data', values.data!, '--database-url', database.url]
  const server = await startStackroom(flags)
  children.push(server.child)
  const bare = await startServer(['bench/kit/bare.ts', database.url, key.accountId])
  children.push(bare.child)
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const ours = await load(`${server.base}/api/v1/books`, key.key)
    const theirs = await load(`${bare.base}/books`, key.key)
    ratios.push(ours.perSecond / theirs.perSecond)
    print({ ours, bare: theirs })
  }
  ratios.sort((a, b) => a - b)
  print({
    medianRatio: ratios[Math.floor(ratios.length / 2)],
    rssMb: residentMb(server.child.pid!),
  })
} finally {
  await Promise.all(children.map(stopProcess))
  await database.close()
}

/** An API key of the account with the most progress. */
async function busyReader() {
  const { sql } = database
  const [row] = await sql<{ id: string }[]>`
    select account_id as id from series_reading group by account_id order by count(*) desc, account_id limit 1`
  const { key } = await insertApiKey(sql, row!.id)
  return { key, accountId: row!.id }
}

async function load(url: string, key: string) {
  const result = await autocannon({
    url,
    connections: 50,
    duration: Number(values.seconds),
    headers: { 'x-api-key': key },
  })
  return {
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    errors: result.errors + result.non2xx + result.timeouts,
  }
}

function residentMb(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(status.match(/VmRSS:\s+(\d+)/)![1]) / 1024
}
