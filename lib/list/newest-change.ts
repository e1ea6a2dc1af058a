// Time of the newest change of the series and books that a viewer sees, for the timestamps of shelves. The
// newest rows are read from an index, at most `maxRead` of them: if all of these are hidden, the time of the
// oldest of them stands for the rest, which changed before.
import type { Fragment } from 'postgres'
import {
  hasVisibleBook,
  isUnrestricted,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../accounts/viewer.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { allOf } from '../store/postgres/statement.ts'

const maxRead = 2_000
/** One time for each library of a list. */
const maxReadOfSome = 200

const limitFor = (viewer: Viewer, most: number) => (isUnrestricted(viewer) ? 1 : most)

/** The newest `series s` with books, also of hidden ones; `where` is a condition on `series s`. */
export function newestSeries(sql: Queryable, limit: number = maxRead, where?: Fragment): Fragment {
  return sql`
    select s.id, s.library_id, s.age_rating, s.lowest_age, s.publisher, s.metadata_changed_at,
      s.updated_at
    from series s where s.book_count > 0 ${where ? sql`and ${where}` : sql``}
    order by s.updated_at desc, s.id desc limit ${limit}`
}

/** A condition on `series s` with books: the viewer can browse it. */
export function isBrowsable(sql: Queryable, viewer: Viewer): Fragment {
  return allOf(sql, [visibleSeries(sql, viewer), hasVisibleBook(sql, viewer)])
}

/** An expression: when the newest browsable series last changed, of those that `where` selects; null without any. */
export function newestChangeOfSeries(sql: Queryable, viewer: Viewer, where?: Fragment): Fragment {
  const limit = limitFor(viewer, where ? maxReadOfSome : maxRead)
  return sql`(
    select coalesce(max(s.updated_at) filter (where ${isBrowsable(sql, viewer)}),
      case when count(*) = ${limit} then min(s.updated_at) end)
    from (${newestSeries(sql, limit, where)}) s)`
}

/** When the newest visible series last changed; null without any. */
export async function newestSeriesChange(sql: Queryable, viewer: Viewer): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select ${newestChangeOfSeries(sql, viewer)} as at`
  return row!.at
}

/**
 * When the newest of some books last changed, or what they display of their series: of those with an id,
 * or of all, or all with a release date. Null without any.
 */
export async function newestBookChange(
  sql: Queryable,
  viewer: Viewer,
  books: { ids: readonly string[] } | { areReleased: boolean },
): Promise<Date | null> {
  if ('ids' in books) {
    const [row] = await sql<{ at: Date | null }[]>`
      select max(greatest(b.updated_at, s.metadata_changed_at)) as at
      from book b join series s on s.id = b.series_id
      where b.id = any(${books.ids as string[]}::uuid[]) and ${visibleBook(sql, viewer)}`
    return row!.at
  }
  const { areReleased } = books
  // Among books with a release date, which may be few, the newest one is not found with a limit of 1.
  const limit = areReleased ? maxRead : limitFor(viewer, maxRead)
  const isListed = areReleased ? sql`b.released is not null` : sql`true`
  const [row] = await sql<{ at: Date | null }[]>`
    select greatest(
      (select coalesce(max(b.updated_at) filter (where ${isListed} and ${visibleBook(sql, viewer)}),
          case when count(*) = ${limit} then min(b.updated_at) end)
        from (
          select b.updated_at, b.series_id, b.age_rating, b.released from book b
          where ${presentBook(sql)}
          order by b.updated_at desc, b.id desc limit ${limit}) b
        join series s on s.id = b.series_id),
      (select max(s.metadata_changed_at) filter (where ${isBrowsable(sql, viewer)})
        from (${newestSeries(sql)}) s)) as at`
  return row!.at
}
