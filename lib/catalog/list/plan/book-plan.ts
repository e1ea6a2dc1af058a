// Query plan of a book list: SQL that counts the matching books of every series from indexes and stored
// counters, and leaves only undecided series to be checked book by book.
import type { Fragment, Sql } from 'postgres'
import {
  beyondAge,
  fromBooksBeyondAge,
  hidesBooks,
  type Viewer,
  visibleBookCount,
  visibleSeries,
} from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, commaList } from '../../../postgres/statement.ts'
import type { BookFilter } from '../condition.ts'
import { compileBookTree } from './book-tree.ts'
import { lookUpLabels } from './labels.ts'

export type BookListFilter = {
  filter: BookFilter | null
  libraryId?: string | undefined
  seriesId?: string | undefined
  includeDeleted?: boolean | undefined
}

export type BookPlan = {
  /**
   * Common table expressions, to follow `with`:
   * `scope`: visible series in question; only there if missing books may be listed.
   * `matched`: series with matching books: id, book_count, `match_count` (present books known to match),
   * `is_undecided` (others have to be checked), `is_complete` (all present books match).
   */
  ctes: Fragment
  /** On `book b` of a series in `scope`: it matches. */
  exact: Fragment
  /** `exact` reads columns of the book other than its id and series. */
  readsRow: boolean
  /** The number of matching books, where the counts of `matched` do not add up to it. */
  total?: Fragment
}

/** `withSortKey`: `matched` has the column `sort_key`, too. */
export async function planBooks(
  sql: Sql,
  viewer: Viewer,
  request: BookListFilter & { withSortKey?: boolean },
): Promise<BookPlan> {
  const where = allOf(sql, seriesConditions(sql, viewer, request))
  if (hidesBooks(viewer) && !request.filter && !request.includeDeleted)
    return await planByAge(sql, viewer, { where, withSortKey: request.withSortKey })
  const labels = await lookUpLabels(sql, request.filter)
  const condition = request.filter?.condition ?? { all: [] }
  const context = { sql, labels, includesMissing: request.includeDeleted }
  const tree = compileBookTree(context, viewer, condition)
  const columns = request.withSortKey ? sql`id, sort_key, book_count` : sql`id, book_count`
  const ctes = sql`
    scope as materialized (
      select ${commaList(sql, [
        sql`s.id, s.book_count`,
        ...(request.withSortKey ? [sql`s.sort_key`] : []),
        ...tree.columns,
      ])}
      from series s ${tree.join}
      where ${where}
    ), matched as materialized (
      select ${columns}, match_count, is_undecided,
        match_count = book_count and not is_undecided as is_complete
      from (select ${columns}, ${tree.counts} from scope f offset 0) c
      where match_count > 0 or is_undecided
    )`
  return { ctes, exact: tree.exact, readsRow: !tree.isDefinite }
}

function seriesConditions(sql: Queryable, viewer: Viewer, request: BookListFilter): Fragment[] {
  return [
    visibleSeries(sql, viewer),
    ...(request.includeDeleted ? [] : [sql`s.book_count > 0`]),
    ...(request.libraryId ? [sql`s.library_id = ${request.libraryId}`] : []),
    ...(request.seriesId ? [sql`s.id = ${request.seriesId}`] : []),
  ]
}

// Up to so many ids fit into a hashed subplan under any memory setting of the server.
const maxHashedIds = 300_000

/**
 * All present books within the viewer's age limit: the books beyond it are counted for each series, so
 * no other book is read. `where` is on `series s`. Missing books are not listed, and `scope` is not made.
 */
async function planByAge(
  sql: Sql,
  viewer: Viewer,
  { where, withSortKey = false }: { where: Fragment; withSortKey?: boolean | undefined },
): Promise<BookPlan> {
  const hidden = fromBooksBeyondAge(sql, viewer)
  const [row] = await sql<{ fitsHash: boolean }[]>`
    select count(*) <= ${maxHashedIds} as "fitsHash"
    from (select ${hidden} limit ${maxHashedIds + 1}) y`
  const isNotHidden = sql`((b.id in (select y.id ${hidden})) is not true)`
  if (row!.fitsHash && !withSortKey)
    return {
      ctes: sql`
        matched as materialized (
          select s.id, s.book_count, 0 as match_count, false as is_undecided,
            false as is_complete
          from series s where ${where}
        )`,
      exact: isNotHidden,
      readsRow: false,
      total: sql`
        (select coalesce(sum(book_count), 0) from matched)
        - (select count(*) ${hidden} and (y.series_id in (select id from matched)) is true)`,
    }
  const { join, count } = visibleBookCount(sql, viewer)
  const ctes = sql`
    matched as materialized (
      select s.id, s.book_count ${withSortKey ? sql`, s.sort_key` : sql``}, ${count} as match_count,
        false as is_undecided, ${count} = s.book_count as is_complete
      from series s ${join}
      where ${where} and ${count} > 0
    )`
  return row!.fitsHash
    ? { ctes, exact: isNotHidden, readsRow: false }
    : { ctes, exact: sql`((${beyondAge(sql, viewer)}) is not true)`, readsRow: true }
}
