// Release lists: pages of the ledger with exact totals, and the facets of its filters. What a viewer may see
// is decided by series, of which there are fewer than releases.
import type { Fragment } from 'postgres'
import { type Viewer, visibleSeries } from '../../auth/viewer.ts'
import type { Queryable, Sql } from '../../postgres/db.ts'
import { allOf, unprepared } from '../../postgres/statement.ts'
import type { IdPage } from '../list/page.ts'
import type { ReleaseState } from './states.ts'

export type ReleaseFilter = {
  /** Null: any. */
  state: ReleaseState | null
  seriesId?: string | undefined
  sourceId?: string | undefined
  language?: string | undefined
  libraryId?: string | undefined
}
export const releaseSortFields = ['series', 'observed', 'released'] as const
export type ReleaseSort = { field: (typeof releaseSortFields)[number]; descending: boolean }
export type ReleasePage = { page: number; pageSize: number }

/** Ids of a page of the visible releases. */
export async function listReleases(
  sql: Sql,
  viewer: Viewer,
  { filter, sort, page }: { filter: ReleaseFilter; sort: ReleaseSort; page: ReleasePage },
): Promise<IdPage> {
  const statement =
    sort.field === 'series'
      ? pageBySeries(sql, viewer, filter, sort.descending, page)
      : pageByTime(sql, viewer, filter, { time: sort.field, descending: sort.descending }, page)
  const [row] = await unprepared(sql<IdPage[]>`${statement}`)
  return row!
}

/** As the releases of one series are listed. */
const newestFirst = (sql: Queryable) => sql`
  r.last_volume desc nulls last, r.last_chapter desc nulls last, r.observed_at desc, r.id desc`

/** The series of the page follow from their counts; only their releases are sorted. */
function pageBySeries(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
  descending: boolean,
  { page, pageSize }: ReleasePage,
): Fragment {
  const offset = (page - 1) * pageSize
  const order = descending ? sql`s.sort_key desc, s.id desc` : sql`s.sort_key, s.id`
  return sql`
    with counted as materialized (
      select s.id, n.n, sum(n.n) over (order by ${order}) - n.n as before
      from ${countsBySeries(sql, filter)} n
      join series s on s.id = n.series_id
      where ${visibleIn(sql, viewer, filter)}
    ), on_page as materialized (
      select id, before from counted where before < ${offset + pageSize} and before + n > ${offset}
    )
    select (select coalesce(sum(n), 0)::float8 from counted) as total, array(
      select r.id
      from on_page p
      join release r on r.series_id = p.id
      where ${matches(sql, filter)}
      order by p.before, ${newestFirst(sql)}
      limit ${pageSize}
      offset ${offset} - coalesce((select min(before) from on_page), ${offset})
    ) as ids`
}

const times = {
  observed: (sql: Queryable) => sql`r.observed_at`,
  // One without a date stands where it was found.
  released: (sql: Queryable) => sql`coalesce(r.released_at, r.observed_at)`,
} as const

/** Walks the index on the time from the end that is nearer to the page. */
function pageByTime(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
  { time, descending }: { time: keyof typeof times; descending: boolean },
  { page, pageSize }: ReleasePage,
): Fragment {
  const offset = (page - 1) * pageSize
  const at = times[time](sql)
  const [there, back] = descending ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  const walk = (direction: Fragment, limit: Fragment, skipped: Fragment) => sql`(
    select r.id, ${at} as at
    from release r
    where ${matches(sql, filter)} and r.series_id in (select id from visible)
    order by ${at} ${direction}, r.id ${direction}
    limit ${limit} offset ${skipped})`
  const total = sql`(select total from size)`
  return sql`
    with visible as materialized (
      select s.id, n.n
      from ${countsBySeries(sql, filter)} n
      join series s on s.id = n.series_id
      where ${visibleIn(sql, viewer, filter)}
    ), size as materialized (
      select coalesce(sum(n), 0)::bigint as total from visible
    )
    select total::float8 as total, array(
      select id
      from (
        ${walk(
          there,
          sql`case when ${offset} * 2 <= ${total} then ${pageSize} else 0 end`,
          sql`${offset}`,
        )}
        union all
        ${walk(
          back,
          sql`case when ${offset} * 2 <= ${total} then 0
            else greatest(0, least(${pageSize}, ${total} - ${offset})) end`,
          sql`greatest(0, ${total} - ${offset} - ${pageSize})`,
        )}
      ) listed
      order by at ${there}, id ${there}
    ) as ids
    from size`
}

