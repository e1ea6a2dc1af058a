// Cancelling scans of a large library, from the working process and from another, and killing a worker
// during one: time until all work stops, and whether the next scan completes it.
// node bench/cancel.ts --library DIR --data DIR
import { execFileSync, spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { type Member, member } from './fleet/server.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: { library: { type: 'string' }, data: { type: 'string' } },
})
const data = resolve(values.data!)
const database = await openDatabase(loadConfig({ env: {}, flags: { data_dir: data } }), {})
const { sql } = database
await migrate(sql)
const { key } = await insertAccount(sql, 'admin')
const common = ['--data', data, '--database-url', database.url]
const server = await member('serve', common)
const workers = await Promise.all([1, 2].map(() => member('worker', common)))

try {
  for (const one of [server, ...workers]) one.start()
  await server.waitUntilReady()
  const path = realpathSync(values.library!)
  const made = await ask('POST', '/libraries', { name: 'Large', path })
  const { id } = (await made.json()) as { id: string }
  for (const share of [0.1, 0.4]) {
    await scanUntil(id, share)
    await calledOff(id, () => ask('POST', `/libraries/${id}/scan/cancel`))
  }
  await scanUntil(id, 0.6)
  await calledOff(id, async () => {
    const [task] = await sql`
      select id from scan where library_id = ${id} and state = 'running'`
    return await ask('POST', `/tasks/${task!.id}/cancel`)
  })
  await scanUntil(id, 0.8)
  await workers[1]!.end('SIGKILL')
  await completed(id)
} finally {
  for (const one of [...workers, server] as Member[]) await one.end('SIGTERM')
  await database.close()
}

async function ask(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${server.base}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

/** Scans until this share of the files found is cataloged. */
async function scanUntil(libraryId: string, share: number) {
  await ask('POST', `/libraries/${libraryId}/scan`)
  for (;;) {
    const [row] = await sql<{ books: number; found: number; state: string }[]>`
      select l.book_count as books, s.state,
        case when s.discovered_at is null then 0 else s.found end as found
      from library l join scan s on s.library_id = l.id
      where l.id = ${libraryId} order by s.created_at desc limit 1`
    const { books, found, state } = row!
    if (state !== 'queued' && state !== 'running') throw new Error(`the scan is ${state} already`)
    if (found > 0 && books >= found * share) return
    await sleep(20)
  }
}

/** Everything the pipeline writes shows in one of these. */
async function traces(libraryId: string) {
  const [row] = await sql<Record<string, number>[]>`
    select (select coalesce(max(number), 0) from event where stream = 'entity') as events,
      (select sum(covers + hashed + added + changed) from scan) as figures,
      (select count(*) from pending_file where library_id = ${libraryId}) as found,
      (select count(*) from pgboss.job where state = 'active') as active`
  return row!
}

async function calledOff(libraryId: string, cancel: () => Promise<unknown>) {
  const requested = performance.now()
  await cancel()
  const responded = performance.now()
  let last = requested
  let before = ''
  let active = 0
  while (performance.now() - requested < 8_000) {
    const now = await traces(libraryId)
    if (JSON.stringify(now) !== before) last = performance.now()
    before = JSON.stringify(now)
    active = now.active!
    await sleep(25)
  }
  const [left] = await sql`select book_count as books from library where id = ${libraryId}`
  print({
    cancelled: true,
    answeredMs: Math.round(responded - requested),
    quietAfterMs: Math.round(last - requested),
    activeJobs: active,
    books: left!.books,
    doctor: doctor(),
  })
  if (last - requested > 2_000 || active > 0) process.exitCode = 1
}

/** Until nothing is left to do; counts what the catalog holds against what is on disk. */
async function completed(libraryId: string) {
  for (;;) {
    const [busy] = await sql`
      select 1 from pgboss.job where state < 'completed' and data->>'libraryId' = ${libraryId} limit 1`
    if (!busy) break
    await sleep(500)
  }
  const files = Number(
    execFileSync('sh', [
      '-c',
      `find '${realpathSync(values.library!)}' -type f | grep -cE '[.](cb[zr7t]|epub|pdf)$'`,
    ]),
  )
  const [row] = await sql`
    select count(*)::integer as books, count(*) filter (where error_code is null)::integer as good,
      count(a.cover)::integer as covers,
      count(a.sha256)::integer as hashes
    from book b join book_artifact a on a.book_id = b.id
    where library_id = ${libraryId} and missing_at is null`
  const scans = await sql`select state, count(*)::integer as count from scan group by state`
  const dead =
    await sql`select name, count(*)::integer from pgboss.job where state = 'failed' group by name`
  print({ files, ...row, scans: [...scans], failedTasks: [...dead], doctor: doctor() })
}

function doctor() {
  const launcher = join(import.meta.dirname, '..', 'cmd', 'stackroom.mjs')
  const { stdout: text } = spawnSync(process.execPath, [launcher, 'doctor', '--json', ...common], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { isHealthy, findings } = JSON.parse(text) as {
    isHealthy: boolean
    findings: { name: string; count: number }[]
  }
  return isHealthy ? 'well' : findings.filter(finding => finding.count > 0)
}
