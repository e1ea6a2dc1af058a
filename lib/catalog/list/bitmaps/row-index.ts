// Filtered lists from bitmaps in memory: the rows of each predicate are read once, in any order and for any
// viewer, and combined for each request. The total is the number of bits; a page is found along the order.
// The index is made in the background by the first lists that take long, and is of one version of the catalogue:
// while that differs, lists are read by plans. It is dropped when no list has used it for some time.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import { noteFailedReading } from '../background-failures.ts'
import { listVersion } from '../marks/list-version.ts'
import type { IdPage } from '../page.ts'
import { type Bitmap, bytesOf, entryBytes } from './bitmap.ts'
import {
  type Entry,
  type IndexState,
  type KnownOrder,
  readPage,
  readRows,
  type Unlisted,
} from './indexed-list.ts'
import type { OrderSource, RowKind, RowRequest, RowTable } from './row-kind.ts'

export type RowIndex<Table extends RowTable, Request extends RowRequest> = {
  /** A page of the rows that a viewer sees; null without a valid index, or where it does not pay. */
  page(sql: Sql, viewer: Viewer, request: Request): Promise<IdPage | null>
  /** All rows of the list, in a bitmap of its own; null as above. */
  matching(
    sql: Sql,
    viewer: Viewer,
    request: Request,
  ): Promise<{ table: Table; rows: Bitmap } | null>
  /** All rows are in memory, of some version. */
  isInMemory(): boolean
  /** Reads what the list needs in the background, unless it is valid or was read a short time ago. */
  refresh(sql: Sql, viewer: Viewer, request: Request): void
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

type Options = {
  /** How long the index is not read again, as a multiple of the time that reading it took. */
  pause?: number
}

/** At most 5 % of a processor, while a catalogue changes all the time. */
const defaultPause = 20
/** The table of an index has 24 bytes for each row; an order has 4. */
const maxOrderBytes = 40 * 1024 ** 2
const maxOrders = 32
const maxBitmapBytes = 16 * 1024 ** 2
const maxBitmaps = 1_000
const maxUnusedMs = 15 * 60_000
const newState = <Table extends RowTable>(table: Table): IndexState<Table> => ({
  table,
  orders: new LRUCache({
    maxSize: Math.min(maxOrderBytes, maxOrders * (table.rowCount * 4 + entryBytes)),
    sizeCalculation: ({ rows }: KnownOrder) => rows.byteLength + entryBytes,
  }),
  bitmaps: new LRUCache({
    maxSize: Math.min(maxBitmapBytes, maxBitmaps * (table.rowCount / 8 + entryBytes)),
    sizeCalculation: (entry: Entry) => bytesOf(entry),
  }),
})

export function createRowIndex<Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
  { pause = defaultPause }: Options = {},
): RowIndex<Table, Request> {
  let state: IndexState<Table> | null = null
  let nextRead = 0
  /** Of lists since the index was last used for some time. */
  const usedOrders = new Map<string, OrderSource<Table>>()
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

  const longSources = (viewer: Viewer, request: Request) =>
    [
      ...kind.orderOf(viewer, request, state?.table ?? null).sources,
      ...(kind.ordersOfCondition?.(request) ?? []),
    ].filter(({ isLong }) => isLong)

  async function read(pool: Sql, viewer: Viewer, request: Request) {
    if (state && (await versionOf(pool)) !== state.table.version) state = null
    if (!state && performance.now() < nextRead) return
    const started = performance.now()
    const isNew = !state
    if (!state) {
      const table = await kind.readTable(pool)
      if (table) state = newState(table)
    }
    const sources = longSources(viewer, request)
    for (const source of sources) usedOrders.set(source.name, source)
    if (state) await readOrders(pool, state, isNew ? [...usedOrders.values()] : sources)
    const ended = performance.now()
    if (isNew) nextRead = ended + pause * (ended - started)
    used()
  }

  async function versionOf(sql: Sql): Promise<string> {
    const [row] = await sql<{ version: string }[]>`
      select ${listVersion(sql, kind.subject)} as version`
    return row!.version
  }

  async function list<Found>(
    find: (current: IndexState<Table>) => Promise<Found | Unlisted>,
  ): Promise<Found | null> {
    const current = state
    if (!current) return null
    const found = await find(current)
    if (found === 'stale') {
      if (state === current) state = null
      return null
    }
    if (found) used()
    return found as Found | null
  }

  const index: RowIndex<Table, Request> = {
    async page(sql, viewer, request) {
      const started = performance.now()
      const page = await list(current => readPage({ sql, viewer, kind, state: current }, request))
      if (page && performance.now() - started > minReadMs) index.refresh(sql, viewer, request)
      return page
    },
    matching: async (sql, viewer, request) =>
      await list(async current => {
        const rows = await readRows({ sql, viewer, kind, state: current }, request)
        return rows && rows !== 'stale' ? { table: current.table, rows } : rows
      }),
    isInMemory: () => state !== null,
    refresh(sql, viewer, request) {
      const sources = longSources(viewer, request)
      const name = sources.map(source => source.name).join(' ')
      if (waiting.has(name)) return
      if (!state && performance.now() < nextRead) return
      if (state && sources.every(source => state!.orders.has(source.name))) return
      waiting.add(name)
      const pool = poolOf(sql)
      // One at a time, and not with the statements of the request, which end with it.
      const run = reading.then(() => read(pool, viewer, request))
      // After a failure lists are as slow as they are without an index.
      reading = run
        .catch(error => noteFailedReading(pool, `${kind.subject} index`, error))
        .then(() => void waiting.delete(name))
    },
    async idle() {
      await reading
    },
  }
  return index
}

/** Not those that are of another version: the index is of another state of the catalogue then. */
async function readOrders<Table extends RowTable>(
  sql: Sql,
  { table, orders }: IndexState<Table>,
  sources: OrderSource<Table>[],
): Promise<void> {
  for (const { name, read } of sources) {
    if (orders.has(name)) continue
    const found = await read(sql, table, other => orders.get(other))
    // Others took the place of one that it needs: it is read when a list needs both.
    if (!found) continue
    const { versions, ...order } = found
    if (versions.rows !== table.version) return
    orders.set(name, { ...order, version: null })
  }
}

type Fallback<Found> = {
  /** Without the index. */
  read(): Promise<Found>
  /** The catalogue is so large that an index pays. */
  isLarge(): Promise<boolean>
  refresh(): void
}

/** Lists that take less time need no index. */
const minReadMs = 30

/** What the index found; else what is read without it, which if it takes long refreshes the index. */
export async function orRead<Found>(
  indexed: Found | null,
  { read, isLarge, refresh }: Fallback<Found>,
): Promise<Found> {
  if (indexed) return indexed
  const started = performance.now()
  const found = await read()
  if (performance.now() - started > minReadMs && (await isLarge())) refresh()
  return found
}

/** The index of this process for a database. */
export function sharedIndex<Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
): (sql: Sql) => RowIndex<Table, Request> {
  const indexes = new WeakMap<Sql, RowIndex<Table, Request>>()
  return sql => {
    const pool = poolOf(sql)
    const index = indexes.get(pool) ?? createRowIndex(kind)
    indexes.set(pool, index)
    return index
  }
}
