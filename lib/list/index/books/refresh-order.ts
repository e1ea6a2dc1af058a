// A sort order of books, refreshed: each book that changed is put behind the present book before it, which the index of
// the database finds, and behind missing books between that one and it.
import type { Fragment, Sql } from 'postgres'
import { presentBook } from '../../../accounts/viewer.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersion } from '../../list-version.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns } from '../../sort.ts'
import { add, emptyBitmap, has } from '../bitmap.ts'
import { forEachOrdinal, idAt, idBytes, isDeleted } from '../id-table.ts'
import type { CachedOrder, LoadedOrder } from '../index-schema.ts'
import { addedIds, type BookSegment } from './book-segment.ts'

type Extended = { sort: BookColumnSort; order: CachedOrder }

/** More books take longer than reading the order. */
const maxAdded = 20_000

/** Null for too many books. The numbers that books have lost stay in the order. */
export async function refreshColumnOrder(
  sql: Sql,
  segment: BookSegment,
  { sort, order }: Extended,
): Promise<LoadedOrder | null> {
  if (segment.maxDoc - order.maxDoc > maxAdded) return null
  const ids = addedIds(segment, order.maxDoc)
  if (ids.length === 0) return { ...order, versions: { rows: segment.version } }
  const places = await readPlaces(sql, { sort, ids })
  const changed = { ...order, versions: { rows: places.version } }
  if (places.version !== segment.version) return changed
  const rows = await rowsOf(segment, places.ids)
  const before = await rowsOf(segment, places.before)
  const isValued = (i: number) => places.valued[i] === 1
  const positions = positionsOf(order, before)
  // The same for new books that follow other new books.
  const after: number[] = []
  for (const [i, row] of before.entries())
    after.push(
      Math.max(isValued(i) ? -1 : order.valued - 1, positions.get(row) ?? -1, after.at(-1) ?? -1),
    )
  const version = await putBehindMissing(sql, segment, { sort, order, rows, after })
  if (version !== segment.version) return { ...order, versions: { rows: version } }
  for (let i = 1; i < after.length; i++) after[i] = Math.max(after[i - 1]!, after[i]!)
  return {
    ...changed,
    docs: insertAll(order.docs, rows, after),
    valued: order.valued + rows.filter((_, i) => isValued(i)).length,
  }
}

type Places = { version: string; ids: Buffer; before: Buffer; valued: Buffer }

/** The books, in order, each with the present book before it and a byte: whether it has a value. */
async function readPlaces(
  sql: Sql,
  { sort, ids }: { sort: BookColumnSort; ids: string[] },
): Promise<Places> {
  const { column, nullable } = bookSortColumns[sort]
  const key = (alias: string) => sql`${sql(alias)}.${sql(column)}`
  const last = (isBefore: Fragment) => sql`(
    select p.id from book p where ${presentBook(sql, 'p')} and ${isBefore}
    order by ${bookOrderBy(sql, 'p', { sort, direction: 'asc', reversed: true })} limit 1)`
  const lastValued = last(sql`(${key('p')}, p.id) < (${key('b')}, b.id)`)
  const before = nullable
    ? sql`case when ${key('b')} is null
        then ${last(sql`${key('p')} is null and p.id < b.id`)} else ${lastValued} end`
    : lastValued
  const [row] = await unprepared(sql<Places[]>`
    select ${listVersion(sql)} as version, string_agg(uuid_send(b.id), ''::bytea) as ids,
      string_agg(uuid_send(coalesce(b.before, ${noId}::uuid)), ''::bytea) as before,
      string_agg(case when ${key('b')} is null then '\\x00'::bytea else '\\x01'::bytea end, ''::bytea)
        as valued
    from (
      select b.id, ${key('b')}, ${before} as before from book b where b.id = any(${ids}::uuid[])
      order by ${bookOrderBy(sql, 'b', { sort, direction: 'asc', reversed: false })}) b`)
  return row!
}

const noId = '00000000-0000-0000-0000-000000000000'

/** -1 for ids that the segment does not have. */
async function rowsOf(segment: BookSegment, ids: Buffer): Promise<Int32Array> {
  const rows = new Int32Array(ids.length / idBytes).fill(-1)
  await forEachOrdinal(segment.ids, ids, (row, i) => {
    rows[i] = row
  })
  return rows
}

