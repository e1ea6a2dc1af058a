// Memory of a server process as installed, without its database: at rest, after pages and after a scan of any
// folder, and the peak of that scan. Times of original pages beside a bare server that reads plain files.
// node bench/memory.ts [--books DIR] [--data DIR] [--rest 45] [--pages 1000] [--rounds 3]
// `--data` is a data directory with a catalog, made by bench/seed.ts for example; a copy, since it is written to.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { findOrCreateLibrary } from '../lib/catalog/library/library-write.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase, type Sql } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { zip } from '../test/kit/files/archives.ts'
import { startStackroom, stopProcess } from './kit/server-process.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    books: { type: 'string' },
    data: { type: 'string' },
    // Threads without work end after half a minute.
    rest: { type: 'string', default: '45' },
    pages: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'stackroom-memory-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]
const bookCount = 20
const pageCount = 50

try {
  const made = await makeBooks()
  const config = loadConfig({ env: {}, flags: { data_dir: values.data ?? join(folder, 'data') } })
  const { sql, url, close } = await openDatabase(config)
  ends.unshift(close)
  await migrate(sql)
  const { key } = await insertAccount(sql, 'admin')
  const flags = ['--data', config.data_dir, '--database-url', url]
  const { child, base } = await startStackroom(flags, { STACKROOM_LOGGING__LEVEL: 'error' })
  ends.unshift(() => stopProcess(child))
  const headers = { 'x-api-key': key }
  await sleep(Number(values.rest) * 1000)
  const [{ books }] = await sql<[{ books: number }]>`select count(*)::int as books from book`
  print({ what: 'at rest', booksInCatalog: books, ...memoryOf(child.pid!) })
  for (const [what, root] of [['made', made], ...(values.books ? [['books', values.books]] : [])]) {
    const stop = watchPeak(child.pid!)
    await scan(sql, { api: `${base}/api/v1`, headers, root: root! })
    print({ what: `scan of ${what}`, peakMb: stop() })
  }
  await pages(sql, base, headers)
  await sleep(Number(values.rest) * 1000)
  print({ what: 'at rest after all', ...memoryOf(child.pid!) })
} finally {
  for (const end of ends) await end()
}

/** Comics with pages of 0.8 MB, stored; every fourth deflated. Returns their folder. */
async function makeBooks(): Promise<string> {
  const noise = { type: 'gaussian', mean: 140, sigma: 30 } as const
  const create = { width: 1600, height: 2400, channels: 3, background: '#888', noise } as const
  const bytes = await sharp({ create }).blur(1.2).jpeg({ quality: 91 }).toBuffer()
  const root = join(folder, 'books')
  mkdirSync(join(root, 'Made'), { recursive: true })
  writeFileSync(join(folder, 'page.jpg'), bytes)
  const names = Array.from({ length: pageCount }, (_, i) => `${1000 + i}.jpg`)
  const [stored, deflated] = [false, true].map(deflate =>
    zip(names.map(name => ({ name, bytes, deflate }))),
  )
  for (let i = 0; i < bookCount; i++)
    writeFileSync(join(root, 'Made', `${i}.cbz`), i % 4 === 3 ? deflated! : stored!)
  return root
}

type Scan = { api: string; headers: Record<string, string>; root: string }

async function scan(sql: Sql, { api, headers, root }: Scan) {
  const library = await findOrCreateLibrary(sql, { root: Buffer.from(root) })
  await fetch(`${api}/libraries/${library.id}/scan`, { method: 'POST', headers })
  for (let quiet = 0; quiet < 4; ) {
    await sleep(250)
    const [row] = await sql<[{ busy: boolean }]>`
      select not exists (
        select from scan where library_id = ${library.id} and finished_at is not null
      ) or exists (
        select from pgboss.job where state < 'completed' and name in ('scan', 'index', 'cover', 'hash')
      ) as busy`
    quiet = row.busy ? 0 : quiet + 1
  }
}

