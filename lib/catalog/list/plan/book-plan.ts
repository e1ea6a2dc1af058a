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
import { allOf, commaList, unionAll } from '../../../postgres/statement.ts'
import type { BookFilter, Condition } from '../condition.ts'
import { sortTitleCondition } from './book-columns.ts'
import { type BookTree, compileBookTree, rowSources } from './book-tree.ts'
import { chooseHitSets, fewHits, type HitSets, maxHits } from './hit-sets.ts'
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
   * `scope`: visible series in question; only there with `missing`.
   * `matched`: series with matching books: id, book_count, `match_count` (present books known to match),
   * `hit_count` (see `hits`),
   * `is_undecided` (others have to be checked), `is_complete` (all present books match).
   */
  ctes: Fragment
  /**
   * Ids of the books that were collected, as a query, where `matched.hit_count` is how many of a series
   * match: if they are all, no other book is read.
   */
  hits?: Fragment
  /** On a present `book b` of a series that is visible and in question: it matches. */
  exact: Fragment
  /** On `book b`: a missing book that matches. Null if such books are not listed. */
  missing: Fragment | null
  /** `exact` reads columns of the book other than its id and series. */
  readsRow: boolean
  /** As in BookTree. */
  single?: BookTree['single']
  required?: BookTree['required']
  /**
   * The same list with larger hit sets, for walks of so many rows that each must be decided at once. Its
   * series are not counted: `matched` has all.
   */
  planFarWalk?: () => Promise<BookPlan>
  /** The number of matching books, where the counts of `matched` do not add up to it. */
  total?: Fragment
}

/**
 * `withSortKey`: `matched` has the column `sort_key`, too. `hitLimit`: predicates that more books meet are
 * tested book by book. `isForWalk`: see `planFarWalk`.
 */
export async function planBooks(
  sql: Sql,
  viewer: Viewer,
  request: BookListFilter & { withSortKey?: boolean; hitLimit?: number; isForWalk?: boolean },
): Promise<BookPlan> {
  const where = allOf(sql, seriesConditions(sql, viewer, request))
  const { filter, includeDeleted, withSortKey, hitLimit = fewHits, isForWalk } = request
  if (hidesBooks(viewer) && !filter && !includeDeleted)
    return await planByAge(sql, viewer, { where, withSortKey })
  const labels = await lookUpLabels(sql, filter)
  const condition = expand(filter?.condition ?? { all: [] })
  const sources = rowSources(sql, viewer, condition)
  const hitSets = await chooseHitSets(sql, sources, hitLimit)
  const context = { sql, viewer, labels, hitSets }
  const tree = compileBookTree(context, viewer, condition)
  const columns = withSortKey ? sql`id, sort_key, book_count` : sql`id, book_count`
  const scope = sql`
    scope as materialized (
      select ${commaList(sql, [
        sql`s.id, s.book_count`,
        ...(withSortKey ? [sql`s.sort_key`] : []),
        ...tree.columns,
      ])}
      from series s ${tree.join}
      where ${where}
    )`
  const counted = tree.holdsFor && tree.hits.length > 0
  const ownCounts = isForWalk ? sql`0 as match_count, true as is_undecided` : tree.counts
  const counts =
    counted && !isForWalk
      ? countHits(sql, tree)
      : sql`select ${columns}, ${ownCounts}, 0 as hit_count from scope f offset 0`
  const sets = tree.hits.map((rows, i) => sql`${sql(`h${i}`)} as materialized (${rows})`)
  const ctes = commaList(sql, [
    ...sets,
    scope,
    sql`matched as materialized (
      select ${columns}, match_count, hit_count, is_undecided,
        match_count = book_count and not is_undecided as is_complete
      from (${counts}) c
      where match_count > 0 or is_undecided
    )`,
  ])
  const hits = counted && { hits: anyHits(sql, tree.hits.length) }
  const { exact, single, required } = tree
  const readsRow = !tree.isDefinite
  const isFinal = !readsRow || isForWalk
  // Few, and in no index of a column: each is tested.
  const eachContext = { ...context, hitSets: noHitSets, includesMissing: true }
  const missing = includeDeleted
    ? sql`(b.missing_at is not null and (b.series_id in (select id from scope)) is true
        and ${compileBookTree(eachContext, viewer, condition).exact})`
    : null
  return {
    ...{ ctes, exact, missing, readsRow, single, required },
    ...hits,
    ...(isFinal
      ? {}
      : {
          planFarWalk: () =>
            planBooks(sql, viewer, { ...request, hitLimit: maxHits, isForWalk: true }),
        }),
  }
}

