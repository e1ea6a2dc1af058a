// Libraries of real little books in a folder of the test, scanned by the pipeline in this process.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { createLibrary } from '../../lib/catalog/library/library.ts'
import { recountReadingOf } from '../../lib/catalog/progress/series-reading.ts'
import { requestScan, type ScanRequest } from '../../lib/catalog/scan/scan-request.ts'
import { type Config, loadConfig } from '../../lib/config/config.ts'
import { openLog } from '../../lib/log.ts'
import type { Sql } from '../../lib/postgres/db.ts'
import { examine } from '../../pipeline/doctor/doctor.ts'
import { dedupe } from '../../pipeline/index/dedupe.ts'
import { type Pipeline, startPipeline } from '../../pipeline/pipeline.ts'
import { png, zip } from '../archive/archive-files.ts'
import { database } from './db.ts'

export type Catalogue = {
  sql: Sql
  url: string
  data: string
  config: Config
  pipeline: Pipeline
  /** Makes the groups of duplicates now instead of in a while; what earlier scans asked for is done by that. */
  dedupe: () => Promise<void>
}
export type Shelf = Awaited<ReturnType<typeof shelve>>
type Files = Record<string, Buffer>
type ScanOptions = Partial<Omit<ScanRequest, 'libraryId' | 'paths'>> & { paths?: string[] }

let made = 0

/** A CBZ that no other call makes again; `padding` bytes lie after the pages, `info` is ComicInfo.xml. */
export function comic({ pages = 2, padding = 0, info = '' } = {}): Buffer {
  made += 1
  const images = Array.from({ length: pages }, (_, i) => ({
    name: `${made}-${i + 1}.png`,
    bytes: png(30 + i),
  }))
  const more = padding > 0 ? [{ name: 'notes.bin', bytes: Buffer.alloc(padding, made) }] : []
  const told = info ? [{ name: 'ComicInfo.xml', bytes: Buffer.from(info) }] : []
  return zip([...told, ...images, ...more])
}

/** A folder until the end of `t` that any account may look into. */
export function temporary(t: Test): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stackroom-')))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Files in a folder of their own; answers its path. */
export function folderOf(t: Test, files: Files): string {
  const root = join(temporary(t), 'books')
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
  return root
}

/** `Row/1.cbz` and so on. */
export function manyComics(count: number): Files {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`Row/${i + 1}.cbz`, comic({ pages: 1 })]),
  )
}

/** A database, a data directory and a running pipeline until the end of `t`. */
export async function catalogue(
  t: Test,
  settings: Record<string, unknown> = {},
): Promise<Catalogue> {
  const { sql, url } = await database(t)
  const data = temporary(t)
  const flags = { data_dir: join(data, 'data'), 'pipeline.threads': 1, ...settings }
  const config = loadConfig({ env: {}, flags })
  const pipeline = await startPipeline({ sql, config, log: openLog({ level: 'error' }) })
  t.teardown(() => pipeline.close())
  return { sql, url, data: config.data_dir, config, pipeline, dedupe: () => dedupeNow(sql) }
}

async function dedupeNow(sql: Sql) {
  await sql`delete from pgboss.job where name = 'dedupe' and state in ('created', 'retry')`
  const isRunning = () => sql`select 1 from pgboss.job where name = 'dedupe' and state = 'active'`
  while ((await isRunning()).length > 0) await sleep(20)
  await dedupe(sql)
}

