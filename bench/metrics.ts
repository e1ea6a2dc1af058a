// What a scrape costs on a seeded database (npm run bench -- seed) with as many libraries as asked for,
// after every GET route was asked; and whether it reads any table of the catalogue from end to end.
// npm run bench -- metrics --data DIR [--libraries 50] [--scrapes 300]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { resources } from '../lib/api/resources.ts'
import { newKey } from '../lib/auth/api-key.ts'
import { permissionNames } from '../lib/auth/permission.ts'
import { loadConfig } from '../lib/config/config.ts'
import { addresses } from '../lib/http/route.ts'
import { newId } from '../lib/id.ts'
import { openDatabase } from '../lib/postgres/db.ts'
import { migrate } from '../lib/postgres/migrate.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    libraries: { type: 'string', default: '50' },
    scrapes: { type: 'string', default: '300' },
  },
})
const root = join(import.meta.dirname, '..')
const config = loadConfig({ env: {}, flags: { data_dir: values.data } })
const database = await openDatabase(config)
const { sql } = database
const stay = '/stackroom-bench-metrics/'
let child = null as ChildProcess | null
try {
  await migrate(sql)
  await moreLibraries(Number(values.libraries))
  const { key, id } = await makeKey()
  const { base, metrics } = await serve()
  await askEverything(base, key)
  const [row] = await sql`
    select (select sum(book_count) from library) as books, (select count(*) from library) as libraries`
  print({ ...row })
  const before = await readsOfTables()
  for (const [name, url, accept] of [
    ['its own address', `http://${metrics}/metrics`, 'text/plain'],
    ['its own address, OpenMetrics', `http://${metrics}/metrics`, 'application/openmetrics-text'],
    ['the API', `${base}/api/v1/metrics`, 'text/plain'],
    ['the API, JSON', `${base}/api/v1/metrics`, 'application/json'],
  ] as const)
    print({ by: name, ...(await scrapes(url, { accept, 'x-api-key': key })) })
  // The server tells its statistics with a delay.
  await sleep(2_000)
  const after = await readsOfTables()
  print({ fromEndToEnd: after.filter((table, i) => table.reads !== before[i]!.reads) })
  await sql`delete from api_key where id = ${id}`
} finally {
  if (child) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  await sql`delete from library where position(convert_to(${stay}, 'UTF8') in root) = 1`
  await database.close()
}

/** Libraries without books beside those that are there, each scanned, watched and with a schedule. */
async function moreLibraries(wanted: number) {
  await sql`
    insert into library (id, name, root, scanning_config, last_scanned_at)
    select gen_random_uuid(), 'Bench ' || i, convert_to(${stay} || i, 'UTF8'),
      '{"enabled": true, "cronSchedule": "0 */6 * * *", "cronTimezone": "Europe/Berlin"}', now()
    from generate_series(1, ${wanted} - (select count(*)::integer from library)) i`
  await sql`
    insert into scan (id, library_id, mode, state, started_at, finished_at)
    select gen_random_uuid(), l.id, 'normal', 'completed', now(), now()
    from library l, generate_series(1, 20)
    where position(convert_to(${stay}, 'UTF8') in l.root) = 1`
}

async function makeKey() {
  const [account] = await sql<{ id: string }[]>`
    select id from account order by role, created_at, id limit 1`
  const { key, prefix, digest } = newKey()
  const id = newId()
  await sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${id}, ${account!.id}, 'bench', ${prefix}, ${digest}, ${[...permissionNames]})`
  return { key, id }
}

async function serve() {
  const args = ['cmd/stackroom.mjs', 'serve', '--no-workers', '--port', '0', '--log-level', 'info']
  child = spawn(
    process.execPath,
    [...args, '--data', values.data!, '--database-url', database.url],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        STACKROOM_RATE_LIMIT__ENABLED: 'false',
        STACKROOM_METRICS__BIND: '127.0.0.1:0',
      },
    },
  )
  let said = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', chunk => {
      said = (said + chunk).slice(-10_000)
    })
  for (let left = 600; left > 0; left--) {
    await sleep(100)
    const base = /listens on (\S+)/.exec(said)?.[1]
    const port = /"port":(\d+),"msg":"metrics listen"/.exec(said)?.[1]
    if (base && port) return { base, metrics: `127.0.0.1:${port}` }
  }
  throw new Error('the server did not start')
}

async function askEverything(base: string, key: string) {
  for (const { method, path } of resources.flatMap(addresses)) {
    const url = base + path.replace(/\{\w+\}/g, newId())
    await fetch(url, { method }).then(answer => answer.body?.cancel())
    if (method !== 'GET' || path.endsWith('/stream')) continue
    await fetch(url, { headers: { 'x-api-key': key } }).then(answer => answer.body?.cancel())
  }
}

/** Milliseconds, one scrape after the other with a breath between, and what came. */
async function scrapes(url: string, headers: Record<string, string>) {
  const times: number[] = []
  let text = ''
  for (let i = 0; i < Number(values.scrapes) + 3; i++) {
    await sleep(20)
    const began = performance.now()
    const answer = await fetch(url, { headers })
    text = await answer.text()
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
    if (i >= 3) times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)]! * 10) / 10
  const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), series, bytes: text.length }
}

/** How often each table of the catalogue was read from end to end. */
async function readsOfTables() {
  return await sql<{ name: string; reads: number }[]>`
    select relname as name, seq_scan as reads from pg_stat_user_tables
    where schemaname = 'public' and relname in ('book', 'series', 'page_list', 'progress')
    order by relname`
}
