// A page of a filtered list from bitmaps in memory: of the predicates of its condition and of what the viewer sees.
import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import type { BookFilter, Condition, Predicate } from '../condition.ts'
import { accountVersion, listVersion, versionOfField } from '../marks/list-version.ts'
import type { MarkedScope } from '../marks/read-marks.ts'
import type { IdPage } from '../page.ts'
import { expand } from '../plan/book-plan.ts'
import { toRarePredicate } from '../plan/series-sets.ts'
import type { BookSort, Direction } from '../sort.ts'
import {
  type Bitmap,
  countOf,
  emptyBitmap,
  fullBitmap,
  intersect,
  invert,
  type Packed,
  pack,
  unite,
  unpack,
} from './bitmap.ts'
import {
  type BookOrder,
  pageOfRuns,
  readProgressOrder,
  runsByReading,
  runsOf,
} from './book-order.ts'
import { type BookTable, visibleBooks } from './book-table.ts'
import { idAt } from './id-table.ts'
import { readPredicateBooks } from './predicate-books.ts'

export type IndexedRequest = MarkedScope & {
  filter: BookFilter | null
  sort: Exclude<BookSort, 'relevance'>
  direction: Direction
  offset: number
  limit: number
}

export type Entry = Packed & { accountVersion: string | null; coversMissing: boolean }
export type IndexState = {
  table: BookTable
  orders: LRUCache<string, BookOrder>
  bitmaps: LRUCache<string, Entry>
}

/** A condition with more predicates that are not in memory is tested book by book. */
const maxNewPredicates = 24

/** The names of the orders that a list is made with. */
export function ordersOf({ sort, direction }: IndexedRequest): string[] {
  if (sort === 'read') return ['title']
  return sort === 'series' ? ['title', `series ${direction}`] : [sort]
}

type Opened = { state: IndexState; request: IndexedRequest }

/** Null without its order in memory, or where the index does not pay; `stale` if the catalogue has another version. */
export async function readList(
  sql: Sql,
  viewer: Viewer,
  { state, request }: Opened,
): Promise<IdPage | null | 'stale'> {
  const { table, orders } = state
  const { direction, offset, limit } = request
  const [order, second] = ordersOf(request).map(name => orders.get(name))
  const isRead = request.sort === 'read'
  const own = request.sort === 'series' ? second : order
  if (!own) return null
  const condition = rare(expand(request.filter?.condition ?? { all: [] }))
  const [versions] = await sql<{ list: string; account: string }[]>`
    select ${listVersion(sql)} as list, ${accountVersion(sql, viewer)} as account`
  if (versions!.list !== table.version) return 'stale'
  const read = isRead
    ? await progressOrder(sql, viewer, { state, version: versions!.account })
    : null
  const bitmaps = await bitmapsOf(sql, viewer, {
    ...{ state, condition, account: versions!.account },
    withMissing: request.includeDeleted ?? false,
  })
  if (!bitmaps) return null
  const matching = evaluate(condition, bitmaps, table.bookCount)
  const books = intersect(matching, visibleTo(state, viewer, request))
  const total = countOf(books)
  const runs = read
    ? runsByReading(table, { read, byTitle: own }, direction)
    : runsOf(own, request.sort === 'series' ? 'asc' : direction)
  const page = pageOfRuns(runs, books, { offset, limit, total })
  return { total, ids: page.map(book => idAt(table.books, book)) }
}

async function progressOrder(
  sql: Sql,
  viewer: Viewer,
  { state: { table, orders }, version }: { state: IndexState; version: string },
): Promise<BookOrder> {
  const name = `read ${viewer.accountId}`
  const known = orders.get(name)
  if (known?.version === version) return known
  const order = await readProgressOrder(sql, viewer, table)
  orders.set(name, order)
  return order
}

/** With predicates whose positive form the fewest books meet. */
function rare(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(rare) }
  return 'any' in condition ? { any: condition.any.map(rare) } : toRarePredicate(condition)
}

const keyOf = ({ field, test }: Predicate) => JSON.stringify([field, test])

function predicatesByKey(condition: Condition, found = new Map<string, Predicate>()) {
  if ('all' in condition) for (const part of condition.all) predicatesByKey(part, found)
  else if ('any' in condition) for (const part of condition.any) predicatesByKey(part, found)
  else found.set(keyOf(condition), condition)
  return found
}

type Resolved = { state: IndexState; condition: Condition; account: string; withMissing: boolean }

/** The books of the predicates, by key. Null if the catalogue or the account changed meanwhile, or with too many. */
async function bitmapsOf(
  sql: Sql,
  viewer: Viewer,
  { state: { table, bitmaps }, condition, account, withMissing }: Resolved,
): Promise<Map<string, Packed> | null> {
  const found = new Map<string, Packed>()
  const needed: { key: string; name: string; predicate: Predicate; present: Bitmap | null }[] = []
  for (const [key, predicate] of predicatesByKey(condition)) {
    const isOwn = versionOfField(predicate.field) === 'account'
    const name = hashOf(isOwn ? [key, viewer.accountId] : [key])
    const known = bitmaps.get(name)
    const isValid = known && (!isOwn || known.accountVersion === account)
    if (isValid && (known.coversMissing || !withMissing)) found.set(key, known)
    else
      needed.push({
        key,
        name,
        predicate,
        present: isValid ? unpack(known, table.bookCount) : null,
      })
  }
  if (needed.length > maxNewPredicates) return null
  let isCurrent = true
  const left = needed.values()
  const readNext = async () => {
    for (const { key, name, predicate, present } of left) {
      const { versions, bitmap, coversMissing } = await readPredicateBooks(sql, viewer, {
        ...{ table, predicate, withMissing, present },
      })
      if (versions && (versions.list !== table.version || versions.account !== account))
        isCurrent = false
      if (!isCurrent) return
      const packed = pack(bitmap)
      found.set(key, packed)
      const version = versionOfField(predicate.field)
      const accountVersion = version === 'account' ? account : null
      if (version) bitmaps.set(name, { ...packed, accountVersion, coversMissing })
    }
  }
  // As many statements as a request may send at once (lib/http/list-gate.ts).
  await Promise.all([readNext(), readNext()])
  return isCurrent ? found : null
}

/** A new bitmap. */
function evaluate(condition: Condition, bitmaps: Map<string, Packed>, size: number): Bitmap {
  if ('all' in condition)
    return condition.all.reduce(
      (all, part) => intersect(all, evaluate(part, bitmaps, size)),
      fullBitmap(size),
    )
  if ('any' in condition)
    return condition.any.reduce(
      (any, part) => unite(any, evaluate(part, bitmaps, size)),
      emptyBitmap(size),
    )
  const bitmap = unpack(bitmaps.get(keyOf(condition))!, size)
  return condition.negated ? invert(bitmap) : bitmap
}

function visibleTo({ table, bitmaps }: IndexState, viewer: Viewer, scope: MarkedScope): Bitmap {
  const { libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const sees = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  const { libraryId, includeDeleted = false } = scope
  const name = hashOf(['visible', ...sees, ageLimit, showsUnrated, libraryId, includeDeleted])
  const known = bitmaps.get(name)
  if (known) return unpack(known, table.bookCount)
  const bitmap = visibleBooks(table, viewer, scope)
  bitmaps.set(name, { ...pack(bitmap), accountVersion: null, coversMissing: true })
  return bitmap
}

const hashOf = (parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
