// Filtered book lists from bitmaps in memory: the books of each predicate are read once, in any order and for any
// viewer, and combined for each request. The total is the number of bits; a page is found along the order.
// The index is made in the background by the first lists that take long, and is of one version of the catalogue:
// while that differs, lists are read by plans. It is dropped when no list has used it for some time.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import type { BookFilter, Condition, Predicate } from '../condition.ts'
import { accountVersion, listVersion, versionOfField } from '../marks/list-version.ts'
import type { MarkedScope } from '../marks/read-marks.ts'
import type { IdPage } from '../page.ts'
import { expand } from '../plan/book-plan.ts'
import { toRarePredicate } from '../plan/series-sets.ts'
import type { BookSort, bookSortColumns, Direction } from '../sort.ts'
import {
  type Bitmap,
  bytesOf,
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
  readColumnOrder,
  readProgressOrder,
  readSeriesOrder,
  runsByReading,
  runsOf,
} from './book-order.ts'
import { type BookTable, readBookTable, visibleBooks } from './book-table.ts'
import { idAt } from './id-table.ts'
import { readPredicateBooks } from './predicate-books.ts'

export type IndexedRequest = MarkedScope & {
  filter: BookFilter | null
  sort: Exclude<BookSort, 'relevance'>
  direction: Direction
  offset: number
  limit: number
}

export type BookIndex = {
  /** A page of the books that a viewer sees; null without a valid index, or where it does not pay. */
  page(sql: Sql, viewer: Viewer, request: IndexedRequest): Promise<IdPage | null>
  /** Reads what the list needs in the background, unless it is valid or was read a short time ago. */
  refresh(sql: Sql, request: IndexedRequest): void
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

type Options = {
  /** How long the index is not read again, as a multiple of the time that reading it took. */
  pause?: number
}

/** At most 5 % of a processor, while a catalogue changes all the time. */
const defaultPause = 20
/** The index has 24 bytes for each book, and 4 for each book and order. */
const maxBooks = 2_500_000
const maxOrderBytes = 40 * 1024 ** 2
const maxBitmapBytes = 16 * 1024 ** 2
const maxUnusedMs = 15 * 60_000
/** A condition with more predicates that are not in memory is tested book by book. */
const maxNewPredicates = 24

type Entry = Packed & { accountVersion: string | null; coversMissing: boolean }
type State = {
  table: BookTable
  orders: LRUCache<string, BookOrder>
  bitmaps: LRUCache<string, Entry>
}

const newState = (table: BookTable): State => ({
  table,
  orders: new LRUCache({
    maxSize: maxOrderBytes,
    sizeCalculation: ({ books }) => books.byteLength + 100,
  }),
  bitmaps: new LRUCache({
    maxSize: maxBitmapBytes,
    sizeCalculation: (entry: Entry) => bytesOf(entry),
  }),
})

export function createBookIndex({ pause = defaultPause }: Options = {}): BookIndex {
  let state: State | null = null
  let nextRead = 0
  let timer: NodeJS.Timeout | undefined
  const waiting = new Set<string>()
  let reading: Promise<unknown> = Promise.resolve()

  function used() {
    clearTimeout(timer)
    timer = setTimeout(() => {
      state = null
    }, maxUnusedMs).unref()
  }

  async function read(pool: Sql, names: string[]) {
    if (state && (await versionOf(pool)) !== state.table.version) state = null
    if (!state && performance.now() < nextRead) return
    const started = performance.now()
    const isNew = !state
    if (!state) {
      const table = await readBookTable(pool, { maxBooks })
      if (table) state = newState(table)
    }
    if (state) await readOrders(pool, state, names)
    const ended = performance.now()
    if (isNew) nextRead = ended + pause * (ended - started)
    used()
  }

  return {
    async page(sql, viewer, request) {
      const current = state
      if (!current) return null
      const list = await openList(sql, viewer, { state: current, request })
      if (list === 'stale') {
        if (state === current) state = null
        return null
      }
      if (list) used()
      return list
    },
    refresh(sql, request) {
      const names = ordersOf(request)
      const name = names.join(' ')
      if (waiting.has(name)) return
      if (!state && performance.now() < nextRead) return
      if (state && names.every(order => state!.orders.has(order))) return
      waiting.add(name)
      // One at a time, and not with the statements of the request, which end with it.
      const run = reading.then(() => read(poolOf(sql), names))
      // After a failure lists are as slow as they are without an index.
      reading = run.catch(() => {}).then(() => void waiting.delete(name))
    },
    async idle() {
      await reading
    },
  }
}

/** The names of the orders that a list is made with. */
function ordersOf({ sort, direction }: IndexedRequest): string[] {
  if (sort === 'read') return ['title']
  return sort === 'series' ? ['title', `series ${direction}`] : [sort]
}

/** Not those that are of another version: the index is of another state of the catalogue then. */
async function readOrders(sql: Sql, { table, orders }: State, names: string[]): Promise<void> {
  for (const name of names) {
    if (orders.has(name)) continue
    const [sort, direction] = name.split(' ') as [
      keyof typeof bookSortColumns | 'series',
      Direction,
    ]
    const order =
      sort === 'series'
        ? await readSeriesOrder(sql, table, { direction, byTitle: orders.get('title')! })
        : await readColumnOrder(sql, table, sort)
    if (order.version !== table.version) return
    orders.set(name, order)
  }
}

async function versionOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select ${listVersion(sql)} as version`
  return row!.version
}

type Opened = { state: State; request: IndexedRequest }

async function openList(
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
  { state: { table, orders }, version }: { state: State; version: string },
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

type Resolved = { state: State; condition: Condition; account: string; withMissing: boolean }

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
  for (const { key, name, predicate, present } of needed) {
    const { versions, bitmap, coversMissing } = await readPredicateBooks(sql, viewer, {
      ...{ table, predicate, withMissing, present },
    })
    if (versions && (versions.list !== table.version || versions.account !== account)) return null
    const packed = pack(bitmap)
    found.set(key, packed)
    const version = versionOfField(predicate.field)
    const accountVersion = version === 'account' ? account : null
    if (version) bitmaps.set(name, { ...packed, accountVersion, coversMissing })
  }
  return found
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

function visibleTo({ table, bitmaps }: State, viewer: Viewer, scope: MarkedScope): Bitmap {
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

const indexByPool = new WeakMap<Sql, BookIndex>()

/** The index of this process for a database. */
export function bookIndexOf(sql: Sql): BookIndex {
  const pool = poolOf(sql)
  const index = indexByPool.get(pool) ?? createBookIndex()
  indexByPool.set(pool, index)
  return index
}
