// Cost of a metrics scrape on a seeded database (npm run bench -- seed) with `--libraries` libraries,
// after a request to every GET route; and whether it scans any table of the catalog sequentially.
// npm run bench -- metrics --data DIR [--libraries 50] [--scrapes 300]
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { resources } from '../lib/api/resources.ts'
import { newId } from '../lib/base/id.ts'
import { endpoints } from '../lib/http/route.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertApiKey } from '../test/kit/accounts.ts'
import { freePort } from '../test/kit/ports.ts'
import { startStackroom, stopProcess } from './kit/server-process.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    libraries: { type: 'string', default: '50' },
    scrapes: { type: 'string', default: '300' },
  },
})
const config = loadConfig({ env: {}, flags: { data_dir: values.data } })
const database = await openDatabase(config)
const { sql } = database
const rootPrefix = '/stackroom-bench-metrics/'
let child = null as ChildProcess | null
try {
  await migrate(sql)
  await moreLibraries(Number(values.libraries))
  const { key, id } = await makeKey()
  const { base, metrics } = await serve()
  await requestEverything(base, key)
  const [row] = await sql`
    select (select sum(book_count) from library) as books, (select count(*) from library) as libraries`
  print({ ...row })
  const before = await sequentialScans()
  for (const [name, url, accept] of [
    ['its own address', `http://${metrics}/metrics`, 'text/plain'],
    ['its own address, OpenMetrics', `http://${metrics}/metrics`, 'application/openmetrics-text'],
    ['the API', `${base}/api/v1/metrics`, 'text/plain'],
    ['the API, JSON', `${base}/api/v1/metrics`, 'application/json'],
  ] as const)
    print({ by: name, ...(await scrapes(url, { accept, 'x-api-key': key })) })
  // PostgreSQL publishes its statistics with a delay.
  await sleep(2_000)
  const after = await sequentialScans()
  print({ sequentiallyScanned: after.filter((table, i) => table.reads !== before[i]!.reads) })
  await sql`delete from api_key where id = ${id}`
} finally {
  if (child) await stopProcess(child)
  await sql`delete from library where position(convert_to(${rootPrefix}, 'UTF8') in root) = 1`
  await database.close()
}

/** Libraries without books beside those that are there, each scanned, watched and with a schedule. */
async function moreLibraries(wanted: number) {
  await sql`
    insert into library (id, name, root, scanning_config, last_scanned_at)
    select gen_random_uuid(), 'Bench ' || i, convert_to(${rootPrefix} || i, 'UTF8'),
      '{"enabled": true, "cronSchedule": "0 */6 * * *", "cronTimezone": "Europe/Berlin"}', now()
    from generate_series(1, ${wanted} - (select count(*)::integer from library)) i`
  await sql`
    insert into scan (id, library_id, mode, state, started_at, finished_at)
    select gen_random_uuid(), l.id, 'normal', 'completed', now(), now()
    from library l, generate_series(1, 20)
    where position(convert_to(${rootPrefix}, 'UTF8') in l.root) = 1`
}

/** An API key of the first account. */
async function makeKey() {
  const [account] = await sql<{ id: string }[]>`
    select id from account order by role, created_at, id limit 1`
  return await insertApiKey(sql, account!.id)
}

async function serve() {
  const metrics = `127.0.0.1:${await freePort()}`
  const flags = ['--no-workers', '--data', values.data!, '--database-url', database.url]
  const server = await startStackroom(flags, { STACKROOM_METRICS__BIND: metrics })
  child = server.child
  return { base: server.base, metrics }
}

async function requestEverything(base: string, key: string) {
  for (const { method, path } of resources.flatMap(endpoints)) {
    const url = base + path.replace(/\{\w+\}/g, newId())
    await fetch(url, { method }).then(response => response.body?.cancel())
    if (method !== 'GET' || path.endsWith('/stream')) continue
    await fetch(url, { headers: { 'x-api-key': key } }).then(response => response.body?.cancel())
  }
}

/** Durations of consecutive scrapes in milliseconds, and the size of the result. */
async function scrapes(url: string, headers: Record<string, string>) {
  const times: number[] = []
  let text = ''
  for (let i = 0; i < Number(values.scrapes) + 3; i++) {
    await sleep(20)
    const began = performance.now()
    const response = await fetch(url, { headers })
    text = await response.text()
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`)
    if (i >= 3) times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)]! * 10) / 10
  const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), series, bytes: text.length }
}

/** Number of sequential scans of each table of the catalog. */
async function sequentialScans() {
  return await sql<{ name: string; reads: number }[]>`
    select relname as name, seq_scan as reads from pg_stat_user_tables
    where schemaname = 'public' and relname in ('book', 'series', 'book_pages', 'progress')
    order by relname`
}
