// Discovery, the first stage of a scan: walks the library and compares it with the catalog, folder by folder.
// A folder with an unchanged digest costs one row of a lookup; only changed folders are compared file by
// file. New and changed files, missing candidates, digests and jobs are written in one transaction per batch.

import { hash } from 'node:crypto'
import { containmentOf, type FileAccess } from '../../lib/base/containment.ts'
import { childPath, pathText } from '../../lib/base/path.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import { extensionsOf, formatNames } from '../../lib/media/format/formats.ts'
import { sortByFileName } from '../../lib/media/name/natural.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import {
  type Comparison,
  countMissingCandidates,
  type Difference,
  type MissingCandidate,
  storeDifferences,
} from './differences.ts'
import { isMetadataSidecar } from './disk.ts'
import {
  createFolders,
  type Folder,
  resetDigests,
  storedFolders,
  toHex,
  unlistedFolders,
} from './folders.ts'
import type { LoadedScan } from './scan-context.ts'
import { addUnreadableNames, type Unreadable } from './unreadable.ts'
import { type Listing, openWalk, type Walk } from './walk.ts'

/** The book extensions in a library that does not specify its formats. */
export const defaultExtensions = extensionsOf(formatNames)

// Part of every digest; a new number has every folder compared once.
const discoveryVersion = 2

export type DiscoverCounts = {
  files: number
  /** New or changed files, and their total size in bytes. */
  toRead: number
  toReadBytes: number
  missing: number
  unreadable: number
}

/** `leftOut`: paths left to a later scan because they were modified recently; library-relative, hex. */
export type DiscoverResult = DiscoverCounts & Unreadable & { leftOut: string[] }

const progressMs = 250

export type DiscoverOptions = {
  sql: Sql
  walk: Walk
  /** Only null for a dry run. */
  queue: Queue | null
  scan: LoadedScan
  /** Compare and count only. */
  isDryRun: boolean
  isStopped: () => boolean
  /** Awaited before each batch is compared. */
  beforeBatch?: () => Promise<void>
}

/** Holds four batches of listings in memory, however large the library is. */
export async function discover(options: DiscoverOptions): Promise<DiscoverResult> {
  const { scan } = options
  const leftOut = new Set<string>()
  const unreadableNames: string[] = []
  const total: DiscoverCounts = { files: 0, toRead: 0, toReadBytes: 0, missing: 0, unreadable: 0 }
  let publishedAt = Date.now()
  for await (const batch of options.walk.batches(options.isStopped)) {
    await options.beforeBatch?.()
    if (options.isStopped()) break
    addRecent(leftOut, batch)
    addUnreadableNames(unreadableNames, batch)
    const counts = await compareBatch(options, batch)
    for (const key of Object.keys(total) as (keyof DiscoverCounts)[]) total[key] += counts[key]
    if (options.isDryRun || Date.now() - publishedAt < progressMs) continue
    publishedAt = Date.now()
    await storeProgress(options.sql, scan.scanId, total.files)
  }
  return { ...total, leftOut: [...leftOut].map(toHex), unreadableNames }
}

const maxLeftOut = 500

/**
 * Adds the recently modified files; if there are many, their folders; if there are many of these, the root.
 */
function addRecent(leftOut: Set<string>, batch: Listing[]) {
  for (const { path, recent } of batch) {
    if (recent.length === 0) continue
    if (leftOut.size + recent.length <= maxLeftOut)
      for (const name of recent) leftOut.add(childPath(path, name))
    else leftOut.add(path)
    if (leftOut.size <= 2 * maxLeftOut) continue
    leftOut.clear()
    leftOut.add('')
  }
}

async function storeProgress(sql: Sql, scanId: string, files: number) {
  await sql.begin(async tx => {
    await tx`update scan set found = ${files} where id = ${scanId}`
    await publishScan(tx, scanId)
  })
}

type WalkSource = {
  scan: LoadedScan
  access: FileAccess
  /** `pipeline.io_depth` */
  ioDepth: number
}

/** The walk of a scan. Its threads start loading immediately. */
export function openScanWalk({ scan, access, ioDepth }: WalkSource): Walk {
  const extensions = scan.allowedFormats ? extensionsOf(scan.allowedFormats) : defaultExtensions
  const rules = [
    discoveryVersion,
    extensions,
    scan.excludedPatterns,
    scan.rules.seriesStrategy,
    scan.rules.seriesConfig,
    ...(scan.followLinks ? ['links', access.linkFolders] : []),
  ]
  const isPartial = scan.paths.length > 0
  return openWalk(
    {
      root: scan.root,
      containment: containmentOf(access, scan),
      starts: isPartial ? scan.paths.map(path => Buffer.from(path).toString('latin1')) : [''],
      extensions,
      excludedPatterns: scan.excludedPatterns,
      seed: hash('md5', JSON.stringify(rules)),
      quietMs: scan.options.quietMs ?? 0,
      ioDepth,
    },
    isPartial ? 0 : scan.bookCount,
  )
}

