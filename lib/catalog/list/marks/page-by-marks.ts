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
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, unprepared } from '../../../postgres/statement.ts'
import type { IdPage } from '../page.ts'
import { type BookColumnSort, bookSortColumns } from '../sort.ts'
import { listVersion } from './list-version.ts'
import {
  inOrder,
  isNull,
  type MarkedOrder,
  type MarkedScope,
  type Marks,
  visibleCounts,
} from './read-marks.ts'

export type MarkedRequest = MarkedOrder & MarkedScope & { offset: number; limit: number }

// What is walked to fill the page of a viewer who sees few books; a plan is cheaper then.
const maxWalkedRows = 8_000

type MarkedPage = { marks: Marks; order: MarkedOrder; request: MarkedRequest }

/** Null where marks do not pay; `stale` if they are of another state of the catalogue. */
export async function readPage(
  sql: Sql,
  viewer: Viewer,
  { marks, order, request }: MarkedPage,
): Promise<IdPage | null | 'stale'> {
  const { direction, offset, limit, includeDeleted = false } = request
  const counts = visibleCounts(marks, viewer, request)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const take = Math.max(Math.min(limit, total - offset), 0)
  const isReversed = direction !== order.direction
  const skip = isReversed ? total - offset - take : offset
  const runs = locate(marks, { counts, skip, take })
  const walked = runs.reduce((sum, run) => sum + run.buckets, 0) * marks.bucketRows
  if (walked > Math.max(maxWalkedRows, 2 * marks.bucketRows)) return null
  const isVisible = visibility(sql, viewer, request.libraryId)
  const ids = runs.map(run => walk(sql, run, { marks, order, isVisible, includeDeleted }))
  const all = ids.reduce((before, page) => sql`${before} || ${page}`, sql`'{}'::uuid[]`)
  const [row] = await unprepared(sql<{ ids: string[] | null }[]>`
    select case when ${listVersion(sql)} = ${marks.version} then ${all} end as ids`)
  if (row!.ids === null) return 'stale'
  return { total, ids: isReversed ? row!.ids.reverse() : row!.ids }
}

/** Buckets from `first` that are walked. */
type Run = { first: number; buckets: number; skip: number; take: number }

/** The runs that make a page: of books with a value of the sort column or without, ending before buckets without visible books. */
function locate(
  { buckets }: Marks,
  { counts, skip, take }: { counts: number[]; skip: number; take: number },
): Run[] {
  const runs: Run[] = []
  let [skipped, left] = [skip, take]
  for (let i = 0; i < counts.length && left > 0; i++) {
    const count = counts[i]!
    if (skipped >= count) {
      skipped -= count
      continue
    }
    const taken = Math.min(count - skipped, left)
    const last = runs.at(-1)
    const isNext = last && last.first + last.buckets === i
    if (isNext && isNull(buckets[last.first]!) === isNull(buckets[i]!)) {
      last.buckets++
      last.take += taken
    } else runs.push({ first: i, buckets: 1, skip: skipped, take: taken })
    left -= taken
    skipped = 0
  }
  return runs
}

type Walk = { marks: Marks; order: MarkedOrder; isVisible: Fragment; includeDeleted: boolean }

function walk(
  sql: Queryable,
  { first, buckets, skip, take }: Run,
  { marks, order, isVisible, includeDeleted }: Walk,
): Fragment {
  const column = sql(bookSortColumns[order.sort].column)
  const books = (where: Fragment) => sql`
    (select b.id, b.${column} from book b
    where ${where} and ${inRange(sql, order, { marks, first, end: first + buckets })} and ${isVisible}
    order by ${inOrder(sql, order)})`
  const missing = sql`union all ${books(sql`b.missing_at is not null`)}`
  return sql`
    array(
      select b.id from (${books(presentBook(sql))} ${includeDeleted ? missing : sql``}) b
      order by ${inOrder(sql, order)}
      limit ${take} offset ${skip})`
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
function visibility(sql: Queryable, viewer: Viewer, libraryId: string | undefined): Fragment {
  if (isUnrestricted(viewer) && libraryId === undefined) return sql`true`
  const inLibrary = libraryId === undefined ? sql`true` : sql`s.library_id = ${libraryId}`
  return allOf(sql, [
    sql`(select ${visibleSeries(sql, viewer)} and ${inLibrary} from series s where s.id = b.series_id)`,
    ...(hidesBooks(viewer) ? [sql`(b.age_rating <= ${viewer.ageLimit}) is not false`] : []),
  ])
}
