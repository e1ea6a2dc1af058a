// Libraries of small comics in a temporary folder, changed by the test and scanned by the pipeline.
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxWholeFileBytes } from '../../lib/base/file.ts'
import { findOrCreateLibrary, type LibraryDraft } from '../../lib/catalog/library/library-write.ts'
import { requestScan, type ScanRequest } from '../../lib/catalog/scan/scan-request.ts'
import type { Catalog } from './catalog.ts'
import type { Scope } from './db.ts'
import { png, zip } from './files/archives.ts'
import { type Files, temporaryFolder } from './files/folders.ts'

export type TestLibrary = Awaited<ReturnType<typeof createTestLibrary>>
type Services = Pick<Catalog, 'sql' | 'pipeline'>
type ScanOptions = Partial<Omit<ScanRequest, 'libraryId' | 'paths'>> & { paths?: string[] }

let counter = 0

/** A CBZ unlike any other; `padding` adds a file of that many bytes, `info` is the ComicInfo.xml. */
export function comic({ pages = 2, padding = 0, info = '' } = {}): Buffer {
  counter += 1
  const images = Array.from({ length: pages }, (_, i) => ({
    name: `${counter}-${i + 1}.png`,
    bytes: png(30 + i),
  }))
  const notes = { name: 'notes.bin', bytes: Buffer.alloc(padding, counter) }
  const infoEntry = { name: 'ComicInfo.xml', bytes: Buffer.from(info) }
  return zip([...(info ? [infoEntry] : []), ...images, ...(padding > 0 ? [notes] : [])])
}

/** A CBZ that is not read whole while it is indexed, and therefore hashed by a job. */
export const largeComic = (): Buffer => comic({ padding: maxWholeFileBytes })

/** Comics of one page, `Row/1.cbz` and so on. */
export function comicFiles(count: number): Files {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`Row/${i + 1}.cbz`, comic({ pages: 1 })]),
  )
}

/** A library with these files until the end of `t`; not scanned yet. Paths are relative to its root. */
export async function createTestLibrary(
  t: Scope,
  services: Services,
  files: Files = {},
  { seriesStrategy }: Pick<LibraryDraft, 'seriesStrategy'> = {},
) {
  const root = join(temporaryFolder(t), 'shelf')
  mkdirSync(root)
  writeFiles(root, files)
  const { id } = await findOrCreateLibrary(services.sql, {
    root: Buffer.from(root),
    name: 'Shelf',
    seriesStrategy,
  })
  return openTestLibrary(services, { id, root })
}

/** An existing library. */
export function openTestLibrary(
  { sql, pipeline }: Services,
  { id, root }: { id: string; root: string },
) {
  const pathOf = (path: string | Buffer) => absolute(root, path)
  return {
    id,
    root,
    pathOf,
    write: (path: string | Buffer, bytes: Uint8Array) => writeAt(pathOf(path), bytes),
    remove: (path: string) => rmSync(pathOf(path), { recursive: true }),
    move(from: string | Buffer, to: string | Buffer) {
      const target = pathOf(to)
      mkdirSync(dirname(target.toString()), { recursive: true })
      renameSync(pathOf(from), target)
    },
    /** Replaces the content without changing size and times. */
    replaceSilently(path: string, bytes: Uint8Array) {
      const { atime, mtime } = statSync(pathOf(path))
      writeFileSync(pathOf(path), bytes)
      utimesSync(pathOf(path), atime, mtime)
    },
    /** Scans and waits for everything that follows, covers and hashes included; returns the row of the scan. */
    async scan({ paths = [], mode = 'normal', options = {} }: ScanOptions = {}) {
      const request = { libraryId: id, mode, options, paths: paths.map(path => Buffer.from(path)) }
      const scanId = await requestScan(sql, pipeline.queue, request)
      return await waitForScan({ sql, pipeline }, scanId)
    },
    async books() {
      return await sql<BookRow[]>`
        select b.id, convert_from(d.path, 'latin1') as folder, convert_from(b.name, 'latin1') as name,
          b.title, b.series_id as "seriesId", s.title as series, b.missing_at as "missingAt",
          b.error_code as error, b.page_count as pages, encode(a.sha256, 'hex') as sha256,
          encode(a.cover, 'hex') as cover, b.modified_ms as modified, b.library_id as "libraryId"
        from book b
        join book_artifact a on a.book_id = b.id
        join directory d on d.id = b.directory_id
        join series s on s.id = b.series_id
        where b.library_id = ${id}
        order by d.path, b.name, b.id`
    },
    async book(name: string) {
      const matches = (await this.books()).filter(book => book.name === name)
      if (matches.length !== 1) throw new Error(`${matches.length} books are called ${name}`)
      return matches[0]!
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

// A path may contain bytes that are not UTF-8.
const absolute = (root: string, path: string | Buffer) =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path as string)])

function writeAt(path: Buffer, bytes: Uint8Array) {
  mkdirSync(path.subarray(0, path.lastIndexOf(0x2f)), { recursive: true })
  writeFileSync(path, bytes)
}

function writeFiles(root: string, files: Files) {
  for (const [path, bytes] of Object.entries(files)) writeAt(absolute(root, path), bytes)
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

/** Waits until a scan has finished and its library has no index, cover or hash job left. */
export async function waitForScan({ sql, pipeline }: Services, scanId: string) {
  for (let left = 5_000; left > 0; left--) {
    // Batches are enqueued without a notification.
    pipeline.wake()
    const read = () => sql<{ library_id: string; isWaiting: boolean }[]>`
      select scan.*, finished_at is null or exists (
        select from pgboss.job where id = ${scanId} and state < 'completed') as "isWaiting"
      from scan where id = ${scanId}`
    const [scan] = await read()
    const isBusy = () => pipeline.queue.hasJobs(scan!.library_id, ['index', 'cover', 'hash'])
    // Its last jobs may have changed the row since.
    if (!scan!.isWaiting && !(await isBusy())) return { ...(await read())[0] } as unknown as ScanRow
    await sleep(20)
  }
  throw new Error('the scan does not finish')
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
