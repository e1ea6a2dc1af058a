// Pages of book lists located by rank marks: the bucket in which a page begins follows from the counts of
// the buckets before it, so that only this bucket is walked, at any depth and for any viewer.
// Marks are valid for one version of the catalogue. The statement that reads the page compares it; while
// the catalogue changes, lists are read without marks.
import type { Fragment, Sql } from 'postgres'
import {
  hidesBooks,
  isUnrestricted,
  presentBook,
  type Viewer,
  visibleSeries,
} from '../../../auth/viewer.ts'
import { poolOf } from '../../../postgres/cancellable.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, unprepared } from '../../../postgres/statement.ts'
import type { IdPage } from '../page.ts'
import { type BookColumnSort, bookSortColumns } from '../sort.ts'
import {
  inOrder,
  listVersion,
  type MarkedOrder,
  type MarkedScope,
  type Marks,
  readMarks,
  visibleCounts,
} from './read-marks.ts'

export type MarkedRequest = MarkedOrder & MarkedScope & { offset: number; limit: number }

export type RankMarks = {
  /** A page of the books that a viewer sees; null without valid marks, or where they do not pay. */
  page(sql: Sql, viewer: Viewer, request: MarkedRequest): Promise<IdPage | null>
  /** Reads the marks of an order in the background, unless they are valid or were read a short time ago. */
  refresh(sql: Sql, order: MarkedOrder): void
  /** Resolves when no marks are being read. */
  idle(): Promise<void>
}

type Options = {
  minBucketRows?: number
  /** How long marks are not read again, as a multiple of the time that reading them took. */
  pause?: number
}

type Entry = { marks: Marks | null; nextRead: number }

// A bucket of so many books is walked in about a millisecond.
const defaultBucketRows = 1_000
/** At most 3 % of a processor for each order, while a catalogue changes all the time. */
const defaultPause = 30
// What is walked to fill the page of a viewer who sees few books; a plan is cheaper then.
const maxWalkedRows = 8_000

