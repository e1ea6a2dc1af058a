// Tells, for each file that was read, which book it is: the one at its place, one that moved here,
// one that came back, or a new one. Reads the catalogue, changes nothing.
import { lstatSync, statSync } from 'node:fs'
import type { Sql } from 'postgres'
import { openFile } from '../../lib/file.ts'
import { fingerprint } from '../../lib/fingerprint.ts'
import { newId } from '../../lib/id.ts'
import { joinPath } from '../../lib/path.ts'
import type { Reading } from './reading.ts'

/** A row of `found` with the book that stands at its place, if any. Names are hex. */
export type Found = {
  id: string
  directoryId: string
  name: string
  size: number
  modifiedMs: number
  forced: boolean
  place: Known | null
}

/** A book as the catalogue has it. */
export type Known = {
  id: string
  libraryId: string
  seriesId: string
  directoryId: string
  name: string
  size: number
  fingerprint: string | null
  sha256: string | null
  pageCount: number
  missing: boolean
  /** Its file could not be read. */
  failed: boolean
  /** A cover was made, or cannot be. */
  covered: boolean
  format: string | null
}

export type Outcome = 'new' | 'changed' | 'moved' | 'restored' | 'unchanged' | 'failed'

export type Match = {
  found: Found
  reading: Reading
  outcome: Outcome
  /** Id of the book after the store: a known one, or a new one. */
  bookId: string
  before: Known | null
  /** A present book whose place this file takes over while its own content is gone. */
  displaced: Known | null
}

type Candidate = Known & {
  path: Uint8Array
  root: Uint8Array
  device: string | null
  modifiedMs: number
}

/** One query for the whole batch; a file is looked for on disk only when its fingerprint met its like. */
export async function match(
  sql: Sql,
  items: { found: Found; reading: Reading }[],
): Promise<Match[]> {
  const candidates = await candidatesFor(sql, items)
  const taken = new Set(items.filter(isSame).map(item => item.found.place!.id))
  const origins = items.map(item => (isSame(item) ? null : originOf(candidates, item, taken)))
  const matches = items.map((item, i) => matchOne(item, origins[i] ?? null, taken))
  // Whoever stood at the place of a file that moved in is gone, unless he moved on himself.
  return matches.map(m =>
    m.displaced && taken.has(m.displaced.id) ? { ...m, displaced: null } : m,
  )
}

type Item = { found: Found; reading: Reading }

/** The book at the place still has the content the catalogue knows. */
function isSame({ found, reading }: Item) {
  return found.place !== null && sameContent(found.place, found, reading)
}

function originOf(
  candidates: Map<string, Candidate[]>,
  { found, reading }: Item,
  taken: Set<string>,
) {
  const from = choose(candidates, found, reading, taken)
  if (from) taken.add(from.id)
  return from
}

/** Content says more than place: only what no content claims is a change of the book at its place. */
function matchOne(item: Item, from: Candidate | null, taken: Set<string>): Match {
  const { found, reading } = item
  const place = found.place
  if (place && isSame(item)) {
    const outcome = place.missing ? 'restored' : 'unchanged'
    return { ...item, outcome, bookId: place.id, before: place, displaced: null }
  }
  if (from) {
    const outcome = from.id === place?.id ? 'restored' : 'moved'
    const displaced = place && !place.missing ? place : null
    return { ...item, outcome, bookId: from.id, before: from, displaced }
  }
  if (place && !taken.has(place.id)) {
    taken.add(place.id)
    const outcome = reading.error ? 'failed' : place.missing ? 'restored' : 'changed'
    return { ...item, outcome, bookId: place.id, before: place, displaced: null }
  }
  const outcome = reading.error ? 'failed' : 'new'
  return { found, reading, outcome, bookId: newId(), before: null, displaced: null }
}

function sameContent(place: Known, found: Found, reading: Reading) {
  return (
    place.fingerprint !== null &&
    place.fingerprint === reading.fingerprint &&
    place.size === found.size
  )
}

async function candidatesFor(sql: Sql, items: { found: Found; reading: Reading }[]) {
  const wanted = items
    .filter(
      i =>
        i.reading.fingerprint && !(i.found.place && sameContent(i.found.place, i.found, i.reading)),
    )
    .map(i => ({ size: i.found.size, fingerprint: i.reading.fingerprint }))
  if (wanted.length === 0) return new Map<string, Candidate[]>()
  // Missing ones first; twenty of one content are enough to find one that is gone.
  const rows = await sql<Candidate[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId",
      b.directory_id as "directoryId", encode(b.name, 'hex') as name, b.size::float8 as size,
      encode(b.fingerprint, 'hex') as fingerprint, encode(b.sha256, 'hex') as sha256,
      b.page_count as "pageCount", b.missing_at is not null as missing, b.format,
      b.error_code is not null as failed,
      num_nonnulls(b.cover, b.cover_error) > 0 as covered,
      b.modified_ms::float8 as "modifiedMs", d.path, l.root, l.device
    from jsonb_to_recordset(${sql.json(wanted as never)}) as g(size bigint, fingerprint text)
    cross join lateral (
      select *
      from book
      where size = g.size and fingerprint = decode(g.fingerprint, 'hex')
      order by missing_at is null, id
      limit 20
    ) b
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id`
  return Map.groupBy(rows, row => identity(row.size, row.fingerprint!))
}

function choose(
  candidates: Map<string, Candidate[]>,
  found: Found,
  reading: Reading,
  taken: Set<string>,
) {
  if (!reading.fingerprint) return null
  const free = (candidates.get(identity(found.size, reading.fingerprint)) ?? []).filter(
    c =>
      !taken.has(c.id) &&
      !(c.directoryId === found.directoryId && c.name === found.name && !c.missing),
  )
  // Empty files are all alike: only the name can speak for one of them.
  const eligible = found.size === 0 ? free.filter(c => c.name === found.name) : free
  const ranked = eligible.sort((a, b) => rank(a, found) - rank(b, found) || (a.id < b.id ? -1 : 1))
  return ranked.find(c => c.missing || hasLeft(c)) ?? null
}

function rank(candidate: Candidate, found: Found) {
  const samePlace = candidate.directoryId === found.directoryId
  const sameName = candidate.name === found.name
  return samePlace && sameName ? 0 : sameName ? 1 : samePlace ? 2 : 3
}

function identity(size: number, fingerprint: string) {
  return `${size}:${fingerprint}`
}

/** Its file is not there any more, or another one is, although its library is. */
function hasLeft(candidate: Candidate) {
  const root = Buffer.from(candidate.root)
  const path = joinPath(joinPath(root, candidate.path), Buffer.from(candidate.name, 'hex'))
  try {
    const healthy = statSync(root)
    if (candidate.device !== null && String(healthy.dev) !== candidate.device) return false
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return lstatSync(path, { throwIfNoEntry: false }) === undefined
    const asKnown =
      stat.size === candidate.size && Math.round(stat.mtimeMs) === candidate.modifiedMs
    if (asKnown) return false
    if (stat.size !== candidate.size) return true
    using file = openFile(path)
    return fingerprint(file) !== candidate.fingerprint
  } catch {
    return false
  }
}
