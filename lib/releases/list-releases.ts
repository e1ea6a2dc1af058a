// Release lists: pages of the ledger with exact totals, and the facets of their filters. What a viewer may see is
// decided per series, because there are fewer series than releases.
import type { Fragment } from 'postgres'
import { isUnrestricted, type Viewer, visibleSeries } from '../accounts/viewer.ts'
import type { IdPage } from '../list/sort.ts'
import type { Queryable, Sql } from '../store/postgres/db.ts'
import { allOf, unprepared } from '../store/postgres/statement.ts'
import type { ReleaseState } from './release-record.ts'

type ReleaseFilter = {
  /** Null for any. */
  state: ReleaseState | null
  seriesId?: string | undefined
  sourceId?: string | undefined
  language?: string | undefined
  libraryId?: string | undefined
  /** Only releases of series that the viewer follows and that it has not dismissed. */
  isFollowed?: boolean
}
type ReleaseSort = { field: 'series' | keyof typeof times; descending: boolean }
type ReleasePage = { page: number; pageSize: number }

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

/** The order of the releases of one series. */
const newestFirst = (sql: Queryable) => sql`
  r.last_volume desc nulls last, r.last_chapter desc nulls last, r.observed_at desc, r.id desc`

/** The counts determine which series are on the page; only their releases are sorted. */
function pageBySeries(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
  descending: boolean,
  { page, pageSize }: ReleasePage,
): Fragment {
  const offset = (page - 1) * pageSize
  const order = descending ? sql`v.sort_key desc, v.id desc` : sql`v.sort_key, v.id`
  return sql`
    with visible as materialized ${visibleTracked(sql, viewer, filter)},
    counted as materialized (
      select v.id, n.n, sum(n.n) over (order by ${order}) - n.n as before
      from (
        select r.series_id, count(*) as n from release r where ${matches(sql, viewer, filter)}
        group by r.series_id
      ) n
      join visible v on v.id = n.series_id
    ), on_page as materialized (
      select id, before from counted where before < ${offset + pageSize} and before + n > ${offset}
    )
    select (select coalesce(sum(n), 0)::float8 from counted) as total, array(
      select r.id
      from on_page p
      join release r on r.series_id = p.id
      where ${matches(sql, viewer, filter)}
      order by p.before, ${newestFirst(sql)}
      limit ${pageSize}
      offset ${offset} - coalesce((select min(before) from on_page), ${offset})
    ) as ids`
}

const times = { observed: 'observed_at', released: 'dated_at' } as const

/** Walks the time index from whichever end is nearer to the page. */
function pageByTime(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
  { time, descending }: { time: keyof typeof times; descending: boolean },
  { page, pageSize }: ReleasePage,
): Fragment {
  const offset = (page - 1) * pageSize
  const at = sql`r.${sql(times[time])}`
  const isOfAll = isUnrestricted(viewer) && filter.libraryId === undefined && !filter.isFollowed
  // A join with the set would prevent reading the index in order.
  const isVisible = isOfAll ? sql`true` : sql`(r.series_id in (select id from visible)) is true`
  const [there, back] = descending ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  const walk = (direction: Fragment, limit: Fragment, skipped: Fragment) => sql`(
    select r.id, ${at} as at
    from release r
    where ${matches(sql, viewer, filter)} and ${isVisible}
    order by ${at} ${direction}, r.id ${direction}
    limit ${limit} offset ${skipped})`
  const total = sql`(select total from size)`
  return sql`
    with visible as materialized ${visibleTracked(sql, viewer, filter)},
    size as materialized (
      select count(*) as total from release r where ${matches(sql, viewer, filter)} and ${isVisible}
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

/** Series listed in a facet: the first ones by title. */
const maxFacetSeries = 10_000

/** How many visible releases each value of a filter would give with all other filters applied. */
export async function releaseFacets(
  sql: Sql,
  viewer: Viewer,
  filter: ReleaseFilter,
): Promise<ReleaseFacets> {
  const { state, sourceId, language, libraryId, seriesId, isFollowed } = filter
  const isOfLanguage = language === undefined ? sql`true` : sql`v.language = ${language}`
  const isOfLibrary = libraryId === undefined ? sql`true` : sql`v.library_id = ${libraryId}`
  const isOfSeries = seriesId === undefined ? sql`true` : sql`v.series_id = ${seriesId}`
  // For thousands of series, as objects with library names, the response would be twice as large.
  type Row = Pick<ReleaseFacets, 'languages' | 'libraries'> & {
    series: [id: string, title: string, libraryId: string, count: number][]
    libraryNames: Record<string, string>
  }
  const [row] = await unprepared(sql<Row[]>`
    with visible as materialized ${visibleTracked(sql, viewer, { isFollowed })},
    v as materialized (
      select n.series_id, n.language, n.n, s.library_id
      from (
        select r.series_id, r.language, count(*) as n
        from release r
        where ${matches(sql, viewer, { state, sourceId, isFollowed })}
        group by r.series_id, r.language
      ) n
      join visible s on s.id = n.series_id
    ), of_series as materialized (
      select v.series_id, sum(v.n)::float8 as n from v
      where ${isOfLanguage} and ${isOfLibrary} group by v.series_id
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
        select json_agg(json_build_array(id, title, library_id, n))
        from (
          select s.id, s.title, s.library_id, of_series.n
          from of_series join visible s on s.id = of_series.series_id
          order by s.sort_key, s.id
          limit ${maxFacetSeries}
        ) listed
      ), '[]') as series,
      coalesce((select json_object_agg(id, name) from library), '{}') as "libraryNames"`)
  const { languages, libraries, series, libraryNames } = row!
  return {
    languages,
    libraries,
    series: series.map(([seriesId, seriesTitle, libraryId, count]) => ({
      ...{ seriesId, seriesTitle, libraryId, libraryName: libraryNames[libraryId]!, count },
    })),
  }
}

/** A condition on `release r`. */
function matches(
  sql: Queryable,
  viewer: Viewer,
  { state, seriesId, sourceId, language, isFollowed }: Omit<ReleaseFilter, 'libraryId'>,
): Fragment {
  const isDismissed = sql`
    exists (select from release_mark m
      where m.release_id = r.id and m.account_id = ${viewer.accountId}
        and m.dismissed_at is not null)`
  return allOf(sql, [
    ...(state === null ? [] : [sql`r.state = ${state}`]),
    ...(seriesId === undefined ? [] : [sql`r.series_id = ${seriesId}`]),
    ...(sourceId === undefined ? [] : [sql`r.source_id = ${sourceId}`]),
    ...(language === undefined ? [] : [sql`r.language = ${language}`]),
    ...(isFollowed ? [sql`not ${isDismissed}`] : []),
  ])
}

/** Series that are or were tracked, and thus all with releases, as far as the viewer sees them. */
function visibleTracked(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, seriesId, isFollowed }: Pick<ReleaseFilter, 'libraryId' | 'seriesId' | 'isFollowed'>,
): Fragment {
  return sql`(
    select s.id, s.library_id, s.title, s.sort_key
    from series_tracking t
    join series s on s.id = t.series_id
    where ${allOf(sql, [
      visibleSeries(sql, viewer),
      ...(libraryId === undefined ? [] : [sql`s.library_id = ${libraryId}`]),
      ...(seriesId === undefined ? [] : [sql`s.id = ${seriesId}`]),
      ...(isFollowed
        ? [
            sql`s.id in (select series_id from series_follow where account_id = ${viewer.accountId})`,
          ]
        : []),
    ])})`
}