/** A library with these files, and what users and file systems do to it. Paths are relative to its root. */
export async function shelve(
  t: Test,
  { sql, pipeline }: Pick<Catalogue, 'sql' | 'pipeline'>,
  files: Files = {},
) {
  const root = join(temporary(t), 'shelf')
  mkdirSync(root)
  const at = (path: string | Buffer) =>
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path as string)])
  const write = (path: string | Buffer, bytes: Uint8Array) => {
    const place = at(path)
    mkdirSync(place.subarray(0, place.lastIndexOf(0x2f)), { recursive: true })
    writeFileSync(place, bytes)
  }
  for (const [path, bytes] of Object.entries(files)) write(path, bytes)
  const { id } = await createLibrary(sql, { root: Buffer.from(root), name: 'Shelf' })

  return {
    id,
    root,
    at,
    write,
    remove: (path: string) => rmSync(at(path), { recursive: true }),
    move(from: string | Buffer, to: string | Buffer) {
      const place = at(to)
      mkdirSync(dirname(place.toString()), { recursive: true })
      renameSync(at(from), place)
    },
    /** Other bytes under the same size and times. */
    replaceSilently(path: string, bytes: Uint8Array) {
      const { atime, mtime } = statSync(at(path))
      writeFileSync(at(path), bytes)
      utimesSync(at(path), atime, mtime)
    },
    /** Scans to the end, covers and hashes included, and answers the scan's row. */
    async scan({ paths = [], mode = 'normal', options = {} }: ScanOptions = {}) {
      const wanted = { libraryId: id, mode, options, paths: paths.map(path => Buffer.from(path)) }
      const scanId = await requestScan(sql, pipeline.queue, wanted)
      return await ended({ sql, pipeline }, scanId)
    },
    async books() {
      return await sql<BookRow[]>`
        select b.id, convert_from(d.path, 'latin1') as folder, convert_from(b.name, 'latin1') as name,
          b.title, b.series_id as "seriesId", s.title as series, b.missing_at as "missingAt",
          b.error_code as error, b.page_count as pages, encode(b.sha256, 'hex') as sha256,
          encode(b.cover, 'hex') as cover, b.modified_ms as modified, b.library_id as "libraryId"
        from book b
        join directory d on d.id = b.directory_id
        join series s on s.id = b.series_id
        where b.library_id = ${id}
        order by d.path, b.name, b.id`
    },
    async book(name: string) {
      const found = (await this.books()).filter(book => book.name === name)
      if (found.length !== 1) throw new Error(`${found.length} books are called ${name}`)
      return found[0]!
    },
    async counters() {
      const [row] = await sql`
        select series_count as series, book_count as books, missing_count as missing,
          page_count as pages, size
        from library where id = ${id}`
      return { ...row }
    },
  }
}

type BookRow = {
  id: string
  folder: string
  name: string
  title: string
  seriesId: string
  series: string
  missingAt: Date | null
  error: string | null
  pages: number
  sha256: string | null
  cover: string | null
  modified: number
  libraryId: string
}

/** Waits until a scan and what it left to the lanes is over. */
export async function ended(
  { sql, pipeline }: Pick<Catalogue, 'sql' | 'pipeline'>,
  scanId: string,
) {
  for (let left = 5_000; left > 0; left--) {
    if (left % 10 === 0) pipeline.wake()
    const [scan] = await sql`select * from scan where id = ${scanId}`
    const over = scan!.finished_at !== null
    const [job] = await sql`
      select 1 from pgboss.job where id = ${scanId} and state < 'completed'`
    const isBusy = () => pipeline.queue.busy(scan!.library_id, ['index', 'cover', 'hash'])
    if (over && !job && !(await isBusy())) {
      return { ...scan } as ScanRow
    }
    await sleep(20)
  }
  throw new Error('the scan does not end')
}

type ScanRow = Record<'found' | 'added' | 'changed' | 'moved' | 'missing' | 'restored', number> &
  Record<
    'unchanged' | 'opens' | 'to_index' | 'bytes_read' | 'unreadable_directories' | 'warnings',
    number
  > & {
    id: string
    state: string
    message: string | null
    failed: Record<string, number>
  }

/** An account, for progress to hang on. */
export async function reader(sql: Sql) {
  const [row] = await sql<{ id: string }[]>`
    insert into account (id, username, password_hash)
    values (gen_random_uuid(), ${`reader ${(made += 1)}`}, '-')
    returning id`
  return {
    id: row!.id,
    async read(bookId: string, page: number) {
      await sql`
        insert into progress (account_id, book_id, current_page) values (${row!.id}, ${bookId}, ${page})`
      const [book] = await sql<{ series: string }[]>`
        select series_id as series from book where id = ${bookId}`
      await recountReadingOf(sql, row!.id, [book!.series])
    },
    async pages() {
      const rows = await sql<{ book_id: string; current_page: number }[]>`
        select book_id, current_page from progress where account_id = ${row!.id} order by book_id`
      return Object.fromEntries(rows.map(p => [p.book_id, p.current_page]))
    },
  }
}

/** What the doctor finds wrong, in words; empty when all is well. */
export async function faults({ sql, data }: Pick<Catalogue, 'sql' | 'data'>): Promise<string[]> {
  const { findings } = await examine({ sql, queue: null, thumbnails: join(data, 'thumbnails') })
  return findings
    .filter(finding => finding.count > 0)
    .map(({ name, count, samples }) => `${name}: ${count} (${samples.join(', ')})`)
}

/** Makes tests at whose end the doctor must find nothing. */
export function checkedBy(t: Test, all: Catalogue) {
  return (sentence: string, work: (t: Test) => Promise<unknown>) =>
    t.test(sentence, async t => {
      await work(t)
      t.same(await faults(all), [], 'the doctor finds nothing')
    })
}
