// Lists of series as one statement: the ids of a page and the number of all; their first characters; matches of rules.
import type { Fragment, Sql } from 'postgres'
import { hasVisibleBook, isLimited, type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import type { SearchQuery } from '../../media/name/search-text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf, unionAll, unprepared } from '../../store/postgres/statement.ts'
import type { SeriesFilter } from '../condition.ts'
import {
  type Direction,
  type IdPage,
  type SeriesSort,
  type SeriesSortKey,
  seriesOrderBy,
  seriesSortJoin,
} from '../sort.ts'
import { matchRank } from './search.ts'
import { type SeriesScope, seriesWhere } from './series-fields.ts'

export type SeriesList = SeriesScope & {
  /** What a search by `relevance` searches for. */
  search: SearchQuery | null
  sort: SeriesSort
  direction: Direction
  /** Further keys, by columns. */
  then: readonly SeriesSortKey[]
  /** Whose order `position` is. */
  collectionId?: string | undefined
  /** For `random`. */
  seed: number
  offset: number
  limit: number
}

export async function readSeries(sql: Sql, viewer: Viewer, list: SeriesList): Promise<IdPage> {
  const { offset, limit, search, sort, direction, then, seed } = list
  const scope = { accountId: viewer.accountId, ...list }
  const isListed = listedSeries(sql, viewer, list)
  const { joins, by } =
    sort === 'relevance'
      ? {
          joins: sql`join series_search t on t.series_id = s.id`,
          by: sql`${matchRank(sql, search!)}, s.sort_key, s.id`,
        }
      : {
          joins: seriesSortJoin(sql, sort, scope),
          by: seriesOrderBy(sql, { sort, direction, then, seed }),
        }
  const [row] = await unprepared(sql<IdPage[]>`
    select array(
        select s.id from series s ${joins} where ${isListed}
        order by ${by} limit ${limit} offset ${offset}) as ids,
      ${countSeries(sql, viewer, list)} as total`)
  return row!
}

/** On `series s`. */
export function listedSeries(sql: Queryable, viewer: Viewer, list: SeriesScope): Fragment {
  const { filter, libraryId, onlyWithVisibleBooks, includeDeleted } = list
  return allOf(sql, [
    includeDeleted ? sql`(s.book_count > 0 or s.missing_count > 0)` : sql`s.book_count > 0`,
    visibleSeries(sql, viewer),
    ...(onlyWithVisibleBooks ? [hasVisibleBook(sql, viewer)] : []),
    ...(libraryId === undefined ? [] : [sql`s.library_id = ${libraryId}`]),
    ...(filter
      ? [seriesWhere({ sql, viewer, includesMissing: includeDeleted }, filter.condition)]
      : []),
  ])
}

/** From the counters of libraries, where nothing of them is hidden or left out. */
function countSeries(sql: Queryable, viewer: Viewer, list: SeriesScope): Fragment {
  const { filter, libraryId, includeDeleted } = list
  if (filter || libraryId || includeDeleted || viewer.libraries || isLimited(viewer))
    return sql`(select count(*)::float8 from series s where ${listedSeries(sql, viewer, list)})`
  return sql`(select coalesce(sum(l.series_count), 0)::float8 from library l)`
}

/** The number of series for each first character of the sort title, in the order of titles. */
export async function readInitials(
  sql: Sql,
  viewer: Viewer,
  list: SeriesScope,
): Promise<{ group: string; count: number }[]> {
  return await unprepared(sql<{ group: string; count: number }[]>`
    select initial as "group", count(*)::integer as count
    from (
      select ${initialOfSeries(sql)} as initial, s.sort_key from series s
      where ${listedSeries(sql, viewer, list)}) t
    group by initial
    order by min(sort_key), initial`)
}

/** On `series s`: the first character of its sort title, in lower case. Sort keys encode digits and the characters before them. */
export function initialOfSeries(sql: Queryable): Fragment {
  return sql`case when left(s.sort_key, 1) > '9' collate "C" then left(s.sort_key, 1)
    else left(folded(coalesce(s.title_sort, s.title)), 1) end`
}

/** For each filter the id of a series with visible books that matches, null without any. One statement. */
export async function findMatches(
  sql: Queryable,
  viewer: Viewer,
  filters: readonly SeriesFilter[],
): Promise<(string | null)[]> {
  if (filters.length === 0) return []
  const matches = filters.map(
    (filter, i) => sql`(
      select ${i}::integer as place, s.id from series s
      where ${listedSeries(sql, viewer, { filter, onlyWithVisibleBooks: true })}
      limit 1)`,
  )
  const rows = await unprepared(sql<{ place: number; id: string }[]>`${unionAll(sql, matches)}`)
  const found = new Map(rows.map(({ place, id }) => [place, id]))
  return filters.map((_, i) => found.get(i) ?? null)
}
