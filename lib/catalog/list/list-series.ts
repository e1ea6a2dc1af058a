// Lists of series: one page in a sort order, with the exact total. Series without present books are not
// listed.
import type { Fragment, Sql } from 'postgres'
import {
  hasVisibleBook,
  isUnrestricted,
  serverViewer,
  type Viewer,
  visibleSeries,
} from '../../auth/viewer.ts'
import { parseSearchQuery, type SearchQuery } from '../../name/search-text.ts'
import type { Queryable } from '../../postgres/db.ts'
import { allOf, unprepared } from '../../postgres/statement.ts'
import { orRead } from './bitmaps/row-index.ts'
import { seriesIndexOf } from './bitmaps/series/series-index.ts'
import { countInitials, initialOfSeries } from './bitmaps/series/series-table.ts'
import type { Condition, SeriesFilter } from './condition.ts'
import { type IdPage, idsInOrder, nearestEnd, type PageWindow } from './page.ts'
import { planSeries, type SeriesPlan } from './plan/series-plan.ts'
import {
  type Direction,
  type SeriesSort,
  type SeriesSortKey,
  type SortScope,
  seriesOrderBy,
  seriesSortJoin,
} from './sort.ts'

export type SeriesListFilter = {
  filter: SeriesFilter | null
  /** Words to search for; empty or null for none. */
  text?: string | null | undefined
  libraryId?: string | undefined
  /** Leaves out series all of whose books are hidden from the viewer by their own age ratings. */
  onlyWithVisibleBooks?: boolean | undefined
  /** Also series all of whose books are missing. */
  includeDeleted?: boolean | undefined
}

export type SeriesListRequest = SeriesListFilter & {
  sort?: SeriesSort | undefined
  direction?: Direction | undefined
  /** Further keys for series that are equal in the first; only those by a column. */
  then?: readonly SeriesSortKey[] | undefined
  /** Whose order `position` is. */
  collectionId?: string | undefined
  /** Of `random`. */
  seed?: number | undefined
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of one page of the series that are visible, and the number on all pages. */
export async function listSeries(
  sql: Sql,
  viewer: Viewer,
  request: SeriesListRequest,
): Promise<IdPage> {
  const { direction = 'asc', page, pageSize } = request
  const { then = [], collectionId, seed = 0 } = request
  const scope = { accountId: viewer.accountId, collectionId, seed, then }
  const search = parseSearchQuery(request.text ?? '')
  // Text without letters and digits matches nothing; blank text is no search.
  if (!search && request.text?.trim()) return { ids: [], total: 0 }
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const sort = sortOf(request.sort, search !== null)
  const order = { direction, ...scope, ...window }
  const read = () => pageWithoutIndex(sql, viewer, { ...request, ...order, sort, search })
  if (sort === 'relevance') return await read()
  const index = seriesIndexOf(sql)
  const list = { ...indexedFilter(request), ...order, sort }
  const isFirst = index.isUnused()
  return await orRead(await index.page(sql, viewer, list), {
    ...{ read, isFirst },
    isLarge: () => isLarge(sql),
    refresh: () => index.refresh(sql, viewer, list),
  })
}

/** Reads what lists of series need, if there are many series (prepare-lists.ts). */
export async function prepareSeriesLists(sql: Sql): Promise<void> {
  if (!(await isLarge(sql))) return
  const window = { offset: 0, limit: 1 }
  const list = { filter: null, sort: 'title', direction: 'asc', ...window } as const
  await seriesIndexOf(sql).prepare(sql, serverViewer, list)
}

/** An index of fewer series does not pay. */
const minIndexed = 2_000

async function isLarge(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ total: number }[]>`${countEverything(sql)}`
  return row!.total > minIndexed
}

/** A search as a part of the condition. */
function indexedFilter({ filter, text, ...scope }: SeriesListFilter) {
  const { libraryId, onlyWithVisibleBooks, includeDeleted } = scope
  const words: Condition[] = text?.trim()
    ? [{ field: 'text', test: { kind: 'text', operator: 'contains', value: text }, negated: false }]
    : []
  const parts = [...words, ...(filter ? [filter.condition] : [])]
  const all: SeriesFilter | null =
    parts.length > 0 ? { of: 'series', condition: { all: parts } } : null
  return { filter: all, libraryId, onlyWithVisibleBooks, includeDeleted }
}

type ReadRequest = SeriesListFilter & PlannedRequest & { search: SearchQuery | null }

async function pageWithoutIndex(sql: Sql, viewer: Viewer, request: ReadRequest): Promise<IdPage> {
  const { sort, search, filter, includeDeleted } = request
  if (!search && !filter && !includeDeleted && sort !== 'relevance') {
    const total = await countVisible(sql, viewer, request)
    const isListed = sql`s.book_count > 0 and ${isVisible(sql, viewer, request)}`
    return {
      total,
      ids: await walkSeries(sql, { ...request, sort }, { ...request, total, isListed }),
    }
  }
  return await pageOfPlanned(sql, await planSeries(sql, viewer, request), request)
}

