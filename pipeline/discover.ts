// First stage: walks the library and compares it with the catalogue, folder by folder. A folder whose
// digest is the stored one costs one row of a lookup; only a changed folder is compared file by file.
// What is new or different goes to `found`, what is not there any more to `vanished`, together with
// the folder's new digest and the jobs, in one transaction a batch.
import { hash } from 'node:crypto'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import type { Sql, TransactionSql } from 'postgres'
import { newId } from '../lib/id.ts'
import type { Queue } from '../lib/jobs.ts'
import { joinPath } from '../lib/path.ts'
import { jobsOf } from './plan.ts'
import type { LoadedScan } from './scan-context.ts'
import { type Listing, walk } from './walk.ts'

/** What a library takes in when it does not name its formats. */
export const defaultExtensions = ['cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf']

// Goes into every digest; a new number makes every folder be compared once.
const discoveryVersion = 1

export type Discovered = {
  files: number
  /** New or different files, and their sizes together in bytes. */
  toRead: number
  toReadBytes: number
  vanished: number
  unreadable: number
}

type Folder = { id: string; digest: string | null; sidecars: Record<string, number> }
/** A book that is not where it was; `directoryId` is the folder whose listing lacks it or a folder above it. */
type Vanished = { bookId: string; folderId: string; name: string; directoryId: string }
type Difference = { directoryId: string; name: string; size: number; ms: number; forced: boolean }

export type Discovery = {
  sql: Sql
  /** Null only when dry. */
  queue: Queue | null
  scan: LoadedScan
  /** Compare and count, write nothing. */
  dry: boolean
  stop: () => boolean
}

/** Walks and compares. Memory holds four batches of listings, however large the library is. */
export async function discover(discovery: Discovery): Promise<Discovered> {
  const { scan } = discovery
  const total: Discovered = { files: 0, toRead: 0, toReadBytes: 0, vanished: 0, unreadable: 0 }
  for await (const batch of walk(walkOrder(scan))) {
    if (discovery.stop()) break
    const part = await compare(discovery, batch)
    for (const key of Object.keys(total) as (keyof Discovered)[]) total[key] += part[key]
  }
  return total
}

function walkOrder(scan: LoadedScan) {
  const extensions = scan.allowedFormats ?? defaultExtensions
  const rules = [
    discoveryVersion,
    extensions,
    scan.excludedPatterns,
    scan.rules.seriesStrategy,
    scan.rules.seriesConfig,
  ]
  return {
    root: scan.root,
    starts:
      scan.paths.length > 0 ? scan.paths.map(path => Buffer.from(path).toString('latin1')) : [''],
    extensions,
    excludedPatterns: scan.excludedPatterns,
    seed: hash('md5', JSON.stringify(rules)),
  }
}

async function compare(discovery: Discovery, batch: Listing[]): Promise<Discovered> {
  const { sql, scan, dry } = discovery
  const readable = batch.filter(listing => !listing.error)
  const files = readable.reduce((sum, listing) => sum + listing.files.length, 0)
  const unreadable = batch.length - readable.length
  const folders = await knownFolders(sql, scan.libraryId, readable)
  const changed = readable.filter(l => scan.deep || folders.get(l.path)?.digest !== l.digest)
  if (changed.length === 0) return { files, toRead: 0, toReadBytes: 0, vanished: 0, unreadable }
  if (!dry) await makeFolders(sql, scan.libraryId, changed, folders)
  const ids = changed.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  const known = await knownBooks(sql, ids)
  const differences: Difference[] = []
  const vanished: Vanished[] = []
  for (const listing of changed) {
    const folder = folders.get(listing.path)
    const names = new Set(listing.files)
    const books = (folder && known.get(folder.id)) ?? new Map<string, KnownFile>()
    differences.push(...differencesOf(listing, folder, books, scan.deep))
    for (const [name, book] of books) {
      if (names.has(name)) continue
      const { id } = folder!
      vanished.push({ bookId: book.id, folderId: id, name: hex(name), directoryId: id })
    }
  }
  const goneFolders = await vanishedFolders(sql, changed, folders)
  vanished.push(...goneFolders)
  if (!dry) await sql.begin(tx => record(tx, discovery, changed, folders, differences, vanished))
  const toReadBytes = differences.reduce((sum, d) => sum + d.size, 0)
  return { files, toRead: differences.length, toReadBytes, vanished: vanished.length, unreadable }
}

