// A day of mixed use in one run: feeds, pages, both also of the compatible API, rescans and event clients against a
// server process, with its memory, descriptors and database connections after each round. Exits with 1 if one of them
// grows. Linux only. The library is one of its own (generator of test books): files are added to it and deleted.
// npm run bench -- soak --library DIR [--rounds 20] [--feeds 10000] [--pages 100000] [--rescans 20]
//   [--listeners 50] [--connections 8]
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadConfig } from '../../lib/store/config/config.ts'
import { connect, openDatabase } from '../../lib/store/postgres/db.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { createRandom } from '../../test/kit/random.ts'
import { type Listener, listen } from '../fleet/listener.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { type Resources, resourcesOf } from './resources.ts'
import { type SoakBook, type Statuses, sendTraffic } from './traffic.ts'
import { trendOf } from './trend.ts'

const { values } = parseArgs({
  options: {
    library: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    feeds: { type: 'string', default: '10000' },
    pages: { type: 'string', default: '100000' },
    rescans: { type: 'string', default: '20' },
    listeners: { type: 'string', default: '50' },
    connections: { type: 'string', default: '8' },
  },
})
const number = (name: Exclude<keyof typeof values, 'library'>) => Number(values[name])
const rounds = number('rounds')
const observer = 'soak'
/** Requests are over, and what a rescan started too. */
const restMs = 5_000
const library = values.library!
const data = mkdtempSync(join(tmpdir(), 'stackroom-soak-'))
const database = await openDatabase(loadConfig({ env: {}, flags: { data_dir: data } }))
const sql = connect(database.url, { max: 2, name: observer })
const server = await startStackroom(['--data', data, '-l', library, '--log-level', 'error'])
const { base, child } = server
const random = createRandom(1)
const model = firstBook(library)
const listeners: Listener[] = []
const samples: Resources[] = []
const statuses: Statuses = {}

try {
  const { key } = await insertAccount(sql, 'admin')
  await enableKomga(key)
  await untilIdle()
  const [{ id }] = (await sql`select id from library`) as unknown as [{ id: string }]
  for (let i = 0; i < number('listeners'); i++) listeners.push(listen([base], key, 0))
  await Promise.all(listeners.map(listener => listener.connected))
  const started = performance.now()
  for (let round = 0; round < rounds; round++) {
    const scans = share(number('rescans'), round)
    const [counted] = await Promise.all([
      sendTraffic(
        { base, key, random, connections: number('connections'), books: await readableBooks() },
        { feeds: share(number('feeds'), round), pages: share(number('pages'), round) },
      ),
      rescan(id, key, scans, round),
    ])
    for (const [status, count] of Object.entries(counted))
      statuses[status] = (statuses[status] ?? 0) + count
    await reconnect(key, round)
    await untilIdle()
    await sleep(restMs)
    const sample = await resourcesOf(child.pid!, sql, observer)
    samples.push(sample)
    print({ round: round + 1, seconds: seconds(started), ...sample })
  }
  report(seconds(started))
} finally {
  await Promise.all(listeners.map(listener => listener.close()))
  await stopProcess(child)
  await sql.end({ timeout: 1 })
  await database.close()
  rmSync(copyOf(), { force: true })
  rmSync(data, { recursive: true, force: true })
}

function seconds(since: number) {
  return Math.round((performance.now() - since) / 1000)
}

async function enableKomga(key: string) {
  const { status } = await fetch(`${base}/api/v1/admin/settings/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ updates: [{ key: 'komga.enabled', value: true }] }),
  })
  if (status !== 200) throw new Error(`The compatible API was not enabled: ${status}`)
}

/** What of `all` belongs to a round. */
function share(all: number, round: number) {
  return Math.floor((all * (round + 1)) / rounds) - Math.floor((all * round) / rounds)
}

function firstBook(folder: string): string {
  const file = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.cbz'))
    .map(entry => join(entry.parentPath, entry.name))
    .toSorted()[0]
  if (file === undefined) throw new Error('The library has no .cbz')
  return file
}

function copyOf() {
  return join(dirname(model), 'Soak 999.cbz')
}

/** A book comes with one scan and goes with the next. */
async function rescan(libraryId: string, key: string, count: number, round: number) {
  for (let i = 0; i < count; i++) {
    if ((round + i) % 2 === 0) copyFileSync(model, copyOf())
    else rmSync(copyOf(), { force: true })
    const headers = { 'x-api-key': key }
    await fetch(`${base}/api/v1/libraries/${libraryId}/scan`, { method: 'POST', headers })
    await untilIdle()
  }
}

async function untilIdle() {
  for (;;) {
    const [scan] = await sql`
      select exists (select from scan where state in ('queued', 'running'))
        or not exists (select from library where last_scanned_at is not null) as is`
    const [job] = await sql`
      select exists (select from pgboss.job where state < 'completed' and start_after <= now()) as is`
    if (!scan!.is && !job!.is) return
    await sleep(500)
  }
}

async function readableBooks(): Promise<SoakBook[]> {
  return await sql<SoakBook[]>`
    select id, series_id as "seriesId", page_count as "pageCount" from book
    where missing_at is null and page_count > 0 and error_code is null and name <> 'Soak 999.cbz'
    order by id limit 5000`
}

/** A fifth of the event clients leave and come back, the way phones do. */
async function reconnect(key: string, round: number) {
  const leaving = listeners.filter((_, i) => i % 5 === round % 5)
  await Promise.all(leaving.map(listener => listener.close()))
  for (const listener of leaving) listeners[listeners.indexOf(listener)] = listen([base], key, 0)
  await Promise.all(listeners.map(listener => listener.connected))
}

function report(took: number) {
  const of = (name: keyof Resources, part: number, least: number) =>
    trendOf(
      samples.map(sample => sample[name]),
      part,
      least,
    )
  const trends = {
    pss: of('pss', 0.08, 8),
    descriptors: of('descriptors', 0, 3),
    threads: of('threads', 0, 3),
    databasePss: of('databasePss', 0.15, 16),
    connections: of('connections', 0, 3),
  }
  const events = listeners.reduce((sum, { seen }) => sum + seen.count, 0)
  const isFlat = Object.values(trends).every(trend => trend.isFlat)
  print({ seconds: took, statuses, events, ...trends, isFlat })
  if (!isFlat || statuses[500] || statuses[0]) process.exitCode = 1
}
