// The API over HTTP on a seeded database (npm run bench -- seed): 50 readers of page 1 of /books
// against a bare route with the same statements, then latencies of the lists, then memory.
// node bench/api.ts --data DIR [--rounds 3] [--seconds 8]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { loadConfig } from '../lib/config/config.ts'
import { openDatabase } from '../lib/postgres/db.ts'
import { keyOf } from './kit/key.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
  },
})
const root = join(import.meta.dirname, '..')
const config = loadConfig({ env: {}, flags: { data_dir: values.data } })
const database = await openDatabase(config, {})
const children: ChildProcess[] = []

try {
  const key = await busyReader()
  const served = await started([
    'cmd/stackroom.mjs',
    'serve',
    '--no-workers',
    '--port',
    '0',
    '--data',
    values.data!,
    '--database-url',
    database.url,
  ])
  const bare = await started(['bench/kit/bare.ts', database.url, key.accountId])
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const ours = await load(`${served.url}/api/v1/books`, key.key)
    const theirs = await load(`${bare.url}/books`, key.key)
    ratios.push(ours.perSecond / theirs.perSecond)
    print({ ours, bare: theirs })
  }
  ratios.sort((a, b) => a - b)
  print({
    medianRatio: ratios[Math.floor(ratios.length / 2)],
    rssMb: residentMb(served.child.pid!),
  })
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(children.map(child => child.exitCode ?? once(child, 'exit')))
  await database.close()
}

/** An API key of the account with the most progress. */
async function busyReader() {
  const { sql } = database
  const [row] = await sql<{ id: string }[]>`
    select account_id as id from series_reading group by account_id order by count(*) desc, account_id limit 1`
  return { key: await keyOf(sql, row!.id), accountId: row!.id }
}

async function started(args: string[]) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...(args[0] === 'cmd/stackroom.mjs' ? { STACKROOM_RATE_LIMIT__ENABLED: 'false' } : {}),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let said = ''
  for await (const chunk of child.stdout!) {
    said += chunk
    const url = said.match(/http:\/\/\S+/)
    if (url) return { url: url[0], child }
  }
  throw new Error(`${args[0]} did not start`)
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