const noHitSets: HitSets = new Map()

/** The ids of all books that are in a hit set. */
function anyHits(sql: Queryable, count: number): Fragment {
  const sets = Array.from({ length: count }, (_, i) => sql`select id from ${sql(`h${i}`)}`)
  return count === 1 ? sets[0]! : sql`select id from (${unionAll(sql, sets)}) h group by id`
}

/** The matching books of each series in `scope f`, from the hit sets alone. */
function countHits(sql: Queryable, { holdsFor, hits }: BookTree): Fragment {
  const names = hits.map((_, i) => sql(`h${i}`))
  // Every book once: as of the first set that has it, with what it is of the later ones.
  const isIn = (name: Fragment) => sql`((id in (select id from ${name})) is true)`
  const perBook = unionAll(
    sql,
    names.map(
      (from, i) => sql`
        select series_id, ${commaList(
          sql,
          names.map((name, j) => {
            const value = j < i ? sql`false` : j === i ? sql`true` : isIn(sql`${name}`)
            return sql`${value} as ${name}`
          }),
        )}
        from ${from} where ${allOf(
          sql,
          names.slice(0, i).map(name => sql`not ${isIn(sql`${name}`)}`),
        )}`,
    ),
  )
  const flags = commaList(
    sql,
    names.map(name => sql`${name}`),
  )
  const matches = holdsFor!(set => sql`t.${names[set]!}`)
  const othersMatch = holdsFor!(() => sql`false`)
  return sql`
    select f.*, coalesce(hit_count, 0) as hit_count, false as is_undecided,
      coalesce(hit_count, 0)
        + case when ${othersMatch} then f.book_count - coalesce(in_set, 0) else 0 end as match_count
    from scope f
    left join (
      select f.id as series_id, sum(t.n)::integer as in_set,
        (sum(t.n) filter (where ${matches}))::integer as hit_count
      from (select series_id, ${flags}, count(*) as n from (${perBook}) y group by series_id, ${flags}) t
      join scope f on f.id = t.series_id
      group by f.id
    ) t on t.series_id = f.id
    offset 0`
}

/** The condition in terms of stored columns. */
export function expand(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(expand) }
  if ('any' in condition) return { any: condition.any.map(expand) }
  return condition.field === 'titleSort' ? sortTitleCondition(condition) : condition
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
          select s.id, s.book_count, 0 as match_count, 0 as hit_count, false as is_undecided,
            false as is_complete
          from series s where ${where}
        )`,
      exact: isNotHidden,
      missing: null,
      readsRow: false,
      total: sql`
        (select coalesce(sum(book_count), 0) from matched)
        - (select count(*) ${hidden} and (y.series_id in (select id from matched)) is true)`,
    }
  const { join, count } = visibleBookCount(sql, viewer)
  const ctes = sql`
    matched as materialized (
      select s.id, s.book_count ${withSortKey ? sql`, s.sort_key` : sql``}, ${count} as match_count,
        0 as hit_count, false as is_undecided, ${count} = s.book_count as is_complete
      from series s ${join}
      where ${where} and ${count} > 0
    )`
  return row!.fitsHash
    ? { ctes, exact: isNotHidden, missing: null, readsRow: false }
    : { ctes, exact: sql`((${beyondAge(sql, viewer)}) is not true)`, missing: null, readsRow: true }
}
