// Query plan of a series list: a condition as SQL over sets of series ids, stored reading counts and
// search rows.
import type { Fragment, Sql } from 'postgres'
import { hasVisibleBook, type Viewer, visibleSeries } from '../../../auth/viewer.ts'
import type { SearchQuery } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, anyOf, unionAll, unprepared } from '../../../postgres/statement.ts'
import type { Condition, Predicate, SeriesFilter } from '../condition.ts'
import { lookUpLabels } from './labels.ts'
import type { PlanContext } from './plan-context.ts'
import { matchRank } from './search-match.ts'
import { searchedSeries } from './searched-series.ts'
import { hasReadStatus, joinReading } from './series-reading.ts'
import { seriesSet, toRarePredicate } from './series-sets.ts'

type SeriesQuery = {
  filter: SeriesFilter | null
  libraryId?: string | undefined
  onlyWithVisibleBooks?: boolean | undefined
  /** Also series all of whose books are missing. */
  includeDeleted?: boolean | undefined
  search: SearchQuery | null
}

export type SeriesPlan = {
  /** Defines `matched` (id, sort_key, rank), to follow `with`. In an object, because `await` would run a bare fragment. */
  ctes: Fragment
}

export async function planSeries(
  sql: Sql,
  viewer: Viewer,
  { filter, libraryId, onlyWithVisibleBooks, includeDeleted, search }: SeriesQuery,
): Promise<SeriesPlan> {
  const condition = filter?.condition ?? { all: [] }
  const labels = await lookUpLabels(sql, filter)
  const context = { sql, viewer, labels, includesMissing: includeDeleted }
  const reading = joinReading({ sql, viewer }, condition)
  const hits = search
    ? sql`hits as materialized (
        select t.series_id, ${matchRank(sql, search)} as rank
        from (${searchedSeries({ sql, viewer }, search)}) t
      ),`
    : sql``
  const ctes = sql`${hits} matched as materialized (
    select s.id, s.sort_key, ${search ? sql`t.rank` : sql`0`} as rank
    from series s
    ${search ? sql`join hits t on t.series_id = s.id` : sql``} ${reading}
    where ${listedSeries(sql, includeDeleted)} and ${visibleSeries(sql, viewer)}
      and ${onlyWithVisibleBooks ? hasVisibleBook(sql, viewer) : sql`true`}
      and ${libraryId ? sql`s.library_id = ${libraryId}` : sql`true`}
      and ${compile(context, condition)}
  )`
  return { ctes }
}

/** On `series s`: it has present books or, with deleted ones, missing books. */
export function listedSeries(sql: Queryable, includeDeleted = false): Fragment {
  return includeDeleted ? sql`(s.book_count > 0 or s.missing_count > 0)` : sql`s.book_count > 0`
}

/**
 * For each filter the id of a series with visible books that matches, null without any. Series are tested one by
 * one until one matches, where a plan for all would collect the series of each predicate first. One statement.
 */
export async function findMatches(
  sql: Queryable,
  viewer: Viewer,
  filters: readonly SeriesFilter[],
): Promise<(string | null)[]> {
  if (filters.length === 0) return []
  const all = { all: filters.map(({ condition }) => condition) }
  const labels = await lookUpLabels(sql, { of: 'series', condition: all })
  const isIn = (set: Fragment) => sql`exists (select from (${set}) m(id) where m.id = s.id)`
  const matches = filters.map(
    ({ condition }, i) => sql`(
      select ${i}::integer as place, s.id from series s ${joinReading({ sql, viewer }, condition)}
      where s.book_count > 0 and ${visibleSeries(sql, viewer)} and ${hasVisibleBook(sql, viewer)}
        and ${compile({ sql, viewer, labels, isIn }, condition)}
      limit 1)`,
  )
  const rows = await unprepared(sql<{ place: number; id: string }[]>`${unionAll(sql, matches)}`)
  const found = new Map(rows.map(({ place, id }) => [place, id]))
  return filters.map((_, i) => found.get(i) ?? null)
}

type SeriesContext = PlanContext & {
  /** On `series s`: its id is in a set. */
  isIn?: (set: Fragment) => Fragment
}

function compile(context: SeriesContext, condition: Condition): Fragment {
  const { sql } = context
  const compileAll = (parts: Condition[]) => parts.map(part => compile(context, part))
  if ('all' in condition) return allOf(sql, compileAll(condition.all))
  if ('any' in condition) return anyOf(sql, compileAll(condition.any))
  const predicate = toRarePredicate(condition)
  const positive = compilePositive(context, predicate)
  return predicate.negated ? sql`(not ${positive})` : positive
}

function compilePositive(context: SeriesContext, predicate: Predicate): Fragment {
  const { sql, isIn = set => sql`((s.id in (${set})) is true)` } = context
  if (predicate.test.kind === 'status') return hasReadStatus(context, predicate.test.status)
  return isIn(seriesSet(context, predicate))
}