export type ReleaseFacets = {
  languages: { language: string; count: number }[]
  libraries: { libraryId: string; libraryName: string; count: number }[]
  series: {
    seriesId: string
    seriesTitle: string
    libraryId: string
    libraryName: string
    count: number
  }[]
}

/** The most series of a facet: those that come first by title. */
export const maxFacetSeries = 10_000

/** How many visible releases there are for each value of a filter, all other filters applied. */
export async function releaseFacets(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
): Promise<ReleaseFacets> {
  const { language, libraryId, seriesId } = filter
  const isOfLanguage = language === undefined ? sql`true` : sql`v.language = ${language}`
  const isOfLibrary = libraryId === undefined ? sql`true` : sql`v.library_id = ${libraryId}`
  const isOfSeries = seriesId === undefined ? sql`true` : sql`v.series_id = ${seriesId}`
  const [row] = await unprepared(sql<ReleaseFacets[]>`
    with v as materialized (
      select n.series_id, n.language, n.n, s.library_id, s.title, s.sort_key
      from (
        select r.series_id, r.language, count(*) as n
        from release r
        where ${matches(sql, { state: filter.state, sourceId: filter.sourceId })}
        group by r.series_id, r.language
      ) n
      join series s on s.id = n.series_id
      where ${visibleSeries(sql, viewer)}
    )
    select
      coalesce((
        select json_agg(json_build_object('language', language, 'count', n) order by n desc, language)
        from (
          select v.language, sum(v.n)::float8 as n from v
          where v.language is not null and ${isOfLibrary} and ${isOfSeries} group by v.language
        ) of_language
      ), '[]') as languages,
      coalesce((
        select json_agg(json_build_object('libraryId', l.id, 'libraryName', l.name, 'count', n)
          order by l.name, l.id)
        from (
          select v.library_id, sum(v.n)::float8 as n from v
          where ${isOfLanguage} and ${isOfSeries} group by v.library_id
        ) of_library
        join library l on l.id = of_library.library_id
      ), '[]') as libraries,
      coalesce((
        select json_agg(json_build_object('seriesId', series_id, 'seriesTitle', title,
          'libraryId', l.id, 'libraryName', l.name, 'count', n) order by sort_key, series_id)
        from (
          select v.series_id, v.title, v.sort_key, v.library_id, sum(v.n)::float8 as n from v
          where ${isOfLanguage} and ${isOfLibrary}
          group by v.series_id, v.title, v.sort_key, v.library_id
          order by v.sort_key, v.series_id
          limit ${maxFacetSeries}
        ) of_series
        join library l on l.id = of_series.library_id
      ), '[]') as series`)
  return row!
}

/** Pairs of a series and its number of matching releases, `n`, whoever sees them. */
function countsBySeries(sql: Queryable, filter: ReleaseFilter): Fragment {
  return sql`(
    select r.series_id, count(*) as n from release r where ${matches(sql, filter)}
    group by r.series_id)`
}

/** A condition on `release r`. */
function matches(
  sql: Queryable,
  { state, seriesId, sourceId, language }: Omit<ReleaseFilter, 'libraryId'>,
): Fragment {
  return allOf(sql, [
    ...(state === null ? [] : [sql`r.state = ${state}`]),
    ...(seriesId === undefined ? [] : [sql`r.series_id = ${seriesId}`]),
    ...(sourceId === undefined ? [] : [sql`r.source_id = ${sourceId}`]),
    ...(language === undefined ? [] : [sql`r.language = ${language}`]),
  ])
}

/** A condition on `series s`. */
function visibleIn(sql: Queryable, viewer: Viewer, { libraryId }: ReleaseFilter): Fragment {
  const visible = visibleSeries(sql, viewer)
  return libraryId === undefined ? visible : sql`(${visible} and s.library_id = ${libraryId})`
}