/** Stored folders of the batch and their parents, by path. */
async function knownFolders(sql: Sql, libraryId: string, listings: Listing[]) {
  const paths = new Set(listings.flatMap(l => [l.path, ...ancestors(l.path).slice(-1)]))
  const rows = await sql<
    { path: Uint8Array; id: string; digest: string | null; sidecars: Record<string, number> }[]
  >`
    select path, id, encode(digest, 'hex') as digest, sidecars
    from directory
    where library_id = ${libraryId} and path = any(${bytes([...paths])}::text[]::bytea[])`
  return new Map<string, Folder>(
    rows.map(({ path, ...folder }) => [Buffer.from(path).toString('latin1'), folder]),
  )
}

/** Rows for folders met for the first time, and for the way down to the start of a partial scan. */
async function makeFolders(
  sql: Sql,
  libraryId: string,
  listings: Listing[],
  folders: Map<string, Folder>,
) {
  const wanted = new Set(
    listings.flatMap(l => [...ancestors(l.path), l.path]).filter(path => !folders.has(path)),
  )
  if (wanted.size === 0) return
  const above = [...wanted].filter(path => !listings.some(l => l.path === path))
  if (above.length > 0) {
    const rows = await sql<{ path: Uint8Array; id: string }[]>`
      select path, id from directory
      where library_id = ${libraryId} and path = any(${bytes(above)}::text[]::bytea[])`
    for (const row of rows) {
      const path = Buffer.from(row.path).toString('latin1')
      folders.set(path, { id: row.id, digest: null, sidecars: {} })
      wanted.delete(path)
    }
  }
  const rows: { id: string; parent: string | null; path: string }[] = []
  for (const path of [...wanted].sort()) {
    const id = newId()
    const parent = ancestors(path).at(-1)
    rows.push({
      id,
      parent: parent === undefined ? null : folders.get(parent)!.id,
      path: hex(path),
    })
    folders.set(path, { id, digest: null, sidecars: {} })
  }
  await sql`
    insert into directory (id, library_id, parent_id, path)
    select id, ${libraryId}, parent, decode(path, 'hex')
    from jsonb_to_recordset(${sql.json(rows)}) as d(id uuid, parent uuid, path text)
    on conflict (library_id, path) do nothing`
}

type KnownFile = { id: string; size: number; ms: number }

async function knownBooks(sql: Sql, directoryIds: string[]) {
  const byFolder = new Map<string, Map<string, KnownFile>>()
  if (directoryIds.length === 0) return byFolder
  const rows = await sql<
    { id: string; folder: string; name: Uint8Array; size: number; ms: number }[]
  >`
    select id, directory_id as folder, name, size::float8 as size, modified_ms::float8 as ms
    from book
    where directory_id = any(${directoryIds}) and missing_at is null`
  for (const { folder, name, ...file } of rows) {
    const books = byFolder.get(folder) ?? new Map()
    books.set(Buffer.from(name).toString('latin1'), file)
    byFolder.set(folder, books)
  }
  return byFolder
}

function differencesOf(
  listing: Listing,
  folder: Folder | undefined,
  books: Map<string, KnownFile>,
  deep: boolean,
) {
  const sidecarsChanged = folder !== undefined && !sameSidecars(folder.sidecars, listing.sidecars)
  const out: Difference[] = []
  for (let i = 0; i < listing.files.length; i++) {
    const name = listing.files[i]!
    const size = listing.sizes[i]!
    const ms = listing.times[i]!
    const book = books.get(name)
    if (book && book.size === size && book.ms === ms && !deep && !sidecarsChanged) continue
    out.push({
      directoryId: folder?.id ?? '',
      name: hex(name),
      size,
      ms,
      forced: deep || sidecarsChanged,
    })
  }
  return out
}

function sameSidecars(a: Record<string, number>, b: Record<string, number>) {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every(name => a[name] === b[name])
}

/** Present books below folders that their parent does not list any more; each names that parent. */
async function vanishedFolders(sql: Sql, changed: Listing[], folders: Map<string, Folder>) {
  const parents = changed.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  if (parents.length === 0) return []
  const listed = changed.flatMap(l =>
    l.folders.map(name => (l.path === '' ? name : `${l.path}/${name}`)),
  )
  const gone = await goneChildren(sql, parents, new Set(listed))
  if (gone.length === 0) return []
  return await sql<Vanished[]>`
    with recursive gone as (
      select id, parent_id as above from directory where id = any(${gone})
      union all
      select d.id, g.above from directory d join gone g on d.parent_id = g.id
    )
    select b.id as "bookId", b.directory_id as "folderId", encode(b.name, 'hex') as name,
      g.above as "directoryId"
    from gone g
    join book b on b.directory_id = g.id and b.missing_at is null`
}

