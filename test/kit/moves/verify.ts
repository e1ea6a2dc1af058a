// Compares the catalog of a library with its disk. A file is followed by its inode: what a scan knew of it must be
// what it knows of it now.
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import type { createReader } from '../accounts.ts'
import { listTree, type Shelf } from './steps.ts'

type FileFacts = {
  sha256: string
  bookId: string | null
  /** Library and path at the last scan that saw the file. */
  place: string
}

/** What is known of the files of all libraries. */
export type Known = {
  files: Map<number, FileFacts>
  /** Every id that was seen, by what has it, and where it was seen last. */
  owners: Map<string, number>
  places: Map<string, string>
  /** Ids of the books that were missing before the scan. */
  missing: ReadonlySet<string>
  /** Libraries whose roots changed since their last scan: none of their places is known. */
  unplaced: ReadonlySet<string>
  /** Pages read, by book. */
  pages: Map<string, number>
}

export const createKnown = (): Known => ({
  files: new Map(),
  owners: new Map(),
  places: new Map(),
  missing: new Set(),
  unplaced: new Set(),
  pages: new Map(),
})

/** Call it before each scan. */
export async function rememberState(sql: Sql, known: Known, scanned: Shelf) {
  const books = await sql<{ id: string }[]>`select id from book where missing_at is not null`
  known.missing = new Set(books.map(row => row.id))
  const libraries = await sql<{ id: string }[]>`
    select id from library where device is null and id <> ${scanned.id}`
  known.unplaced = new Set(libraries.map(row => row.id))
}

type Row = {
  id: string
  path: string
  sha256: string | null
  error: string | null
  title: string
  series: string
  seriesKey: string
}

type Reader = Awaited<ReturnType<typeof createReader>>
type FoundFile = { inode: number; row: Row }

/** Compares a library that was just scanned; returns the faults, and remembers the new books. */
export async function verifyShelf(sql: Sql, shelf: Shelf, known: Known): Promise<string[]> {
  const rows = await sql<Row[]>`
    select b.id, ltrim(convert_from(d.path, 'utf8') || '/' || convert_from(b.name, 'utf8'), '/') as path,
      encode(a.sha256, 'hex') as sha256, b.error_code as error, b.title, s.title as series,
      s.key as "seriesKey"
    from book b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    join series s on s.id = b.series_id
    where b.library_id = ${shelf.id} and b.missing_at is null`
  const rowsByPath = new Map(rows.map(row => [row.path, row]))
  const faults: string[] = []
  const found: FoundFile[] = []
  for (const file of listTree(shelf.root).files) {
    const path = relative(shelf.root, file)
    const row = rowsByPath.get(path)
    if (!row) faults.push(`${path} is on disk and not in the catalog`)
    else found.push({ inode: statSync(file).ino, row })
    rowsByPath.delete(path)
  }
  for (const path of rowsByPath.keys()) faults.push(`${path} is in the catalog and not on disk`)
  for (const { inode, row } of found) {
    const facts = known.files.get(inode) ?? newFacts(shelf, row.path)
    known.files.set(inode, facts)
    faults.push(...contentFaults(row, facts))
  }
  for (const same of Map.groupBy(found, ({ inode }) => known.files.get(inode)!.sha256).values())
    faults.push(...identityFaults(same, shelf, known))
  for (const { inode, row } of found) {
    Object.assign(known.files.get(inode)!, { bookId: row.id, place: `${shelf.id}/${row.path}` })
    known.owners.set(row.id, inode)
    known.places.set(row.id, `${shelf.id}/${row.path}`)
  }
  return faults
}

function newFacts({ root, id }: Shelf, path: string): FileFacts {
  const sha256 = createHash('sha256')
    .update(readFileSync(`${root}/${path}`))
    .digest('hex')
  return { sha256, bookId: null, place: `${id}/${path}` }
}

function contentFaults(row: Row, { sha256 }: FileFacts): string[] {
  const folder = dirname(row.path)
  const stem = basename(row.path, '.cbz')
  const key = folder === '.' ? `f:${row.path}` : `d:${folder}`
  const series = folder === '.' ? stem : basename(folder)
  const expected = { sha256, error: null, title: stem, seriesKey: key, series }
  return Object.entries(expected)
    .filter(([name, value]) => row[name as keyof typeof expected] !== value)
    .map(([name, value]) => `${row.path}: ${name} is ${row[name as keyof Row]}, not ${value}`)
}

/** Files of the same content may exchange their ids, but none is lost. */
function identityFaults(same: FoundFile[], { id: libraryId }: Shelf, known: Known): string[] {
  const ids = new Set(same.map(({ row }) => row.id))
  const inodes = new Set(same.map(({ inode }) => inode))
  const likeness = (id: string, place: string) =>
    (known.missing.has(id) ? 2 : 0) + (place.startsWith(libraryId) ? 0 : 1)
  const faults = same.flatMap(({ inode, row }) => {
    const { bookId, place } = known.files.get(inode)!
    if (bookId === null || ids.has(bookId)) return []
    // When several equal files left their places, a scan cannot know which of them came here. It should prefer one that
    // was present until now, and one of this library. A file at the place of a missing one counts as that one, restored.
    const rival = known.places.get(row.id)
    const isHere = place === `${libraryId}/${row.path}`
    const isBack = rival === `${libraryId}/${row.path}`
    const isAsLikely = rival && likeness(row.id, rival) <= likeness(bookId, place)
    const isUnplaced = known.unplaced.has(place.slice(0, libraryId.length))
    if (!isHere && (isBack || isAsLikely || (isUnplaced && !known.missing.has(bookId)))) return []
    return [`${row.path}: lost the id ${bookId} of ${place}, has ${row.id} of ${rival}`]
  })
  for (const id of ids) {
    const owner = known.owners.get(id)
    if (owner === undefined || inodes.has(owner)) continue
    // The content of a file that went; when it returns, it is a new book.
    const facts = known.files.get(owner)!
    if (facts.bookId === id) facts.bookId = null
  }
  return faults
}

/** Reads on in books that were not read yet, and compares all positions. */
export async function verifyProgress(reader: Reader, known: Known): Promise<string[]> {
  for (const id of known.owners.keys()) {
    if (known.pages.has(id)) continue
    known.pages.set(id, known.pages.size + 1)
    await reader.read(id, known.pages.size)
  }
  const stored = await reader.pages()
  return [...known.pages]
    .filter(([id, page]) => stored[id] !== page)
    .map(([id, page]) => `book ${id}: page ${stored[id]}, not ${page}`)
}
