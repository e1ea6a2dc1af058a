// Rank marks in memory: of the orders that were requested and, in a cache of bounded size, of filtered lists.
// They are made in the background by the first requests that take long, and used while they are valid.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import type { IdPage } from '../page.ts'
import { bookSortColumns } from '../sort.ts'
import { isOfAccount, listVersion } from './list-version.ts'
import { type MarkedRequest, readPage } from './page-by-marks.ts'
import { type FilteredCounts, readCounts, sizeOf } from './read-counts.ts'
import { type MarkedOrder, type Marks, readMarks } from './read-marks.ts'

export type RankMarks = {
  /** A page of the books that a viewer sees; null without valid marks, or where they do not pay. */
  page(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage | null>
  /** Reads the marks of a list in the background, unless they are valid or were read a short time ago. */
  refresh(sql: Sql, viewer: Viewer, request: MarkedRequest): void
  /** Resolves when no marks are being read. */
  idle(): Promise<void>
}

type Options = {
  minBucketRows?: number
  /** How long the marks of an order are not read again, as a multiple of the time that reading them took. */
  pause?: number
}

type OrderEntry = { marks: Marks | null; nextRead: number }

// A bucket of so many books is walked in about a millisecond.
const defaultBucketRows = 1_000
/** At most 3 % of a processor for each order, while a catalogue changes all the time. */
const defaultPause = 30
/** Of filtered lists. Each has 5 kB, and up to 600 kB if all of its buckets have few books. */
const maxListBytes = 16 * 1024 ** 2
/** Lists whose marks are to be read. */
const maxWaiting = 8

/** The marks of an order of a million books have some 300 kB. */
export function createRankMarks({
  minBucketRows = defaultBucketRows,
  pause = defaultPause,
}: Options = {}): RankMarks {
  const orders = new Map<string, OrderEntry>()
  const lists = new LRUCache<string, { marks: Marks; counts: FilteredCounts }>({
    maxSize: maxListBytes,
    sizeCalculation: ({ counts }) => sizeOf(counts),
  })
  const waiting = new Set<string>()
  let reading: Promise<void> = Promise.resolve()

  function orderOf({ sort, direction }: MarkedOrder): OrderEntry {
    const name = `${sort} ${direction}`
    const order = orders.get(name) ?? { marks: null, nextRead: 0 }
    orders.set(name, order)
    return order
  }

  async function readOrder(pool: Sql, requested: MarkedOrder): Promise<Marks | null> {
    const order = orderOf(requested)
    if (order.marks && (await versionOf(pool)) !== order.marks.version) order.marks = null
    if (order.marks || performance.now() < order.nextRead) return order.marks
    const started = performance.now()
    order.marks = await readMarks(pool, requested, { minBucketRows })
    const ended = performance.now()
    order.nextRead = ended + pause * (ended - started)
    return order.marks
  }

  async function readList(pool: Sql, viewer: Viewer, request: MarkedRequest) {
    const order = markedOrder(request)
    const marks = await readOrder(pool, order)
    const { filter } = request
    if (!marks || !filter) return
    const counts = await readCounts(pool, viewer, { marks, order, list: { ...request, filter } })
    if (counts) lists.set(nameOf(viewer, request), { marks, counts })
  }

  return {
    async page(sql, viewer, request) {
      const order = orderOf(markedOrder(request))
      const { filter } = request
      const name = filter ? nameOf(viewer, request) : ''
      const { marks } = order
      const list = filter ? lists.get(name) : undefined
      if (!marks || (filter && list?.marks !== marks)) return null
      const page = await readPage(sql, viewer, {
        marks,
        order: markedOrder(request),
        request,
        filtered: list?.counts,
      })
      if (page !== 'stale') return page
      if (filter) lists.delete(name)
      else if (order.marks === marks) order.marks = null
      return null
    },
    refresh(sql, viewer, request) {
      const order = markedOrder(request)
      const name = request.filter ? nameOf(viewer, request) : `${order.sort} ${order.direction}`
      if (waiting.has(name) || waiting.size >= maxWaiting) return
      const { marks, nextRead } = orderOf(order)
      if (!marks && performance.now() < nextRead) return
      if (marks && (!request.filter || lists.get(name)?.marks === marks)) return
      // One at a time, and not with the statements of the request, which end with it.
      const read = reading.then(() => readList(poolOf(sql), viewer, request))
      // After a failure lists are as slow as they are without marks.
      reading = read.catch(() => {}).then(() => void waiting.delete(name))
      waiting.add(name)
    },
    async idle() {
      await reading
    },
  }
}

async function versionOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select ${listVersion(sql)} as version`
  return row!.version
}

const marksByPool = new WeakMap<Sql, RankMarks>()

/** The marks of this process for a database. */
export function rankMarksOf(sql: Sql): RankMarks {
  const pool = poolOf(sql)
  const marks = marksByPool.get(pool) ?? createRankMarks()
  marksByPool.set(pool, marks)
  return marks
}

/** Nulls are last in both directions; other orders are read backwards from the same marks. */
function markedOrder({ sort, direction }: MarkedOrder): MarkedOrder {
  return { sort, direction: bookSortColumns[sort].nullable ? direction : 'asc' }
}

/** The same for the same books in the same order. */
function nameOf(viewer: Viewer, request: MarkedRequest): string {
  const { accountId, libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const { sort, direction } = markedOrder(request)
  const { filter, libraryId, includeDeleted = false } = request
  const sees = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  const owner = filter && isOfAccount(filter.condition) ? accountId : null
  const parts = [sort, direction, libraryId, includeDeleted, filter?.condition, owner]
  return createHash('sha256')
    .update(JSON.stringify([...parts, ...sees, ageLimit, showsUnrated]))
    .digest('base64')
}
