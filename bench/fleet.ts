// Several processes on one database under load: exactly-once delivery of events while servers are killed
// and replaced, failed requests during a rolling restart, schedule slots that fire once. node bench/fleet.ts --library DIR --data DIR [--clients 100] [--readers 20]
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { type Listener, listen } from './fleet/listener.ts'
import { type Member, member } from './fleet/server.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    library: { type: 'string' },
    data: { type: 'string' },
    clients: { type: 'string', default: '100' },
    readers: { type: 'string', default: '20' },
  },
})
const config = loadConfig({ env: {}, flags: { data_dir: resolve(values.data!) } })
const database = await openDatabase(config, {})
const { sql } = database
await migrate(sql)
const { key } = await insertAccount(sql, 'admin')
const args = ['--data', resolve(values.data!), '--database-url', database.url]
const servers = await Promise.all([1, 2, 3].map(() => member('serve', args)))
const workers = await Promise.all([1, 2].map(() => member('worker', args)))
const bases = servers.map(server => server.base)

// Which servers a balancer would send requests to.
let ready = new Set<string>()
let isOver = false
const watching = balance()

try {
  for (const one of [...servers, ...workers]) one.start()
  await Promise.all(servers.map(server => server.waitUntilReady()))
  ready = new Set(bases)
  await events()
  await schedules()
  await rollingRestart()
} finally {
  isOver = true
  await watching
  for (const one of [...workers, ...servers]) await one.end('SIGTERM')
  await database.close()
}

async function balance() {
  while (!isOver) {
    const states = await Promise.all(servers.map(async s => ((await s.isReady()) ? s.base : null)))
    ready = new Set(states.filter(base => base !== null))
    await sleep(200)
  }
}

async function ask(base: string, method: string, path: string, body?: unknown) {
  return await fetch(`${base}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function tail() {
  const [row] = await sql<{ tail: number }[]>`select coalesce(max(number), 0) as tail from event`
  return row!.tail
}

/** A scan and writers, while the second server and a worker are killed and come back. */
async function events() {
  const from = await tail()
  const listeners = Array.from({ length: Number(values.clients) }, (_, i) => listen(bases, key, i))
  await Promise.all(listeners.map(listener => listener.connected))
  const path = realpathSync(values.library!)
  const made = await ask(bases[0]!, 'POST', '/libraries', { name: 'Fleet', path })
  const { id } = (await made.json()) as { id: string }
  await ask(bases[0]!, 'POST', `/libraries/${id}/scan`)
  const writing = write()
  await sleep(4_000)
  await servers[1]!.end('SIGKILL')
  await workers[1]!.end('SIGKILL')
  await sleep(3_000)
  servers[1]!.start()
  workers[1]!.start()
  await untilScanned(id)
  await writing
  await sleep(3_000)
  const to = await tail()
  await compare(listeners, from, to)
  await Promise.all(listeners.map(listener => listener.close()))
}

/** Changes titles of books through any server that is ready. */
async function write() {
  let written = 0
  for (const end = performance.now() + 12_000; performance.now() < end; await sleep(100)) {
    const [book] = await sql<{ id: string }[]>`select id from book order by random() limit 1`
    const base = [...ready][written % ready.size]
    if (!book || !base) continue
    await ask(base, 'PATCH', `/books/${book.id}`, { title: `Title ${written}` }).catch(() => {})
    written += 1
  }
}

async function untilScanned(libraryId: string) {
  for (;;) {
    const [row] = await sql`
      select 1 from scan where library_id = ${libraryId} and state in ('queued', 'running') limit 1`
    const [job] = await sql`
      select 1 from pgboss.job where state < 'completed' and data->>'libraryId' = ${libraryId} limit 1`
    if (!row && !job) return
    await sleep(500)
  }
}

async function compare(listeners: Listener[], from: number, to: number) {
  const rows = await sql<{ type: string; count: number; sum: number }[]>`
    select type, sum(count)::integer as count, sum(count * number - count * (count - 1) / 2)::float8 as sum
    from event
    where stream = 'entity' and account_id is null and number > ${from} and number <= ${to}
    group by type
    order by type`
  const count = rows.reduce((all, row) => all + row.count, 0)
  const sum = rows.reduce((all, row) => all + row.sum, 0)
  const wrong = listeners.filter(
    ({ seen }) => seen.count !== count || seen.sum !== sum || seen.twice > 0 || seen.resyncs > 0,
  )
  print({
    events: count,
    byType: Object.fromEntries(rows.map(row => [row.type, row.count])),
    clients: listeners.length,
    exactlyOnce: listeners.length - wrong.length,
    reconnections: listeners.reduce((all, { seen }) => all + seen.connections - 1, 0),
    ...(wrong.length > 0 ? { wrong: wrong.slice(0, 5).map(({ seen }) => seen) } : {}),
  })
  if (wrong.length > 0) process.exitCode = 1
}

/** Every minute in five libraries, for two minutes. */
async function schedules() {
  await sql`
    insert into library (id, name, root, scanning_config)
    select gen_random_uuid(), 'Empty ' || n, convert_to('/nonexistent/' || n, 'UTF8'),
      '{"enabled": true, "scanMode": "normal", "cronSchedule": "* * * * *", "cronTimezone": "UTC",
        "scanOnStart": false, "purgeDeletedOnScan": false}'
    from generate_series(1, 5) as n`
  await sleep(130_000)
  const slots = await sql<{ slots: number; scans: number }[]>`
    select (select count(*)::integer from schedule_slot where job like '%' || l.id) as slots,
      (select count(*)::integer from scan where library_id = l.id) as scans
    from library l where name like 'Empty %' order by name`
  print({ schedules: slots.map(row => ({ ...row })) })
  if (slots.some(row => row.slots !== row.scans || row.slots < 2)) process.exitCode = 1
  await sql`update library set scanning_config = '{}' where name like 'Empty %'`
}

/** Every process is replaced, one after the other, while readers go on. */
async function rollingRestart() {
  const counts = { requests: 0, failed: 0 }
  let isDone = false
  const reader = async (turn: number) => {
    for (let n = turn; !isDone; n++) {
      const open = [...ready]
      const answer = await ask(open[n % open.length]!, 'GET', '/books?pageSize=20').catch(
        error => error as Error,
      )
      counts.requests += 1
      if (answer instanceof Error || answer.status !== 200) {
        counts.failed += 1
        print({ failed: answer instanceof Error ? String(answer.cause ?? answer) : answer.status })
      } else await answer.arrayBuffer()
    }
  }
  const readers = Array.from({ length: Number(values.readers) }, (_, i) => reader(i))
  const codes: (number | null)[] = []
  const replace = async (one: Member) => {
    codes.push(await one.end('SIGTERM'))
    one.start()
  }
  for (const server of servers) {
    await replace(server)
    await server.waitUntilReady()
    await sleep(1_000)
  }
  for (const worker of workers) await replace(worker)
  isDone = true
  await Promise.all(readers)
  print({ rollingRestart: counts, exitCodes: codes })
  if (counts.failed > 0) process.exitCode = 1
}
