// Rank marks in memory, of the orders that were requested. They are made in the background by the first deep
// requests, and used while they are valid.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import { noteFailedReading } from '../background-failures.ts'
import type { IdPage } from '../page.ts'
import { bookSortColumns } from '../sort.ts'
import { listVersion } from './list-version.ts'
import { type MarkedRequest, readPage } from './page-by-marks.ts'
import { type MarkedOrder, type Marks, readMarks } from './read-marks.ts'

export type RankMarks = {
  /** A page of the books that a viewer sees; null without valid marks, or where they do not pay. */
  page(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage | null>
  /** Reads the marks of an order in the background, unless they are valid or were read a short time ago. */
  refresh(sql: Sql, request: MarkedRequest): void
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

/** The marks of an order of a million books have some 300 kB. */
export function createRankMarks({
  minBucketRows = defaultBucketRows,
  pause = defaultPause,
}: Options = {}): RankMarks {
  const orders = new Map<string, OrderEntry>()
  const waiting = new Set<string>()
  let reading: Promise<void> = Promise.resolve()

  function orderOf(request: MarkedOrder): OrderEntry {
    const name = nameOf(request)
    const order = orders.get(name) ?? { marks: null, nextRead: 0 }
    orders.set(name, order)
    return order
  }

  async function readOrder(pool: Sql, requested: MarkedOrder): Promise<void> {
    const order = orderOf(requested)
    if (order.marks && (await versionOf(pool)) !== order.marks.version) order.marks = null
    if (order.marks || performance.now() < order.nextRead) return
    const started = performance.now()
    order.marks = await readMarks(pool, requested, { minBucketRows })
    const ended = performance.now()
    order.nextRead = ended + pause * (ended - started)
  }

  return {
    async page(sql, viewer, request) {
      const order = markedOrder(request)
      const entry = orderOf(order)
      const { marks } = entry
      if (!marks) return null
      const page = await readPage(sql, viewer, { marks, order, request })
      if (page !== 'stale') return page
      if (entry.marks === marks) entry.marks = null
      return null
    },
    refresh(sql, request) {
      const order = markedOrder(request)
      const name = nameOf(order)
      if (waiting.has(name)) return
      const { marks, nextRead } = orderOf(order)
      if (marks || performance.now() < nextRead) return
      // One at a time, and not with the statements of the request, which end with it.
      const pool = poolOf(sql)
      const read = reading.then(() => readOrder(pool, order))
      // After a failure lists are as slow as they are without marks.
      reading = read
        .catch(error => noteFailedReading(pool, 'rank marks', error))
        .then(() => void waiting.delete(name))
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

const nameOf = ({ sort, direction }: MarkedOrder) => `${sort} ${direction}`