/**
 * Pages, alternating with the bare server in groups of 50; one after the other, then several at the same time.
 * The first round of all is the first use of each. `best` has the lowest quantiles of the rounds: what the
 * servers do while nothing else disturbs them.
 */
async function pages(sql: Sql, base: string, headers: Record<string, string>) {
  const books = await sql<{ id: string }[]>`
    select b.id from book b join library l on l.id = b.library_id
    where convert_from(l.root, 'utf8') = ${join(folder, 'books')} and b.page_count > 0`
  const plain = await startPlain()
  const perRound = Math.ceil(Number(values.pages) / Number(values.rounds))
  for (const parallel of [1, 4, 16]) {
    const rounds: Comparison[] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      const times: Times = { ours: [], bare: [] }
      for (let from = 0; from < perRound; from += 50) {
        const numbers = Array.from({ length: Math.min(50, perRound - from) }, (_, i) => from + i)
        await inParallel(numbers, parallel, async i => {
          const { id } = books[i % books.length]!
          const page = 1 + (Math.floor(i / books.length) % pageCount)
          times.ours.push(await timeOf(`${base}/api/v1/books/${id}/pages/${page}`, headers))
        })
        await inParallel(numbers, parallel, async () => {
          times.bare.push(await timeOf(`${plain}/read/page.jpg`, {}))
        })
      }
      const first = { ours: times.ours.slice(0, 100), bare: times.bare.slice(0, 100) }
      rounds.push(compare(times))
      print({ what: 'pages', parallel, round, first100: compare(first), all: rounds.at(-1) })
    }
    print({ what: 'pages', parallel, best: best(rounds) })
  }
}

async function inParallel<T>(items: T[], parallel: number, work: (item: T) => Promise<void>) {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

async function timeOf(url: string, headers: Record<string, string>) {
  const startedAt = performance.now()
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`)
  return performance.now() - startedAt
}

type Times = { ours: number[]; bare: number[] }
type Quantiles = { p50: number; p95: number }
type Comparison = Quantiles & { bare: Quantiles; toP50: number; toBare: number }

function compare({ ours, bare }: Times) {
  return related(quantiles(ours), quantiles(bare))
}

function best(rounds: Comparison[]) {
  return related(lowest(rounds), lowest(rounds.map(({ bare }) => bare)))
}

function related(ours: Quantiles, bare: Quantiles): Comparison {
  const ratio = (a: number, b: number) => Math.round((a / b) * 100) / 100
  return { ...ours, bare, toP50: ratio(ours.p95, ours.p50), toBare: ratio(ours.p95, bare.p95) }
}

function quantiles(times: number[]) {
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95) }
}

function lowest(rounds: Quantiles[]): Quantiles {
  return {
    p50: Math.min(...rounds.map(({ p50 }) => p50)),
    p95: Math.min(...rounds.map(({ p95 }) => p95)),
  }
}

function quantile(numbers: number[], share: number) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 100) / 100
}

async function startPlain(): Promise<string> {
  const script = fileURLToPath(new URL('./pages/plain.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ends.unshift(() => stopProcess(child))
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line).plain
  throw new Error('the bare server does not start')
}

/** Peak of the resident memory in megabytes, sampled until the returned function is called. */
function watchPeak(pid: number) {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid).rssMb)
  }, 50)
  return () => {
    clearInterval(timer)
    return peak
  }
}

/** Megabytes of a process and those that it started; `ownMb` without the pages of programs and libraries. */
function memoryOf(pid: number): { rssMb: number; ownMb: number } {
  const total = { rssMb: 0, ownMb: 0 }
  for (const id of [pid, ...childrenOf(pid)]) {
    const text = read(`/proc/${id}/smaps_rollup`)
    const mb = (name: string) =>
      Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024)
    total.rssMb += mb('Rss')
    total.ownMb += mb('Anonymous')
  }
  return total
}

function childrenOf(pid: number): number[] {
  const ids = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return ids.flatMap(id => [id, ...childrenOf(id)])
}

function read(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}
