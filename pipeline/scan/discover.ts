// First stage: walks the library and compares it with the catalogue, folder by folder. A folder whose
// digest is the stored one costs one row of a lookup; only a changed folder is compared file by file.
// What is new or different goes to `found`, what is not there any more to `vanished`, together with
// the folder's new digest and the jobs, in one transaction a batch.
import { hash } from 'node:crypto'
import { lstat, opendir, stat } from 'node:fs/promises'
import type { Sql } from 'postgres'
import { tellScan } from '../../lib/catalog/scan/scan-events.ts'
import { sortKey } from '../../lib/name/natural.ts'
import { below, joinPath, pathText } from '../../lib/path.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import {
  type Folder,
  forgetFolders,
  goneFolders,
  hex,
  knownFolders,
  makeFolders,
} from './folders.ts'
import { type Compared, countVanished, type Difference, type Lost, record } from './record.ts'
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
  /** Folders that could not be listed, and files that could not be looked at. */
  unreadable: number
}

const shownMs = 250

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
export async function discover(discovery: Discovery): Promise<Discovered & { leftOut: string[] }> {
  const { scan } = discovery
  const leftOut = new Set<string>()
  const total: Discovered = { files: 0, toRead: 0, toReadBytes: 0, vanished: 0, unreadable: 0 }
  let shownAt = Date.now()
  for await (const batch of walk(walkOrder(scan))) {
    if (discovery.stop()) break
    noteYoung(leftOut, batch)
    const part = await compare(discovery, batch)
    for (const key of Object.keys(total) as (keyof Discovered)[]) total[key] += part[key]
    if (discovery.dry || Date.now() - shownAt < shownMs) continue
    shownAt = Date.now()
    await storeFound(discovery.sql, scan.scanId, total.files)
  }
  return { ...total, leftOut: [...leftOut].map(hex) }
}

const mostLeftOut = 500

/** What must be looked at again: the files; when they are many, their folders; when those are, all. */
function noteYoung(leftOut: Set<string>, batch: Listing[]) {
  for (const { path, young } of batch) {
    if (young.length === 0) continue
    const hasRoom = leftOut.size + young.length <= mostLeftOut
    for (const name of hasRoom ? young : ['']) leftOut.add(name === '' ? path : below(path, name))
    if (leftOut.size <= 2 * mostLeftOut) continue
    leftOut.clear()
    leftOut.add('')
  }
}

/** Files met so far. */
async function storeFound(sql: Sql, scanId: string, files: number) {
  await sql.begin(async tx => {
    await tx`update scan set found = ${files} where id = ${scanId}`
    await tellScan(tx, scanId)
  })
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
    quietMs: scan.options.quietMs ?? 0,
  }
}

async function compare(discovery: Discovery, batch: Listing[]): Promise<Discovered> {
  const { sql, scan, dry, queue } = discovery
  const readable = batch.filter(listing => !listing.error)
  const files = readable.reduce((sum, listing) => sum + listing.files.length, 0)
  const kept = readable.reduce((sum, listing) => sum + listing.kept.length, 0)
  const unreadable = batch.length - readable.length + kept
  const folders = await knownFolders(sql, scan.libraryId, readable)
  const changed = readable.filter(l => scan.deep || folders.get(l.path)?.digest !== l.digest)
  if (changed.length === 0) return { files, toRead: 0, toReadBytes: 0, vanished: 0, unreadable }
  if (!dry) {
    const around = await makeFolders(sql, scan.libraryId, changed, folders)
    // Folders that were not listed do not know what was found in them: should it go, it must be missed.
    if (scan.paths.length > 0) await forgetFolders(sql, around)
  }
  const ids = changed.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  const known = await knownBooks(sql, ids)
  const compared: Compared = {
    differences: [],
    lost: [],
    gone: await goneFolders(sql, changed, folders),
    folders: [],
  }
  for (const listing of changed) {
    const folder = folders.get(listing.path)
    const books = (folder && known.get(folder.id)) ?? new Map<string, KnownFile>()
    if (folder) keepSidecars(listing, folder)
    for (const d of differencesOf(listing, folder, books, scan.deep)) compared.differences.push(d)
    if (!folder) continue
    for (const l of lostBooks(listing, folder, books)) compared.lost.push(l)
    compared.folders.push({ id: folder.id, digest: listing.digest, sidecars: listing.sidecars })
  }
  const { differences } = compared
  const vanished = dry
    ? await countVanished(sql, compared)
    : await record(sql, queue!, scan, compared)
  const toReadBytes = differences.reduce((sum, d) => sum + d.size, 0)
  return { files, toRead: differences.length, toReadBytes, vanished, unreadable }
}

/** A sidecar that cannot be looked at, or not yet, is as it was. */
function keepSidecars(listing: Listing, folder: Folder) {
  for (const name of [...listing.kept, ...listing.young]) {
    const shown = pathText(Buffer.from(name, 'latin1'))
    const time = folder.sidecars[shown]
    if (time !== undefined) listing.sidecars[shown] = time
  }
}

/** Books of the folder whose files it does not list any more. */
function lostBooks(listing: Listing, { id }: Folder, books: Map<string, KnownFile>): Lost[] {
  const names = new Set([...listing.files, ...listing.kept, ...listing.young])
  return [...books]
    .filter(([name]) => !names.has(name))
    .map(([name, book]) => ({ bookId: book.id, directoryId: id, name: hex(name) }))
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
  return inNaturalOrder(out)
}

/** The volumes of a series are read, and stand in lists of what is new, one after the other. */
function inNaturalOrder(differences: Difference[]): Difference[] {
  const keyed = differences.map(difference => {
    const name = pathText(Buffer.from(difference.name, 'hex'))
    return { difference, key: sortKey(name.slice(0, name.lastIndexOf('.'))) }
  })
  return keyed
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ difference }) => difference)
}

function sameSidecars(a: Record<string, number>, b: Record<string, number>) {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every(name => a[name] === b[name])
}

/** Why the library must not be compared now, or null. An unmounted disk is no empty library. */
export async function unavailable(sql: Sql, scan: LoadedScan): Promise<string | null> {
  const root = Buffer.from(scan.root)
  let device: string
  try {
    // Not while everything else waits: a network disk that is away may never answer.
    const found = await stat(root)
    if (!found.isDirectory()) return 'The library folder is not a folder'
    device = String(found.dev)
    if (scan.bookCount > 0 && (await isEmpty(root))) {
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
  const looks = sample.map(row =>
    lstat(joinPath(root, joinPath(row.folder, row.name))).then(
      () => true,
      () => false,
    ),
  )
  const there = (await Promise.all(looks)).filter(Boolean)
  if (there.length * 2 > sample.length) return null
  return 'The library folder is on another device than before and does not hold its books'
}

async function isEmpty(root: Buffer): Promise<boolean> {
  await using folder = await opendir(root)
  return (await folder.read()) === null
}
