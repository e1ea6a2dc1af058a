// A sort order of books in memory, with the books that changed since it was read: each is put behind the present book
// before it, which the index of the order finds, and behind missing books that lie between that one and it.
import type { Fragment, Sql } from 'postgres'
import { presentBook } from '../../../../auth/viewer.ts'
import { unprepared } from '../../../../postgres/statement.ts'
import { listVersion } from '../../marks/list-version.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns } from '../../sort.ts'
import { add, emptyBitmap, has } from '../bitmap.ts'
import { forEachPlace, idAt, idBytes, isRetired } from '../id-table.ts'
import type { KnownOrder, ReadOrder } from '../row-kind.ts'
import { addedIds, type BookTable } from './book-table.ts'

type Extended = { sort: BookColumnSort; order: KnownOrder }

/** More books take longer than reading the order. */
const maxAdded = 20_000
/** Pairs of books that are compared. */
const maxCompared = 50_000

/** Null for too many books. The numbers that books have lost stay in the order. */
export async function extendColumnOrder(
  sql: Sql,
  table: BookTable,
  { sort, order }: Extended,
): Promise<ReadOrder | null> {
  const ids = addedIds(table, order.rowCount)
  if (ids.length === 0) return { ...order, versions: { rows: table.version } }
  if (ids.length > maxAdded) return null
  const places = await readPlaces(sql, { sort, ids })
  const changed = { ...order, versions: { rows: places.version } }
  if (places.version !== table.version) return changed
  const rows = await rowsOf(table, places.ids)
  const before = await rowsOf(table, places.before)
  const isValued = (i: number) => places.valued[i] === 1
  const positions = positionsOf(order, before)
  // Of books that are put behind others of them, the same.
  const after: number[] = []
  for (const [i, row] of before.entries())
    after.push(
      Math.max(isValued(i) ? -1 : order.valued - 1, positions.get(row) ?? -1, after.at(-1) ?? -1),
    )
  const pairs = table.hasMissing ? missingBehind(table, { order, rows, after }) : []
  if (pairs.length > maxCompared) return null
  const compared = await comparePairs(sql, table, { sort, pairs })
  if (compared.version !== table.version) return { ...order, versions: { rows: compared.version } }
  for (const [i, { index, at }] of pairs.entries())
    if (compared.isEarlier(i)) after[index] = Math.max(after[index]!, at)
  for (let i = 1; i < after.length; i++) after[i] = Math.max(after[i - 1]!, after[i]!)
  return {
    ...changed,
    rows: insertAll(order.rows, rows, after),
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

/** -1 for ids that the table does not have. */
async function rowsOf(table: BookTable, ids: Buffer): Promise<Int32Array> {
  const rows = new Int32Array(ids.length / idBytes).fill(-1)
  await forEachPlace(table.rows, ids, (row, i) => {
    rows[i] = row
  })
  return rows
}

/** A pass of the order costs as much as looking for so many. */
const maxLookedFor = 8

/** The positions of those rows that the order has. */
function positionsOf({ rows, rowCount }: KnownOrder, wanted: Int32Array): Map<number, number> {
  const known = new Set(wanted.filter(row => row >= 0 && row < rowCount))
  if (known.size <= maxLookedFor) return new Map(Array.from(known, row => [row, rows.indexOf(row)]))
  const isWanted = emptyBitmap(rowCount)
  for (const row of known) add(isWanted, row)
  const positions = new Map<number, number>()
  for (let i = 0; i < rows.length; i++) if (has(isWanted, rows[i]!)) positions.set(rows[i]!, i)
  return positions
}

/** A missing book at a position of the order; `index`: of the book that is put before or behind it. */
type Pair = { index: number; row: number; missing: number; at: number }

/** Those between the position of a book and the next present book: few, unless a library is missing. */
function missingBehind(
  { missing, rows: books }: BookTable,
  { order, rows, after }: { order: KnownOrder; rows: Int32Array; after: number[] },
): Pair[] {
  const pairs: Pair[] = []
  for (const [index, row] of rows.entries())
    for (let at = after[index]! + 1; at < order.rows.length && pairs.length <= maxCompared; at++) {
      const other = order.rows[at]!
      if (isRetired(books, other)) continue
      if (!has(missing, other)) break
      pairs.push({ index, row, missing: other, at })
    }
  return pairs
}

/** Of which pairs the missing book is the first. */
async function comparePairs(
  sql: Sql,
  { version, rows }: BookTable,
  { sort, pairs }: { sort: BookColumnSort; pairs: Pair[] },
): Promise<{ version: string; isEarlier: (i: number) => boolean }> {
  if (pairs.length === 0) return { version, isEarlier: () => false }
  const { column } = bookSortColumns[sort]
  const [own, other] = [sql`b.${sql(column)}`, sql`m.${sql(column)}`]
  const books = pairs.map(({ row }) => idAt(rows, row))
  const missing = pairs.map(pair => idAt(rows, pair.missing))
  const [row] = await unprepared(sql<{ version: string; earlier: number[] }[]>`
    select ${listVersion(sql)} as version, array(
      select p.i::integer from unnest(${books}::uuid[], ${missing}::uuid[]) with ordinality as p(book, missing, i)
      join book b on b.id = p.book join book m on m.id = p.missing
      where case
        when ${own} is null then ${other} is not null or m.id < b.id
        when ${other} is null then false
        else (${other}, m.id) < (${own}, b.id) end) as earlier`)
  const earlier = new Set(row!.earlier)
  return { version: row!.version, isEarlier: i => earlier.has(i + 1) }
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
