// Matches files to books: a file is the book at its place, a book that moved here, one that came back, or a
// new one. Reads the catalog and the disk but changes nothing.
import { lstat, stat } from 'node:fs/promises'
import { containmentOf, type FileAccess } from '../../lib/base/containment.ts'
import { isShortage, NotResponding } from '../../lib/base/errors.ts'
import { readFingerprint } from '../../lib/base/fingerprint.ts'
import { newId } from '../../lib/base/id.ts'
import { joinPath } from '../../lib/base/path.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { KnownContent, Reading } from './reading.ts'

/** A row of pending_file with the book at its place, if any. Names are hex. */
export type PendingFile = {
  id: string
  directoryId: string
  name: string
  size: number
  modifiedMs: number
  forced: boolean
  bookAtPlace: KnownBook | null
}

/** A book in the catalog. */
export type KnownBook = KnownContent & {
  id: string
  libraryId: string
  seriesId: string
  directoryId: string
  name: string
  size: number
  pageCount: number
  isMissing: boolean
  /** A cover was generated, or cannot be. */
  hasCover: boolean
  format: string | null
}

export type MatchOutcome = 'new' | 'changed' | 'moved' | 'restored' | 'unchanged' | 'failed'

export type Match = {
  file: PendingFile
  reading: Reading
  outcome: MatchOutcome
  /** Id of the book after storing: a known one, or a new one. */
  bookId: string
  before: KnownBook | null
  /** A present book whose place this file takes and whose own content is gone. */
  displaced: KnownBook | null
  /** An earlier batch displaced the book and counted it as missing. */
  wasDisplaced: boolean
}

type Candidate = KnownBook & {
  /** Missing because a file of an earlier batch of this scan took its place. */
  isDisplaced: boolean
  path: Uint8Array
  root: Uint8Array
  followLinks: boolean
  device: string | null
}

type ReadFile = { file: PendingFile; reading: Reading }

/** One query for the whole batch; the disk is only checked for books with the same fingerprint as a file. */
export async function matchFiles(
  sql: Sql,
  files: ReadFile[],
  { libraryId, scanId, access }: { libraryId: string; scanId: string; access: FileAccess },
): Promise<Match[]> {
  const candidates = await findCandidates(sql, files, scanId)
  const matchedIds = new Set(files.filter(isSameBook).map(({ file }) => file.bookAtPlace!.id))
  const search = { candidates, matchedIds, libraryId, access, silent: new Set<string>() }
  // In sequence: a book that has been matched is not a candidate for the next file.
  const origins: (Candidate | null)[] = []
  for (const file of files) origins.push(isSameBook(file) ? null : await findOrigin(search, file))
  const matches = files.map((file, i) => matchFile(file, origins[i] ?? null, matchedIds))
  // A book whose place was taken is displaced, unless another file of the batch is this book.
  return matches.map(m =>
    m.displaced && matchedIds.has(m.displaced.id) ? { ...m, displaced: null } : m,
  )
}

/** The file is the book that the catalog has at its place, possibly with different metadata inside. */
function isSameBook({ file, reading }: ReadFile): boolean {
  const book = file.bookAtPlace
  return book !== null && book.fingerprint !== null && isSame(book, file, reading)
}

const inPlace = { displaced: null, wasDisplaced: false }

/** Content takes precedence over place: a file counts as changed only if no other book has its content. */
function matchFile(read: ReadFile, origin: Candidate | null, matchedIds: Set<string>): Match {
  const { file, reading } = read
  const book = file.bookAtPlace
  if (book && isSameBook(read)) {
    const outcome = book.isMissing ? 'restored' : sameBookOutcome(book, read)
    return { ...read, outcome, bookId: book.id, before: book, ...inPlace }
  }
  if (origin) {
    const outcome = origin.id === book?.id ? 'restored' : 'moved'
    const displaced = book && !book.isMissing ? book : null
    return {
      ...{ ...read, outcome, bookId: origin.id, before: origin, displaced },
      wasDisplaced: origin.isDisplaced,
    }
  }
  if (book && !matchedIds.has(book.id)) {
    matchedIds.add(book.id)
    const outcome = reading.error ? 'failed' : book.isMissing ? 'restored' : 'changed'
    return { ...read, outcome, bookId: book.id, before: book, ...inPlace }
  }
  const outcome = reading.error ? 'failed' : 'new'
  return { file, reading, outcome, bookId: newId(), before: null, ...inPlace }
}

const sameBookOutcome = (book: KnownBook, { file, reading }: ReadFile): MatchOutcome =>
  hasContent(book, file, reading) ? 'unchanged' : reading.error ? 'failed' : 'changed'