/** A pass of the order costs as much as looking for so many. */
const maxLookedFor = 8

/** The positions of those rows that the order has. */
function positionsOf({ docs: rows, maxDoc }: CachedOrder, wanted: Int32Array): Map<number, number> {
  const known = new Set(wanted.filter(row => row >= 0 && row < maxDoc))
  if (known.size <= maxLookedFor) return new Map(Array.from(known, row => [row, rows.indexOf(row)]))
  const isWanted = emptyBitmap(maxDoc)
  for (const row of known) add(isWanted, row)
  const positions = new Map<number, number>()
  for (let i = 0; i < rows.length; i++) if (has(isWanted, rows[i]!)) positions.set(rows[i]!, i)
  return positions
}

/**
 * Moves positions behind the missing books that are between them and the next present book, and before the book that is
 * put there. Found by halves: there may be very many, of a library that is missing. Returns the version.
 */
async function putBehindMissing(
  sql: Sql,
  segment: BookSegment,
  { sort, order, rows, after }: Extended & { rows: Int32Array; after: number[] },
): Promise<string> {
  if (!segment.hasMissing) return segment.version
  const behind = new Map<number, number[]>()
  for (const position of after)
    if (!behind.has(position)) behind.set(position, missingBehind(segment, order, position))
  const searches = after.flatMap((position, index) => {
    const missing = behind.get(position)!
    return missing.length > 0 ? [{ index, missing, from: 0, to: missing.length }] : []
  })
  for (;;) {
    const open = searches.filter(({ from, to }) => from < to)
    if (open.length === 0) break
    const middle = ({ from, to }: { from: number; to: number }) => (from + to) >> 1
    const pairs = open.map(search => ({
      book: idAt(segment.ids, rows[search.index]!),
      missing: idAt(segment.ids, order.docs[search.missing[middle(search)]!]!),
    }))
    const { version, earlier } = await comparePairs(sql, sort, pairs)
    if (version !== segment.version) return version
    const isEarlier = new Set(earlier)
    for (const [i, search] of open.entries())
      if (isEarlier.has(i + 1)) search.from = middle(search) + 1
      else search.to = middle(search)
  }
  for (const { index, missing, from } of searches) if (from > 0) after[index] = missing[from - 1]!
  return segment.version
}

/** The positions of missing books behind one, up to the next present book. */
function missingBehind(
  { missing, ids: books }: BookSegment,
  { docs: rows }: CachedOrder,
  position: number,
): number[] {
  const found: number[] = []
  for (let at = position + 1; at < rows.length; at++) {
    const row = rows[at]!
    if (isDeleted(books, row)) continue
    if (!has(missing, row)) break
    found.push(at)
  }
  return found
}

/** The numbers, from 1, of the pairs of which the missing book is the first. */
async function comparePairs(
  sql: Sql,
  sort: BookColumnSort,
  pairs: { book: string; missing: string }[],
): Promise<{ version: string; earlier: number[] }> {
  const { column } = bookSortColumns[sort]
  const [own, other] = [sql`b.${sql(column)}`, sql`m.${sql(column)}`]
  const books = pairs.map(({ book }) => book)
  const missing = pairs.map(pair => pair.missing)
  const [row] = await unprepared(sql<{ version: string; earlier: number[] }[]>`
    select ${listVersion(sql)} as version, array(
      select p.i::integer from unnest(${books}::uuid[], ${missing}::uuid[]) with ordinality as p(book, missing, i)
      cross join lateral (select * from book b where b.id = p.book offset 0) b
      cross join lateral (select * from book m where m.id = p.missing offset 0) m
      where case
        when ${own} is null then ${other} is not null or m.id < b.id
        when ${other} is null then false
        else (${other}, m.id) < (${own}, b.id) end) as earlier`)
  return row!
}

/** Each behind a position, which do not descend. */
function insertAll(
  rows: Uint32Array<ArrayBuffer>,
  inserted: Int32Array,
  after: number[],
): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(rows.length + inserted.length)
  let copied = 0
  for (const [i, row] of inserted.entries()) {
    const end = after[i]! + 1
    result.set(rows.subarray(copied, end), copied + i)
    copied = end
    result[copied + i] = row
  }
  result.set(rows.subarray(copied), copied + inserted.length)
  return result
}
