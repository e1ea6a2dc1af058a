// Pages of a reader while another account sends decoder bombs: page, resized page, cover and upload of more
// than thirty of them, against a server process as installed.
// node bench/bombs.ts [--seconds 30] [--attackers 8] [--readers 4]
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { findOrCreateLibrary } from '../lib/catalog/library/library-write.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { openDatabase } from '../lib/store/postgres/db.ts'
import { migrate } from '../lib/store/postgres/migrate.ts'
import { insertAccount } from '../test/kit/accounts.ts'
import { zip } from '../test/kit/files/archives.ts'
import { type Bomb, bookOfBomb, createBombs } from '../test/kit/files/bombs.ts'
import { startStackroom, stopProcess } from './kit/server-process.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    attackers: { type: 'string', default: '8' },
    readers: { type: 'string', default: '4' },
  },
})
const seconds = Number(values.seconds)
const goodBooks = 10
const goodPages = 20
const folder = mkdtempSync(join(tmpdir(), 'stackroom-bombs-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]

try {
  const bombs = await createBombs()
  await writeLibrary(bombs)
  const config = loadConfig({ env: {}, flags: { data_dir: join(folder, 'data') } })
  const { sql, url, close } = await openDatabase(config)
  ends.unshift(close)
  await migrate(sql)
  const [reader, attacker] = [await insertAccount(sql, 'reader'), await insertAccount(sql, 'admin')]
  const { child, base } = await startStackroom(['--data', config.data_dir, '--database-url', url], {
    STACKROOM_LOGGING__LEVEL: 'error',
  })
  ends.unshift(() => stopProcess(child))
  const library = await findOrCreateLibrary(sql, { root: Buffer.from(join(folder, 'books')) })
  const api = `${base}/api/v1`
  const scanned = performance.now()
  await send(`${api}/libraries/${library.id}/scan`, attacker.key, { method: 'POST' })
  await waitUntilIdle()
  const books = await sql<{ id: string; name: string; cover: boolean; error: string | null }[]>`
    select b.id, convert_from(b.name, 'utf8') as name, a.cover is not null as cover,
      coalesce(b.error_message, a.cover_error) as error
    from book b left join book_artifact a on a.book_id = b.id`
  const good = books.filter(({ name }) => name.startsWith('good'))
  const bad = books.filter(book => !good.includes(book))
  print({
    bombs: bombs.length,
    scanSeconds: Math.round((performance.now() - scanned) / 1000),
    coversOfGoodBooks: good.filter(book => book.cover).length,
    coversOfBombs: bad.filter(book => book.cover).length,
  })
  const read = () => readPages(api, reader.key, good)
  await read()
  print({ what: 'alone', ...(await read()) })
  const attack = startAttack({ api, key: attacker.key, bombs, books: bad })
  await sleep(2_000)
  print({ what: 'under attack', ...(await read()), ...(await attack.stop()) })
  print({ what: 'afterwards', ...(await read()), rssMb: residentMb(child.pid!) })

  async function waitUntilIdle() {
    for (let quiet = 0; quiet < 3; ) {
      await sleep(500)
      const [row] = await sql<{ busy: boolean }[]>`
        select not exists (select from scan where finished_at is not null) or exists (
          select from pgboss.job where state < 'completed' and name in ('index', 'cover', 'hash', 'scan')
        ) as busy`
      quiet = row!.busy ? 0 : quiet + 1
    }
  }
} finally {
  for (const end of ends) await end()
}

async function writeLibrary(bombs: Bomb[]) {
  mkdirSync(join(folder, 'books', 'Bombs'), { recursive: true })
  mkdirSync(join(folder, 'books', 'Good'), { recursive: true })
  for (const { name, bytes } of bombs.map(bookOfBomb))
    writeFileSync(join(folder, 'books', 'Bombs', name), bytes)
  const noise = { type: 'gaussian', mean: 140, sigma: 30 } as const
  const create = { width: 1200, height: 1800, channels: 3, background: '#888', noise } as const
  const page = await sharp({ create }).blur(1.2).jpeg({ quality: 75 }).toBuffer()
  for (let book = 0; book < goodBooks; book++) {
    const pages = Array.from({ length: goodPages }, (_, i) => ({
      name: `${100 + i}.jpg`,
      bytes: page,
    }))
    writeFileSync(join(folder, 'books', 'Good', `good-${book}.cbz`), zip(pages))
  }
}

type Book = { id: string; name: string }

/** Original pages and resized ones, each of which is new; milliseconds. */
async function readPages(api: string, key: string, books: Book[]) {
  const times = { original: [] as number[], resized: [] as number[] }
  let failed = 0
  const end = performance.now() + seconds * 1000
  const one = async () => {
    while (performance.now() < end) {
      const book = books[Math.floor(Math.random() * books.length)]!
      const number = 1 + Math.floor(Math.random() * goodPages)
      const kind = Math.random() < 0.7 ? 'original' : 'resized'
      const query = kind === 'resized' ? `?width=${300 + Math.floor(Math.random() * 800)}` : ''
      const startedAt = performance.now()
      const status = await send(`${api}/books/${book.id}/pages/${number}${query}`, key)
      times[kind].push(performance.now() - startedAt)
      if (status !== 200) failed += 1
      await sleep(100)
    }
  }
  await Promise.all(Array.from({ length: Number(values.readers) }, one))
  const all = [...times.original, ...times.resized]
  return {
    requests: all.length,
    failed,
    p50: quantile(all, 0.5),
    p95: quantile(all, 0.95),
    p95Original: quantile(times.original, 0.95),
    p95Resized: quantile(times.resized, 0.95),
    worst: quantile(all, 1),
  }
}

type Target = { api: string; key: string; bombs: Bomb[]; books: Book[] }

function startAttack({ api, key, bombs, books }: Target) {
  const statuses: Record<string, number> = {}
  const controller = new AbortController()
  let count = 0
  const request = async (url: string, init: RequestInit = {}) => {
    const status = await send(url, key, { ...init, signal: controller.signal }).catch(
      () => 'aborted',
    )
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  const one = async () => {
    while (!controller.signal.aborted) {
      const book = books[Math.floor(Math.random() * books.length)]!
      const bomb = bombs[Math.floor(Math.random() * bombs.length)]!
      const width = 200 + Math.floor(Math.random() * 3000)
      count += 1
      const kind = count % 5
      if (kind === 0) await request(`${api}/books/${book.id}/pages/1?width=${width}`)
      else if (kind === 1) await request(`${api}/books/${book.id}/pages/1`)
      else if (kind === 2) await request(`${api}/books/${book.id}/pages/1?format=png`)
      else if (kind === 3) {
        const generate = `${api}/books/${book.id}/thumbnail/generate`
        const headers = { 'content-type': 'application/json' }
        await request(generate, { method: 'POST', headers, body: '{"force":true}' })
      } else {
        // Other bytes each time, so that a remembered failure does not apply.
        const bytes = Buffer.concat([bomb.bytes, Buffer.from(`<!-- ${count} -->`)])
        const body = new FormData()
        body.set('file', new Blob([new Uint8Array(bytes)]), 'cover')
        await request(`${api}/books/${book.id}/cover`, { method: 'POST', body })
      }
    }
  }
  const all = Promise.all(Array.from({ length: Number(values.attackers) }, one))
  return {
    async stop() {
      controller.abort()
      await all
      return { attacks: count, statuses }
    },
  }
}

async function send(url: string, key: string, init: RequestInit = {}): Promise<number> {
  const headers = { ...init.headers, 'x-api-key': key }
  const response = await fetch(url, { ...init, headers })
  await response.arrayBuffer()
  return response.status
}

function quantile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}

function residentMb(pid: number) {
  return Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
  )
}
