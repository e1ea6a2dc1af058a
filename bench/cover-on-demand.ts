// Latency of covers on demand while the covers of the whole library are being made: from the request to
// the last byte. node bench/cover-on-demand.ts [--books 20000] [--looks 300] [--abreast 6] [--threads 0]
import type { ChildProcess } from 'node:child_process'
import { chmodSync, createWriteStream, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { ZipFile } from 'yazl'
import { findOrCreateLibrary } from '../lib/catalog/library/library-write.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { startStackroom, stopProcess } from './kit/server-process.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    books: { type: 'string', default: '20000' },
    looks: { type: 'string', default: '300' },
    // How many covers a browser requests at once.
    abreast: { type: 'string', default: '6' },
    threads: { type: 'string', default: '0' },
  },
})
const books = Number(values.books)
const folder = mkdtempSync(join(tmpdir(), 'stackroom-show-'))
chmodSync(folder, 0o755)
const data = join(folder, 'data')
await makeLibrary()
const config = loadConfig({ env: {}, flags: { data_dir: data } })
const { sql, url, close } = await openDatabase(config)
const servers: ChildProcess[] = []
try {
  await migrate(sql)
  const root = Buffer.from(join(folder, 'books'))
  const library = await findOrCreateLibrary(sql, { root })
  await sql`update library set hash_policy = 'off'`
  const { key } = await insertAccount(sql, 'admin')
  const base = await serve()
  const headers = { 'x-api-key': key }
  await fetch(`${base}/api/v1/libraries/${library.id}/scan`, { method: 'POST', headers })
  await indexed(library.id)
  print({ books, waiting: await waiting(), coversASecond: await rate(async () => sleep(10_000)) })
  const look = (id: string) => lookAt(`${base}/api/v1/books/${id}/thumbnail`, headers)
  for (const abreast of [1, Number(values.abreast)]) {
    const ids = await uncovered(Number(values.looks))
    const times: number[] = []
    let drawings = 0
    const coversASecond = await rate(async () => {
      const queue = ids.values()
      const one = async () => {
        for (const id of queue) {
          const { took, isCover } = await look(id)
          times.push(took)
          if (!isCover) drawings += 1
        }
      }
      await Promise.all(Array.from({ length: abreast }, one))
    })
    times.sort((a, b) => a - b)
    const at = (part: number) => Math.round(times[Math.floor((times.length - 1) * part)]!)
    const ms = { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
    print({ abreast, looks: times.length, drawings, ms, coversASecond, waiting: await waiting() })
  }
} finally {
  await Promise.all(servers.map(stopProcess))
  await close()
  rmSync(folder, { recursive: true })
}

async function lookAt(url: string, headers: Record<string, string>) {
  const began = performance.now()
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  const type = response.headers.get('content-type')
  return { took: performance.now() - began, isCover: response.ok && type !== 'image/svg+xml' }
}

/** Covers made a second, by anyone, while `work` runs. */
async function rate(work: () => Promise<unknown>) {
  const count = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(cover)::int as count from book_artifact`
    return row!.count
  }
  const [before, began] = [await count(), performance.now()]
  await work()
  return Math.round(((await count()) - before) / ((performance.now() - began) / 1000))
}

async function waiting() {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from book_artifact where cover is null`
  return row!.count
}

/** Books that are processed last; if they have a cover, it was created on demand. */
async function uncovered(count: number) {
  const rows = await sql<{ id: string }[]>`
    select id from (select book_id as id from book_artifact where cover is null order by book_id desc limit ${count * 4}) b
    order by random() limit ${count}`
  return rows.map(row => row.id)
}

async function indexed(libraryId: string) {
  for (;;) {
    const [row] = await sql`
      select 1 from scan where library_id = ${libraryId} and finished_at is not null`
    if (row) return
    await sleep(500)
  }
}

async function serve(): Promise<string> {
  const { child, base } = await startStackroom(['--data', data, '--database-url', url], {
    STACKROOM_LOGGING__LEVEL: 'warn',
    STACKROOM_PIPELINE__THREADS: values.threads,
  })
  servers.push(child)
  return base
}

/** Every file is one of a few, under many names: what is measured is work, not the disk. */
async function makeLibrary() {
  const originals = join(folder, 'originals')
  mkdirSync(originals)
  for (let i = 0; i < 25; i++) {
    const zip = new ZipFile()
    zip.addBuffer(await picture(60 + i), '1.jpg', { compress: false })
    zip.addBuffer(Buffer.alloc(100 + i, i), 'notes.bin', { compress: false })
    zip.end()
    await finished(zip.outputStream.pipe(createWriteStream(join(originals, `${i}.cbz`))) as never)
  }
  for (let i = 0; i < books; i++) {
    const series = join(folder, 'books', `Series ${Math.floor(i / 50)}`)
    if (i % 50 === 0) mkdirSync(series, { recursive: true })
    linkSync(join(originals, `${i % 25}.cbz`), join(series, `${i % 50}.cbz`))
  }
}

/** Noise, so that decoding costs what it does on a real page. */
function picture(quality: number) {
  const noise = { type: 'gaussian', mean: 140, sigma: 30 } as const
  const create = { width: 1600, height: 2400, channels: 3, background: '#888', noise } as const
  return sharp({ create }).blur(1.2).jpeg({ quality }).toBuffer()
}
