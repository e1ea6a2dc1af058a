// Throughput of pages and thumbnails over the API, sign-in and database included, against plain files of the same
// size sent by bare Fastify routes in the same run; then resizing 64 at a time, with the memory that
// takes.
// node bench/pages.ts [--rounds 5] [--seconds 3] [--connections 16] [--idle 45] [--books DIR]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import sharp, { type JpegOptions } from 'sharp'
import { ZipFile } from 'yazl'
import { load as ask } from './kit/load.ts'
import { print } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    idle: { type: 'string', default: '45' },
    // Any books, whose pages are resized in a mix.
    books: { type: 'string' },
  },
})
const duration = Number(values.seconds)
const connections = Number(values.connections)
const ways = ['static', 'stream', 'read'] as const
const bookBytes = 200 * 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'stackroom-pages-'))
chmodSync(folder, 0o755)

type Book = { id: string; name: string; pages: number }
type Server = { api: string; figures: string; key: string; books: Book[] }

await makeLibrary()
const children: ChildProcess[] = []
await once(run('server', 'scan'), 'exit')
const server = await started<Server>(run('server'))
const { plain } = await started<{ plain: string }>(run('plain'))
const large = bookOf('large.cbz')
try {
  const thumbnail = `/api/v1/books/${large.id}/thumbnail`
  writeFileSync(join(folder, 'thumbnail.jpg'), await bytesOf(thumbnail))
  print({ pageBytes: (await bytesOf(pageOf(large, 0))).length, ...(await figures()) })
  const all = range(large.pages).map(i => pageOf(large, i))
  await compare('page', all)
  await compare('thumbnail', [thumbnail])
  await countReads()
  await resize(large, 64, 'resized 1600x2400')
  await resize(bookOf('huge.cbz'), 16, 'resized 4000x6000 progressive')
  if (values.books) await mix()
  await load([pageOf(large, 0)], connections, 1)
  print({ after: 'all', ...(await figures()) })
  // Threads without work end after half a minute.
  await sleep(Number(values.idle) * 1000)
  print({ after: `${values.idle} s of rest`, ...(await figures()) })
} finally {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill()
    await once(child, 'exit')
  }
  rmSync(folder, { recursive: true })
}

function range(count: number) {
  return Array.from({ length: count }, (_, i) => i)
}

function bookOf(name: string): Book {
  return server.books.find(book => book.name === name)!
}

function pageOf({ id, pages }: Book, index: number, query = '') {
  return `/api/v1/books/${id}/pages/${(index % pages) + 1}${query}`
}

async function bytesOf(path: string): Promise<Buffer> {
  const response = await fetch(server.api + path, { headers: { 'x-api-key': server.key } })
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/** `ratios`: our rate divided by the rate of each way to send a plain file, medians of the rounds. */
async function compare(what: string, paths: string[]) {
  await load(paths, connections, 1)
  await figures()
  const rounds: Record<string, number>[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const rates: Record<string, number> = {}
    for (const way of ways) {
      const { rate, errors } = await loadPlain(`/${way}/${what}.jpg`)
      if (errors > 0) throw new Error(`${errors} plain answers failed`)
      rates[way] = rate
    }
    const { rate, p99, errors } = await load(paths, connections, duration)
    print({ what, ...rates, ours: rate, p99, errors })
    rounds.push(Object.fromEntries(ways.map(way => [way, rate / rates[way]!])))
  }
  const ratios = Object.fromEntries(
    ways.map(way => [way, median(rounds.map(round => round[way]!))]),
  )
  print({ what, ratios, ...(await figures()) })
}

/** One page after the other: what one request costs when the directory is known. */
async function countReads() {
  const before = await figures()
  for (const i of range(50)) await bytesOf(pageOf(large, i))
  const after = await figures()
  const spent = (key: string) => (after[key]! - before[key]!) / 50
  print({ opensAPage: spent('opens'), readsAPage: spent('reads'), tasksAPage: spent('tasks') })
}

/** Every one of them new. */
async function resize(book: Book, parallel: number, what: string) {
  await figures()
  let width = 300
  const path = () => pageOf(book, (width += 1), `?width=${width}`)
  const { rate, errors, p99 } = await load([path], parallel, duration * 2)
  print({ what, parallel, rate, errors, p99, ...(await figures()) })
}

/** All kinds of books, their pages as they are and resized. */
async function mix() {
  await figures()
  const others = server.books.filter(book => book !== large && book.name !== 'huge.cbz')
  let turn = 0
  const path = () => {
    turn += 1
    const book = others[turn % others.length]!
    const index = Math.floor(turn / others.length)
    return pageOf(book, index, turn % 3 === 0 ? '' : `?width=${300 + (turn % 700)}`)
  }
  const { rate, errors, p99 } = await load([path], 32, duration * 5)
  print({ what: 'mix', books: others.length, rate, refused: errors, p99, ...(await figures()) })
}

type Path = string | (() => string)

async function load(paths: Path[], parallel: number, seconds: number) {
  let turn = 0
  const path = () => {
    const next = paths[turn++ % paths.length]!
    return typeof next === 'string' ? next : next()
  }
  const headers = { 'x-api-key': server.key }
  return ask({ url: server.api, path, headers, connections: parallel, seconds })
}

function loadPlain(path: string) {
  return ask({ url: plain, path: () => path, connections, seconds: duration })
}

async function figures(): Promise<Record<string, number>> {
  return (await (await fetch(`${server.figures}/figures`)).json()) as Record<string, number>
}

/** With the environment that `stackroom` gives itself; what is set already stays. */
function run(name: string, ...args: string[]): ChildProcess {
  const script = fileURLToPath(new URL(`./pages/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--max-semi-space-size=8', script, folder, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '4', ...process.env },
  })
  children.push(child)
  return child
}

/** The line that it prints when it is ready. */
async function started<T>(child: ChildProcess): Promise<T> {
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line)
  throw new Error('it does not start')
}

async function makeLibrary() {
  mkdirSync(join(folder, 'books', 'Bench'), { recursive: true })
  const images = await Promise.all(range(4).map(i => picture(1600, 2400, { quality: 72 + i })))
  const pages = Math.ceil(bookBytes / images[0]!.length)
  await writeBook(
    'large.cbz',
    range(pages).map(i => images[i % images.length]!),
  )
  const huge = await picture(4000, 6000, { quality: 60, progressive: true })
  await writeBook(
    'huge.cbz',
    range(20).map(() => huge),
  )
  writeFileSync(join(folder, 'page.jpg'), images[0]!)
  if (values.books) cpSync(values.books, join(folder, 'books', 'Mix'), { recursive: true })
  print({ bookMb: statSync(join(folder, 'books', 'Bench', 'large.cbz')).size / 1e6, pages })
}

async function writeBook(name: string, images: Buffer[]) {
  const zip = new ZipFile()
  for (const [i, image] of images.entries())
    zip.addBuffer(image, `${String(i).padStart(4, '0')}.jpg`, { compress: false })
  zip.end()
  await finished(
    zip.outputStream.pipe(createWriteStream(join(folder, 'books', 'Bench', name))) as never,
  )
}

/** Noise and lines, so that decoding costs what it does on a real page. */
async function picture(width: number, height: number, options: JpegOptions) {
  const noise = { type: 'gaussian', mean: 140, sigma: 30 } as const
  const create = { width, height, channels: 3, background: '#888', noise } as const
  return sharp({ create }).blur(1.2).jpeg(options).toBuffer()
}

function median(numbers: number[]) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}