/** The marks of the orders that were requested; those of a million books have some 300 kB each. */
export function createRankMarks({
  minBucketRows = defaultBucketRows,
  pause = defaultPause,
}: Options = {}): RankMarks {
  const entries = new Map<string, Entry>()
  let reading: Promise<void> = Promise.resolve()

  function entryOf({ sort, direction }: MarkedOrder): Entry {
    const name = `${sort} ${direction}`
    const entry = entries.get(name) ?? { marks: null, nextRead: 0 }
    entries.set(name, entry)
    return entry
  }

  async function read(pool: Sql, order: MarkedOrder, entry: Entry) {
    const started = performance.now()
    // After a failure lists are as slow as they are without marks.
    entry.marks = await readMarks(pool, order, { minBucketRows }).catch(() => null)
    const ended = performance.now()
    entry.nextRead = ended + pause * (ended - started)
  }

  return {
    async page(sql, viewer, request) {
      const order = orderOfMarks(request)
      const entry = entryOf(order)
      const { marks } = entry
      if (!marks) return null
      const page = await readPage(sql, viewer, { marks, order, request })
      if (page !== 'stale') return page
      if (entry.marks === marks) entry.marks = null
      return null
    },
    refresh(sql, requested) {
      const order = orderOfMarks(requested)
      const entry = entryOf(order)
      if (entry.marks || performance.now() < entry.nextRead) return
      entry.nextRead = Number.POSITIVE_INFINITY
      // One order at a time, and not with the statements of the request, which end with it.
      reading = reading.then(() => read(poolOf(sql), order, entry))
    },
    async idle() {
      await reading
    },
  }
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
function orderOfMarks({ sort, direction }: MarkedOrder): MarkedOrder {
  return { sort, direction: bookSortColumns[sort].nullable ? direction : 'asc' }
}

type MarkedPage = { marks: Marks; order: MarkedOrder; request: MarkedRequest }

async function readPage(
  sql: Sql,
  viewer: Viewer,
  { marks, order, request }: MarkedPage,
): Promise<IdPage | null | 'stale'> {
  const { direction, offset, limit } = request
  const counts = visibleCounts(marks, viewer, request)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const take = Math.max(Math.min(limit, total - offset), 0)
  const isReversed = direction !== order.direction
  const walks = locate(marks, counts, {
    skip: isReversed ? total - offset - take : offset,
    take,
  })
  if (!walks) return null
  const isListed = allOf(sql, visibility(sql, viewer, request.libraryId))
  const column = sql(bookSortColumns[order.sort].column)
  const pages = walks.map(walk => {
    const books = (where: Fragment) => sql`
      (select b.id, b.${column} from book b
      where ${where} and ${inRange(sql, order, { marks, ...walk })} and ${isListed}
      order by ${inOrder(sql, order)})`
    const missing = sql`union all ${books(sql`b.missing_at is not null`)}`
    return sql`
      array(
        select b.id from (
          ${books(presentBook(sql))} ${request.includeDeleted ? missing : sql``}) b
        order by ${inOrder(sql, order)}
        limit ${walk.take} offset ${walk.skip})`
  })
  const ids = pages.reduce((all, page) => sql`${all} || ${page}`, sql`'{}'::uuid[]`)
  const [row] = await unprepared(sql<{ ids: string[] | null }[]>`
    select case when ${listVersion(sql)} = ${marks.version} then ${ids} end as ids`)
  if (row!.ids === null) return 'stale'
  return { total, ids: isReversed ? row!.ids.reverse() : row!.ids }
}

/** Of the buckets from `first` to before `end`. */
type Walk = { first: number; end: number; skip: number; take: number }

/** The walks that read a page, one for books with a value of the sort column and one for those without. Null if they are long. */
function locate(
  { buckets, bucketRows }: Marks,
  counts: number[],
  window: { skip: number; take: number },
): Walk[] | null {
  const walks: Walk[] = []
  let { skip, take } = window
  for (const [i, count] of counts.entries()) {
    if (take === 0) break
    if (skip >= count) {
      skip -= count
      continue
    }
    const walk = walks.at(-1)
    const taken = Math.min(count - skip, take)
    if (walk && isNull(buckets[walk.first]!) === isNull(buckets[i]!)) {
      walk.end = i + 1
      walk.take += taken
    } else walks.push({ first: i, end: i + 1, skip, take: taken })
    take -= taken
    skip = 0
  }
  const walked = walks.reduce((sum, { first, end }) => sum + (end - first) * bucketRows, 0)
  return walked > Math.max(maxWalkedRows, 2 * bucketRows) ? null : walks
}

const keyTypes = {
  title: 'text',
  number: 'float8',
  created: 'timestamptz',
  updated: 'timestamptz',
  modified: 'int8',
  released: 'int4',
  size: 'int8',
  pages: 'int4',
  filename: 'text',
} as const satisfies Record<BookColumnSort, string>

const isNull = ({ key }: { key: string | null }) => key === null

/** On `book b`: within the buckets of a walk. */
function inRange(
  sql: Queryable,
  { sort, direction }: MarkedOrder,
  { marks, first, end }: { marks: Marks; first: number; end: number },
): Fragment {
  const { column } = bookSortColumns[sort]
  const [from, to] = [marks.buckets[first]!, marks.buckets[end]]
  const isDescending = direction === 'desc'
  const after = isDescending ? sql`<=` : sql`>=`
  const before = isDescending ? sql`>` : sql`<`
  const key = sql`b.${sql(column)}`
  if (from.key === null) {
    const isBefore = to ? sql`and b.id ${before} ${to.id}` : sql``
    return sql`(${key} is null and b.id ${after} ${from.id} ${isBefore})`
  }
  const place = (bucket: { id: string; key: string | null }) =>
    sql`(${bucket.key}::text::${sql(keyTypes[sort])}, ${bucket.id}::uuid)`
  const isBefore =
    to === undefined || to.key === null ? sql`` : sql`and (${key}, b.id) ${before} ${place(to)}`
  return sql`((${key}, b.id) ${after} ${place(from)} ${isBefore})`
}

/** On `book b`, row by row: for so few rows cheaper than the set of all visible series. */
function visibility(sql: Queryable, viewer: Viewer, libraryId: string | undefined): Fragment[] {
  if (isUnrestricted(viewer) && libraryId === undefined) return []
  const inLibrary = libraryId === undefined ? sql`true` : sql`s.library_id = ${libraryId}`
  return [
    sql`(select ${visibleSeries(sql, viewer)} and ${inLibrary} from series s where s.id = b.series_id)`,
    ...(hidesBooks(viewer) ? [sql`(b.age_rating <= ${viewer.ageLimit}) is not false`] : []),
  ]
}
