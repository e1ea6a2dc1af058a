// Latency of original pages of 0.8 megabytes beside a bare Fastify server that reads the same bytes from plain files,
// in the same run: the first hundred requests after a start, then a few seconds, with 1, 4 and 16 connections. Both are
// processes of their own, started for each row; the ratio of the p95 is the median of the rounds.
// The first pages of all books are read first, then the second ones: the hardest order, in which a fifth of the first
// hundred requests open a book. `--reading`: five books of forty pages, one after the other, as people read.
// npm run bench -- page-latency [--rounds 3] [--seconds 3] [--reading]
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { ZipFile } from 'yazl'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { type Load, load } from '../kit/load.ts'
import { startServer, startStackroom, stopProcess } from '../kit/server-process.ts'
import { print, stackroom } from '../kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    reading: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const [books, pagesPerBook] = values.reading ? [5, 40] : [20, 10]
const firstRequests = 100
const folder = mkdtempSync(join(tmpdir(), 'stackroom-page-latency-'))
const data = join(folder, 'data')

try {
  const bytes = await makeLibrary()
  await stackroom(['scan', join(folder, 'books'), '--data', data, '--json'])
  const key = await createKey()
  for (const connections of [1, 4, 16]) {
    const ratios: { first: number[]; later: number[] } = { first: [], later: [] }
    for (let round = 0; round < rounds; round++) {
      const ours = await measureOurs(key, connections)
      const bare = await measureBare(connections)
      print({ connections, pageBytes: bytes, ours, bare })
      ratios.first.push(ours.first.p95 / bare.first.p95)
      ratios.later.push(ours.later.p95 / bare.later.p95)
    }
    print({ connections, p95Ratio: { first: median(ratios.first), later: median(ratios.later) } })
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function makeLibrary(): Promise<number> {
  for (const name of ['books/Bench', 'plain']) mkdirSync(join(folder, name), { recursive: true })
  let total = 0
  for (let book = 0; book < books; book++) {
    const zip = new ZipFile()
    for (let page = 0; page < pagesPerBook; page++) {
      const image = await picture()
      total += image.length
      writeFileSync(join(folder, 'plain', `${book}-${page}.jpg`), image)
      zip.addBuffer(image, `${page}.jpg`, { compress: false })
    }
    zip.end()
    const file = createWriteStream(join(folder, 'books', 'Bench', `${book}.cbz`))
    await finished(zip.outputStream.pipe(file) as never)
  }
  return Math.round(total / books / pagesPerBook)
}

/** Noise, so that the file has the size of a real page. */
function picture(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 140, sigma: 30 } as const
  const create = { width: 1850, height: 2775, channels: 3, background: '#888', noise } as const
  return sharp({ create }).blur(0.9).jpeg({ quality: 76 }).toBuffer()
}

async function createKey(): Promise<string> {
  const database = await openDatabase(loadConfig({ env: {}, flags: { data_dir: data } }))
  const { key } = await insertAccount(database.sql, 'admin')
  await database.close()
  return key
}

async function measureOurs(key: string, connections: number) {
  // As at the first start of a version, which has nothing prepared.
  rmSync(join(data, 'cache'), { recursive: true, force: true })
  const { child, base } = await startStackroom(['--data', data])
  const headers = { 'x-api-key': key }
  const list = await fetch(`${base}/api/v1/books?pageSize=${books}`, { headers })
  const ids = ((await list.json()) as { data: { id: string }[] }).data.map(book => book.id)
  const paths = pagesOf((book, page) => `/api/v1/books/${ids[book]}/pages/${page + 1}`)
  try {
    return await measure({ url: base, paths, headers, connections })
  } finally {
    await stopProcess(child)
  }
}

async function measureBare(connections: number) {
  const script = join('bench', 'pages', 'plain.ts')
  const { child, base } = await startServer([script, join(folder, 'plain')])
  const paths = pagesOf((book, page) => `/read/${book}-${page}.jpg`)
  try {
    return await measure({ url: new URL(base).origin, paths, headers: {}, connections })
  } finally {
    await stopProcess(child)
  }
}

function pagesOf(pathOf: (book: number, page: number) => string): string[] {
  return Array.from({ length: books * pagesPerBook }, (_, i) =>
    values.reading
      ? pathOf(Math.floor(i / pagesPerBook), i % pagesPerBook)
      : pathOf(i % books, Math.floor(i / books)),
  )
}

type Target = { url: string; paths: string[]; headers: Record<string, string>; connections: number }

async function measure({ paths, ...target }: Target) {
  let turn = 0
  const path = () => paths[turn++ % paths.length]!
  const first = await load({ ...target, path, seconds: 60, requests: firstRequests })
  const later = await load({ ...target, path, seconds })
  if (first.errors + later.errors > 0) throw new Error(`${target.url}: requests failed`)
  return { first: tailOf(first), later: tailOf(later) }
}

function tailOf({ p50, p95 }: Load) {
  return { p50: rounded(p50), p95: rounded(p95) }
}

function median(numbers: number[]) {
  return rounded(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!)
}

function rounded(number: number) {
  return Math.round(number * 100) / 100
}
