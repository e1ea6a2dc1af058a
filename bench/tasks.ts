// Job queue with a million entries: claim latency while four loops claim and complete, and the slowdown of
// lists of tasks, books and series compared with an empty queue.
// npm run bench -- tasks --data DIR [--jobs 1000000] [--claims 2000]
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openApi } from '../lib/api/open.ts'
import { newId } from '../lib/base/id.ts'
import { openLog } from '../lib/base/log.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { connect, openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { complete } from '../lib/store/queue/complete.ts'
import { openQueue } from '../lib/store/queue/queue.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    jobs: { type: 'string', default: '1000000' },
    claims: { type: 'string', default: '2000' },
  },
})
const flags = { data_dir: resolve(values.data!), 'rate_limit.enabled': false }
const config = loadConfig({ env: {}, flags })
const log = openLog({ level: 'error' })
const database = await openDatabase(config, {})
await migrate(database.sql)
const libraryId = newId()
const paths = [
  '/tasks',
  '/tasks?status=pending',
  '/tasks?type=scan_library',
  '/tasks?page=10&status=completed',
  `/tasks?libraryId=${libraryId}`,
  '/books?pageSize=50',
  '/series?pageSize=50',
]

/** The catalog with a queue of its own, and the viewer. */
async function serve(url: string) {
  const sql = connect(url, { max: 10 })
  const queue = await openQueue(sql, error => log.error(error))
  await sql`truncate pgboss.job`
  // History, and as many waiting ones as a page holds: an answer is as long with few as with many.
  await fill(sql, { name: 'hash', state: 'completed', count: 1_000 })
  await fill(sql, { name: 'scan', state: 'completed', count: 100 })
  await fill(sql, { name: 'cover', state: 'created', count: 500 })
  const { key } = await insertAccount(sql, 'admin')
  const api = await openApi({ sql, config, log, queue })
  const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
  return {
    sql,
    queue,
    async ask(path: string) {
      const began = performance.now()
      const response = await fetch(`${base}/api/v1${path}`, { headers: { 'x-api-key': key } })
      const text = await response.text()
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
      return performance.now() - began
    },
    async close() {
      await api.close()
      await queue.close()
      await sql.end()
    },
  }
}
type Served = Awaited<ReturnType<typeof serve>>

// Two equal databases on one server, measured alternately: other load affects both.
const twin = `${new URL(database.url).pathname.slice(1)}_twin`
const twinUrl = Object.assign(new URL(database.url), { pathname: `/${twin}` }).href
await database.sql.end()
const desk = connect(Object.assign(new URL(database.url), { pathname: '/postgres' }).href, {
  max: 1,
})
try {
  await desk.unsafe(`drop database if exists ${twin}`)
  await desk.unsafe(`create database ${twin} template ${new URL(database.url).pathname.slice(1)}`)
  const [few, many] = [await serve(twinUrl), await serve(database.url)]
  try {
    const began = performance.now()
    await fill(many.sql, { name: 'cover', state: 'created', count: Number(values.jobs) })
    print({ jobs: Number(values.jobs), insertSeconds: seconds(began) })
    for (const { sql } of [few, many]) await sql`vacuum analyze pgboss.job_common`
    for (const path of paths) print(await compare(path, few, many))
    const taken = Number(values.claims)
    await fill(few.sql, { name: 'cover', state: 'created', count: taken })
    for (const [jobs, served] of [
      ['few', few],
      ['many', many],
      ['few', few],
      ['many', many],
    ] as const)
      print({ claims: jobs, ...(await claims(served, taken / 2)) })
  } finally {
    await few.close()
    await many.close()
    await desk.unsafe(`drop database ${twin}`)
  }
} finally {
  await desk.end()
  await database.close()
}

type Filling = { name: string; state: string; count: number }

/** Jobs of one book each, with time-ordered ids like ours. */
async function fill(sql: Sql, { name, state, count }: Filling) {
  const ended = state === 'completed' ? sql`now()` : sql`null`
  for (let left = count; left > 0; left -= 100_000) {
    const time = newId().slice(0, 15)
    await sql`
      insert into pgboss.job_common (id, name, data, state, policy, retry_limit, heartbeat_seconds,
        created_on, started_on, completed_on)
      select (${time}::text || substr(gen_random_uuid()::text, 16))::uuid, ${name},
        jsonb_build_object('libraryId', ${libraryId}::text, 'scanId', ${libraryId}::text,
          'ids', jsonb_build_array(gen_random_uuid())),
        ${state}::pgboss.job_state, 'standard', 5, 30, now(), ${ended}, ${ended}
      from generate_series(1, ${Math.min(left, 100_000)})`
  }
}

/** Medians in milliseconds with few jobs and with many. */
async function compare(path: string, few: Served, many: Served) {
  const times = { few: [] as number[], many: [] as number[] }
  for (let i = 0; i < 330; i++) {
    const [one, other] = [await few.ask(path), await many.ask(path)]
    if (i < 30) continue
    times.few.push(one)
    times.many.push(other)
  }
  const [fewMs, manyMs] = [at(times.few, 0.5), at(times.many, 0.5)]
  const percent = Math.round((manyMs / fewMs - 1) * 1000) / 10
  return { path: path.replace(libraryId, '…'), fewMs, manyMs, percent }
}

/** Four loops, each job completed as soon as it is taken. */
async function claims({ sql, queue }: Served, count: number) {
  const times: number[] = []
  const loop = async () => {
    while (times.length < count) {
      const began = performance.now()
      const jobs = await queue.claim('cover')
      times.push(performance.now() - began)
      await complete(sql, jobs)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: 4 }, loop))
  return {
    p50: at(times, 0.5),
    p99: at(times, 0.99),
    most: at(times, 1),
    jobsPerSecond: Math.round(times.length / ((performance.now() - began) / 1000)),
  }
}

function at(times: number[], share: number) {
  const sorted = times.toSorted((a, b) => a - b)
  const ms = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return Math.round(ms * 100) / 100
}

function seconds(began: number) {
  return Math.round((performance.now() - began) / 100) / 10
}
