// Filtered book lists from bitmaps in memory: the books of each predicate are read once, in any order and for any
// viewer, and combined for each request. The total is the number of bits; a page is found along the order.
// The index is made in the background by the first lists that take long, and is of one version of the catalogue:
// while that differs, lists are read by plans. It is dropped when no list has used it for some time.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import { listVersion } from '../marks/list-version.ts'
import type { IdPage } from '../page.ts'
import type { bookSortColumns, Direction } from '../sort.ts'
import { bytesOf } from './bitmap.ts'
import { readColumnOrder, readSeriesOrder } from './book-order.ts'
import { type BookTable, readBookTable } from './book-table.ts'
import {
  type Entry,
  type IndexedRequest,
  type IndexState,
  ordersOf,
  readList,
} from './indexed-list.ts'

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
const newState = (table: BookTable): IndexState => ({
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
  let state: IndexState | null = null
  let nextRead = 0
  /** Of lists since the index was last used for some time. */
  const usedOrders = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const waiting = new Set<string>()
  let reading: Promise<unknown> = Promise.resolve()

  function used() {
    clearTimeout(timer)
    timer = setTimeout(() => {
      state = null
      usedOrders.clear()
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
    for (const name of names) usedOrders.add(name)
    if (state) await readOrders(pool, state, isNew ? [...usedOrders] : names)
    const ended = performance.now()
    if (isNew) nextRead = ended + pause * (ended - started)
    used()
  }

  return {
    async page(sql, viewer, request) {
      const current = state
      if (!current) return null
      const list = await readList(sql, viewer, { state: current, request })
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

/** Not those that are of another version: the index is of another state of the catalogue then. */
async function readOrders(sql: Sql, { table, orders }: IndexState, names: string[]): Promise<void> {
  for (const name of names) {
    if (orders.has(name)) continue
    const [sort, direction] = name.split(' ') as [
      keyof typeof bookSortColumns | 'series',
      Direction,
    ]
    const byTitle = orders.get('title')
    // Others took its place in memory: it is read when a list needs both.
    if (sort === 'series' && !byTitle) continue
    const order =
      sort === 'series'
        ? await readSeriesOrder(sql, table, { direction, byTitle: byTitle! })
        : await readColumnOrder(sql, table, sort)
    if (order.version !== table.version) return
    orders.set(name, order)
  }
}

async function versionOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select ${listVersion(sql)} as version`
  return row!.version
}

const indexByPool = new WeakMap<Sql, BookIndex>()

/** The index of this process for a database. */
export function bookIndexOf(sql: Sql): BookIndex {
  const pool = poolOf(sql)
  const index = indexByPool.get(pool) ?? createBookIndex()
  indexByPool.set(pool, index)
  return index
}