function sortOf(sort: SeriesSort | undefined, isSearch: boolean): SeriesSort {
  if (isSearch) return sort ?? 'relevance'
  return sort === undefined || sort === 'relevance' ? 'title' : sort
}

/** The number of visible series for each first character of the sort title, in lower case, in title order. */
export async function alphabeticalGroups(
  sql: Sql,
  viewer: Viewer,
  request: SeriesListFilter,
): Promise<{ group: string; count: number }[]> {
  const search = parseSearchQuery(request.text ?? '')
  if (!search && request.text?.trim()) return []
  const index = seriesIndexOf(sql)
  const order = { sort: 'title', direction: 'asc', offset: 0, limit: 0 } as const
  const list = { ...indexedFilter(request), ...order }
  const isFirst = index.isUnused()
  const indexed = await index.matching(sql, viewer, list)
  return await orRead(indexed && countInitials(indexed.table, indexed.rows), {
    read: () => readGroups(sql, viewer, { ...request, search }),
    isFirst,
    isLarge: () => isLarge(sql),
    refresh: () => index.refresh(sql, viewer, list),
  })
}

async function readGroups(
  sql: Sql,
  viewer: Viewer,
  request: SeriesListFilter & { search: SearchQuery | null },
): Promise<{ group: string; count: number }[]> {
  const plan = await planSeries(sql, viewer, request)
  return await unprepared(sql<{ group: string; count: number }[]>`
    with ${plan.ctes}
    select initial as "group", count(*)::integer as count
    from (
      select ${initialOfSeries(sql)} as initial, m.sort_key
      from matched m
      join series s on s.id = m.id
    ) t
    group by initial
    order by min(sort_key), initial`)
}

type VisibleScope = Pick<SeriesListFilter, 'libraryId' | 'onlyWithVisibleBooks'>

/** On `series s` with present books. */
function isVisible(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, onlyWithVisibleBooks }: VisibleScope,
): Fragment {
  return allOf(sql, [
    visibleSeries(sql, viewer),
    ...(libraryId === undefined ? [] : [sql`s.library_id = ${libraryId}`]),
    ...(onlyWithVisibleBooks ? [hasVisibleBook(sql, viewer)] : []),
  ])
}

async function countVisible(sql: Sql, viewer: Viewer, scope: VisibleScope): Promise<number> {
  const isEverything = scope.libraryId === undefined && isUnrestricted(viewer)
  const count = isEverything
    ? countEverything(sql)
    : sql`
      select count(*)::float8 as total from series s
      where s.book_count > 0 and ${isVisible(sql, viewer, scope)}`
  const [row] = await unprepared(sql<{ total: number }[]>`${count}`)
  return row!.total
}

const countEverything = (sql: Sql) =>
  sql`select coalesce(sum(series_count), 0)::float8 as total from library`

type Sorting = SeriesSortKey & SortScope & { then: readonly SeriesSortKey[]; seed: number }

/** Reads the index of the sort order from the nearer end. */
async function walkSeries(
  sql: Sql,
  sorting: Sorting,
  { isListed, ...window }: PageWindow & { isListed: Fragment },
): Promise<string[]> {
  const { skip, take, reversed } = nearestEnd(window)
  if (take === 0) return []
  const rows = await unprepared(sql<{ id: string }[]>`
    ${selectInOrder(sql, isListed, { ...sorting, reversed })} limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

function selectInOrder(
  sql: Queryable,
  isListed: Fragment,
  sorting: Sorting & { reversed: boolean },
): Fragment {
  return sql`
    select s.id from series s ${seriesSortJoin(sql, sorting.sort, sorting)}
    where ${isListed}
    order by ${seriesOrderBy(sql, sorting)}`
}

type PlannedRequest = Omit<Sorting, 'sort'> & { sort: SeriesSort; offset: number; limit: number }

async function pageOfPlanned(
  sql: Sql,
  plan: SeriesPlan,
  { sort, offset, limit, ...sorting }: PlannedRequest,
): Promise<IdPage> {
  const { direction, then } = sorting
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const isMatched = sql`(s.id in (select id from matched)) is true`
  const ids =
    sort === 'relevance'
      ? sql`select id from matched order by rank, sort_key, id`
      : sort === 'title' && then.length === 0
        ? sql`select m.id from matched m order by m.sort_key ${order}, m.id ${order}`
        : selectInOrder(sql, isMatched, { ...sorting, sort, reversed: false })
  const [row] = await unprepared(sql<IdPage[]>`
    with ${plan.ctes}
    select (select count(*) from matched)::float8 as total, array(
      ${ids} limit ${limit} offset ${offset}) as ids`)
  return row!
}