async function compareBatch(options: DiscoverOptions, batch: Listing[]): Promise<DiscoverCounts> {
  const { sql, scan, isDryRun, queue } = options
  const readable = batch.filter(listing => !listing.error)
  const files = sumOf(readable, listing => listing.files.length)
  const unreadableFiles = sumOf(readable, listing => listing.unreadable.length)
  const unreadable = batch.length - readable.length + unreadableFiles
  const folders = await storedFolders(sql, scan.libraryId, readable)
  const changed = readable.filter(l => scan.deep || folders.get(l.path)?.digest !== l.digest)
  if (changed.length === 0) return { files, toRead: 0, toReadBytes: 0, missing: 0, unreadable }
  if (!isDryRun) {
    const parents = await createFolders(sql, scan.libraryId, changed, folders)
    // The digests of unlisted parents do not cover the new folders, whose later removal must be noticed.
    if (scan.paths.length > 0) await resetDigests(sql, parents)
  }
  const comparison = await compareFolders(sql, scan, changed, folders)
  const { differences } = comparison
  const missing = isDryRun
    ? await countMissingCandidates(sql, comparison)
    : await storeDifferences(sql, queue!, scan, comparison)
  const toReadBytes = sumOf(differences, file => file.size)
  return { files, toRead: differences.length, toReadBytes, missing, unreadable }
}

async function compareFolders(
  sql: Sql,
  scan: LoadedScan,
  listings: Listing[],
  folders: Map<string, Folder>,
): Promise<Comparison> {
  const ids = listings.map(l => folders.get(l.path)?.id).filter(id => id !== undefined)
  const booksByFolder = await storedBooks(sql, ids)
  const comparison: Comparison = {
    differences: [],
    missing: [],
    missingFolders: await unlistedFolders(sql, listings, folders),
    folders: [],
  }
  for (const listing of listings) {
    const folder = folders.get(listing.path)
    const books = (folder && booksByFolder.get(folder.id)) ?? new Map<string, StoredFile>()
    if (folder) retainSidecars(listing, folder)
    for (const d of changedFiles(listing, folder, books, scan.deep)) comparison.differences.push(d)
    if (!folder) continue
    for (const book of missingBooks(listing, folder, books)) comparison.missing.push(book)
    comparison.folders.push({
      id: folder.id,
      digest: listing.digest,
      sidecars: listing.sidecars,
    })
  }
  return comparison
}

/** A sidecar whose stat failed, or that was modified recently, counts as unchanged. */
function retainSidecars(listing: Listing, folder: Folder) {
  for (const name of [...listing.unreadable, ...listing.recent]) {
    const nameText = pathText(Buffer.from(name, 'latin1'))
    const time = folder.sidecars[nameText]
    if (time !== undefined) listing.sidecars[nameText] = time
  }
}

/** Books in the folder whose files it no longer lists. */
function missingBooks(
  listing: Listing,
  { id }: Folder,
  books: Map<string, StoredFile>,
): MissingCandidate[] {
  const names = new Set([...listing.files, ...listing.unreadable, ...listing.recent])
  return [...books]
    .filter(([name]) => !names.has(name))
    .map(([name, book]) => ({ bookId: book.id, directoryId: id, name: toHex(name) }))
}

type StoredFile = { id: string; size: number; ms: number }

async function storedBooks(sql: Sql, directoryIds: string[]) {
  const byFolder = new Map<string, Map<string, StoredFile>>()
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

/** In natural order: the volumes of a series are read, and listed as new, one after another. */
function changedFiles(
  listing: Listing,
  folder: Folder | undefined,
  books: Map<string, StoredFile>,
  isDeep: boolean,
): Difference[] {
  const sidecarsChanged = folder !== undefined && !sameSidecars(folder.sidecars, listing.sidecars)
  const changed: Difference[] = []
  for (let i = 0; i < listing.files.length; i++) {
    const name = listing.files[i]!
    const size = listing.sizes[i]!
    const ms = listing.times[i]!
    const book = books.get(name)
    const replaces = book !== undefined && (book.size !== size || book.ms !== ms)
    if (book && !replaces && !isDeep && !sidecarsChanged) continue
    changed.push({
      directoryId: folder?.id ?? '',
      name: toHex(name),
      size,
      ms,
      forced: isDeep || sidecarsChanged,
      replaces,
    })
  }
  return sortByFileName(changed, ({ name }) => pathText(Buffer.from(name, 'hex')))
}

/** Compares metadata sidecars. Images are compared at the end of the scan, without reading the books. */
function sameSidecars(a: Record<string, number>, b: Record<string, number>) {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(isMetadataSidecar)
  return names.every(name => a[name] === b[name])
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0)
}