async function goneChildren(sql: Sql, parents: string[], listed: Set<string>) {
  const gone: string[] = []
  const children = sql<{ id: string; path: Uint8Array }[]>`
    select id, path from directory where parent_id = any(${parents})`.cursor(1_000)
  for await (const rows of children) {
    for (const row of rows)
      if (!listed.has(Buffer.from(row.path).toString('latin1'))) gone.push(row.id)
  }
  return gone
}

async function record(
  tx: TransactionSql,
  { queue, scan }: Discovery,
  changed: Listing[],
  folders: Map<string, Folder>,
  differences: Difference[],
  vanished: Vanished[],
) {
  if (differences.length > 0) {
    const found = await tx<{ id: string }[]>`
      insert into found as f (library_id, scan_id, directory_id, name, size, modified_ms, forced)
      select ${scan.libraryId}, ${scan.scanId}, "directoryId", decode(name, 'hex'), size, ms, forced
      from jsonb_to_recordset(${tx.json(differences)})
        as d("directoryId" uuid, name text, size bigint, ms bigint, forced boolean)
      on conflict (directory_id, name) do update
      set scan_id = excluded.scan_id, size = excluded.size, modified_ms = excluded.modified_ms,
        forced = f.forced or excluded.forced
      returning id::text`
    await queue!.send(
      tx,
      'index',
      jobsOf(
        scan,
        found.map(row => row.id),
      ),
    )
  }
  if (vanished.length > 0) {
    // A batch that is stored at this moment may have found the book elsewhere: it is locked and
    // looked at once more, else its new place would be marked missing.
    await tx`
      with still as (
        select b.id, v."directoryId"
        from jsonb_to_recordset(${tx.json(vanished)})
          as v("bookId" uuid, "folderId" uuid, name text, "directoryId" uuid)
        join book b on b.id = v."bookId" and b.directory_id = v."folderId"
          and b.name = decode(v.name, 'hex') and b.missing_at is null
        order by b.id
        for share of b
      )
      insert into vanished (library_id, scan_id, book_id, directory_id)
      select ${scan.libraryId}, ${scan.scanId}, id, "directoryId" from still
      on conflict (book_id) do update set scan_id = excluded.scan_id, directory_id = excluded.directory_id`
  }
  const undecided = new Set(vanished.map(v => v.directoryId))
  const digests = changed.map(l => {
    const id = folders.get(l.path)!.id
    return { id, digest: l.digest, sidecars: l.sidecars, undecided: undecided.has(id) }
  })
  await tx`
    update directory d
    set digest = case when n.undecided then d.digest else decode(n.digest, 'hex') end,
      pending_digest = case when n.undecided then decode(n.digest, 'hex') end,
      sidecars = n.sidecars
    from jsonb_to_recordset(${tx.json(digests)})
      as n(id uuid, digest text, sidecars jsonb, undecided boolean)
    where d.id = n.id`
  await tx`update scan set to_index = to_index + ${differences.length} where id = ${scan.scanId}`
}

/** Why the library must not be compared now, or null. An unmounted disk is no empty library. */
export async function unavailable(sql: Sql, scan: LoadedScan): Promise<string | null> {
  const root = Buffer.from(scan.root)
  let device: string
  try {
    const stat = statSync(root)
    if (!stat.isDirectory()) return 'The library folder is not a folder'
    device = String(stat.dev)
    if (readdirSync(root).length === 0 && scan.bookCount > 0) {
      return `The library folder is empty, but the catalogue holds ${scan.bookCount} of its books`
    }
  } catch (error) {
    return `The library folder cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
  if (scan.device === null || scan.device === device || scan.bookCount === 0) return null
  // Device numbers also change when a mount is made anew: then the books are where they were.
  const sample = await sql<{ folder: Uint8Array; name: Uint8Array }[]>`
    select d.path as folder, b.name
    from book b
    join directory d on d.id = b.directory_id
    where b.library_id = ${scan.libraryId} and b.missing_at is null
    limit 20`
  const there = sample.filter(row =>
    lstatSync(joinPath(root, joinPath(row.folder, row.name)), { throwIfNoEntry: false }),
  )
  if (there.length * 2 > sample.length) return null
  return 'The library folder is on another device than before and does not hold its books'
}

/** `a/b/c` → ['', 'a', 'a/b']; none for the root itself. */
function ancestors(path: string): string[] {
  if (path === '') return []
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(0, i).join('/'))
}

function hex(latin1: string) {
  return Buffer.from(latin1, 'latin1').toString('hex')
}

function bytes(paths: string[]) {
  return paths.map(path => `\\x${hex(path)}`)
}