/** Books with the same size and fingerprint as files that are not the book at their place. */
async function findCandidates(
  sql: Sql,
  files: ReadFile[],
  scanId: string,
): Promise<Map<string, Candidate[]>> {
  const contents = files
    .filter(read => read.reading.fingerprint && !isSameBook(read))
    .map(({ file, reading }) => ({ size: file.size, fingerprint: reading.fingerprint }))
  if (contents.length === 0) return new Map()
  // Missing books first; twenty books with the same content are enough to find one that has left its place.
  const rows = await sql<Candidate[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId",
      b.directory_id as "directoryId", encode(b.name, 'hex') as name, b.size::float8 as size,
      encode(b.fingerprint, 'hex') as fingerprint, encode(a.sha256, 'hex') as sha256,
      encode(a.checks, 'hex') as checks, b.page_count as "pageCount", b.missing_at is not null as "isMissing", b.format,
      coalesce(b.missing_at >= scan.started_at, false) as "isDisplaced",
      b.error_code is not null as "hasError",
      num_nonnulls(a.cover, a.cover_error) > 0 as "hasCover",
      b.modified_ms::float8 as "modifiedMs", d.path, l.root, l.follow_links as "followLinks", l.device
    from jsonb_to_recordset(${sql.json(contents as never)}) as g(size bigint, fingerprint text)
    cross join lateral (
      select *
      from book
      where size = g.size and fingerprint = decode(g.fingerprint, 'hex')
      order by missing_at is null, id
      limit 20
    ) b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    left join scan on scan.id = ${scanId} and scan.library_id = b.library_id`
  return Map.groupBy(rows, row => contentKey(row.size, row.fingerprint!))
}

type Search = {
  candidates: Map<string, Candidate[]>
  matchedIds: Set<string>
  /** The library of the files. */
  libraryId: string
  access: FileAccess
  /** Folders that did not respond: waiting for each of their files would add up. */
  silent: Set<string>
}

/** The book that a file is by its content: one that is missing, or whose own file has left its place. */
async function findOrigin(
  { candidates, matchedIds, libraryId, access, silent }: Search,
  { file, reading }: ReadFile,
): Promise<Candidate | null> {
  if (!reading.fingerprint) return null
  const free = (candidates.get(contentKey(file.size, reading.fingerprint)) ?? []).filter(
    c =>
      !matchedIds.has(c.id) &&
      !(c.directoryId === file.directoryId && c.name === file.name && !c.isMissing),
  )
  // All empty files have the same content: only the name identifies one of them.
  const eligible = file.size === 0 ? free.filter(c => c.name === file.name) : free
  const rankOf = (c: Candidate) =>
    rank(c, file, libraryId) + (isOther(c, reading) === true ? otherContent : 0)
  const ranked = eligible.sort((a, b) => rankOf(a) - rankOf(b) || (a.id < b.id ? -1 : 1))
  let origin: Candidate | null = null
  for (const c of ranked) {
    if (!c.isMissing && !(await hasLeft(c, { access, silent, libraryId }))) continue
    origin = c
    break
  }
  if (origin) matchedIds.add(origin.id)
  return origin
}

// Outweighs any place: two books that differ only in their metadata each keep their own.
const otherContent = 16

/**
 * Ranks candidates: books that were present until now come first, and among them those of the same library. A
 * copy that is also being moved, or that disappeared long ago, is not the book.
 */
function rank(candidate: Candidate, file: PendingFile, libraryId: string): number {
  const sameFolder = candidate.directoryId === file.directoryId
  const sameName = candidate.name === file.name
  const place = sameFolder && sameName ? 0 : sameName ? 1 : sameFolder ? 2 : 3
  return (
    place +
    (candidate.libraryId === libraryId ? 0 : 4) +
    (candidate.isMissing && !candidate.isDisplaced ? 8 : 0)
  )
}

/**
 * SHA-256 to store with the book. Null if the hash job computes it, because the file was not read completely,
 * and if the book has the content that was hashed before.
 */
export function knownHash({ before, file, reading }: Match): string | null {
  const isChanged =
    before === null || (reading.error === null && !hasContent(before, file, reading))
  return isChanged ? reading.sha256 : null
}

/**
 * A file that cannot be read although its size and time are unchanged: what is known about its content stays.
 */
export const isDamaged = ({ before, file, reading }: Match): boolean =>
  reading.error !== null && before?.size === file.size && before.modifiedMs === file.modifiedMs

/** Whether the cataloged book has the file's size and fingerprint: its identity. */
const isSame = (book: KnownBook, file: PendingFile, reading: Reading): boolean =>
  book.fingerprint === reading.fingerprint && book.size === file.size

/** Whether the whole file is as cataloged, including what the fingerprint does not sample. */
export function hasContent(book: KnownBook, file: PendingFile, reading: Reading): boolean {
  if (!isSame(book, file, reading)) return false
  return reading.isUnchanged || !(isOther(book, reading) ?? book.modifiedMs !== file.modifiedMs)
}

/** Compares the strongest digest that both have; null without one. */
function isOther(book: KnownContent, { sha256, checks }: Reading): boolean | null {
  if (book.sha256 !== null && sha256 !== null) return book.sha256 !== sha256
  return book.checks !== null && checks !== null ? book.checks !== checks : null
}

function contentKey(size: number, contentFingerprint: string): string {
  return `${size}:${contentFingerprint}`
}

/**
 * Whether a book's file is gone or has different content, although its library is available. If the library's
 * root changed since the last scan, all places are unknown.
 */
async function hasLeft(
  candidate: Candidate,
  { access, silent, libraryId }: Pick<Search, 'access' | 'silent' | 'libraryId'>,
): Promise<boolean> {
  if (silent.has(candidate.directoryId)) return false
  if (candidate.device === null && candidate.libraryId !== libraryId) return false
  const root = Buffer.from(candidate.root)
  const path = joinPath(joinPath(root, candidate.path), Buffer.from(candidate.name, 'hex'))
  return await mountHealth
    .run(mountKey(root), async () => {
      const { dev } = await stat(root)
      if (candidate.device !== null && String(dev) !== candidate.device) return false
      const stats = await stat(path).catch(nullIfGone)
      if (stats === null) return (await lstat(path).catch(nullIfGone)) === null
      if (stats.size !== candidate.size) return true
      if (Math.round(stats.mtimeMs) === candidate.modifiedMs) return false
      const content = await readFingerprint(path, containmentOf(access, candidate))
      return content !== candidate.fingerprint
    })
    .catch(error => {
      // The file would become a new book instead of the one that moved.
      if (isShortage(error)) throw error
      if (error instanceof NotResponding) silent.add(candidate.directoryId)
      return false
    })
}

function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
