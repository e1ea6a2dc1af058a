// Rank marks of a filtered list: how many books of each bucket of an order are in the list, and which, where
// they are few. Read in one pass over the order.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { unprepared } from '../../../postgres/statement.ts'
import type { BookFilter } from '../condition.ts'
import { isMatching } from '../page-books.ts'
import { type BookPlan, planBooks } from '../plan/book-plan.ts'
import { maxHits } from '../plan/hit-sets.ts'
import { accountVersion, isOfAccount, listVersion } from './list-version.ts'
import {
  isNull,
  type MarkedOrder,
  type MarkedScope,
  type Marks,
  placedBooks,
} from './read-marks.ts'

export type FilteredCounts = {
  /** `accountVersion` when the list was read; null if the list does not depend on the account. */
  accountVersion: string | null
  /** Number of books by bucket. */
  counts: Uint32Array
  /** The books of buckets with few of them, in order: 16 bytes each. */
  few: Map<number, Buffer>
}

export type FilteredList = MarkedScope & { filter: BookFilter }

const idBytes = 16
// Buckets with more of them are walked.
const maxFew = 64
const maxFewShare = 1 / 32

/** Null if the catalogue is not the one of the marks. */
export async function readCounts(
  sql: Sql,
  viewer: Viewer,
  { marks, order, list }: { marks: Marks; order: MarkedOrder; list: FilteredList },
): Promise<FilteredCounts | null> {
  const plan = await planBooks(sql, viewer, { ...list, hitLimit: maxHits })
  const alias = plan.readsRow ? 'w' : 'b'
  const id = sql`${sql(alias)}.id`
  const most = Math.min(maxFew, Math.floor(marks.bucketRows * maxFewShare))
  const bucket = sql`${sql(alias)}.place / ${marks.bucketRows}::bigint`
  type Row = {
    version: string
    own: string
    part: number
    bucket: number
    n: number | null
    few: Buffer
  }
  const rows = await unprepared(sql<Row[]>`
    with ${plan.ctes}
    select v.*, c.*
    from (select ${listVersion(sql)} as version, ${accountVersion(sql, viewer)} as own) v
    left join (
      select part, ${bucket} as bucket, count(*) as n, case when count(*) <= ${most}::integer
        then string_agg(uuid_send(${id}), ''::bytea order by place) end as few
      from (${placedBooks(sql, order)}) ${sql(alias)}
      where ${isListed(sql, viewer, { plan, alias, list })}
      group by 1, 2) c on true`)
  if (rows[0]!.version !== marks.version) return null
  const withValue = marks.buckets.filter(one => !isNull(one)).length
  const counts = new Uint32Array(marks.buckets.length)
  const few = new Map<number, Buffer>()
  for (const row of rows) {
    // The row of an empty list.
    if (row.n === null) break
    const i = row.bucket + (row.part === 0 ? 0 : withValue)
    counts[i] = row.n
    // A copy: the row is a part of what the connection received.
    if (row.few) few.set(i, Buffer.from(row.few))
  }
  const isOwn = isOfAccount(list.filter.condition)
  return { accountVersion: isOwn ? rows[0]!.own : null, counts, few }
}

/** On a row of `placedBooks`. */
function isListed(
  sql: Queryable,
  viewer: Viewer,
  { plan, alias, list }: { plan: BookPlan; alias: 'w' | 'b'; list: FilteredList },
): Fragment {
  const row = sql(alias)
  const isWhole = isUnrestricted(viewer) && list.libraryId === undefined
  const isInScope = isWhole
    ? sql`true`
    : sql`((${row}.series_id in (select id from scope)) is true)`
  // Where sets decide, it need not be known which series have any of their books.
  const isPresentListed = plan.hits
    ? sql`(${isInScope} and ${plan.exact})`
    : isMatching(sql, plan, alias)
  const isMissingListed = plan.missing
    ? sql`((${row}.id in (select b.id from book b where ${plan.missing})) is true)`
    : sql`false`
  return sql`case when ${row}.is_missing then ${isMissingListed} else ${isPresentListed} end`
}

/** Ids of a run of the books of a bucket. */
export function idsOf(few: Buffer, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const start = (from + i) * idBytes
    const hex = few.toString('hex', start, start + idBytes)
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  })
}

/** Bytes in memory, about. */
export function sizeOf({ counts, few }: FilteredCounts): number {
  return [...few.values()].reduce((sum, ids) => sum + ids.length + 200, counts.byteLength + 500)
}
