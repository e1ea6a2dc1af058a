// Lists of series: one page in a sort order, with the exact total: from the index in memory, or by one statement. Series
// without present books are not listed.
import { serverViewer, type Viewer } from '../accounts/viewer.ts'
import { parseSearchQuery } from '../media/name/search-text.ts'
import type { Queryable } from '../store/postgres/db.ts'
import type { WithServices } from '../store/services.ts'
import type { Condition } from './condition.ts'
import { orStatement } from './index/list-index.ts'
import { countInitials } from './index/series/series-segment.ts'
import { lists } from './lists.ts'
import type { Direction, IdPage, SeriesSort, SeriesSortKey } from './sort.ts'
import { searchCondition } from './sql/search.ts'
import type { SeriesScope } from './sql/series-fields.ts'
import { readInitials, readSeries, type SeriesList } from './sql/series-statement.ts'

export type SeriesListFilter = SeriesScope & {
  /** Words to search for; empty or null for none. */
  text?: string | null | undefined
}

export type SeriesListRequest = SeriesListFilter & {
  /** Without one by relevance for searches, else by title. */
  sort?: SeriesSort | undefined
  direction?: Direction | undefined
  /** Further keys for series that are equal in the first; only those by a column. */
  then?: readonly SeriesSortKey[] | undefined
  /** Whose order `position` is. */
  collectionId?: string | undefined
  /** Seed of the order `random`. */
  seed?: number | undefined
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of one page of the series that are visible, and the number on all pages. */
export async function listSeries(
  { sql, services }: WithServices,
  viewer: Viewer,
  { page, pageSize, ...request }: SeriesListRequest,
): Promise<IdPage> {
  const window = { offset: (page - 1) * pageSize, limit: pageSize }
  const list = listOf({ ...request, ...window })
  if (!list) return { ids: [], total: 0 }
  const { series: index, inTurn } = services(lists)
  const read = () => inTurn(() => readSeries(sql, viewer, list))
  const { sort } = list
  if (sort === 'relevance') return await read()
  const indexed = { ...list, sort }
  const isFirst = index.isUnused()
  return await orStatement(await index.page(sql, viewer, indexed), {
    ...{ read, isFirst },
    isLarge: () => isLarge(sql),
    refresh: () => index.refresh(viewer, indexed),
  })
}

/** The number of visible series for each first character of the sort title, in lower case, in title order. */
export async function alphabeticalGroups(
  { sql, services }: WithServices,
  viewer: Viewer,
  request: SeriesListFilter,
): Promise<{ group: string; count: number }[]> {
  const list = listOf({ ...request, sort: 'title', offset: 0, limit: 0 })
  if (!list) return []
  const { series: index, inTurn } = services(lists)
  const indexed = { ...list, sort: 'title' } as const
  const isFirst = index.isUnused()
  const matching = await index.matching(sql, viewer, indexed)
  return await orStatement(matching && countInitials(matching.segment, matching.docs), {
    read: () => inTurn(() => readInitials(sql, viewer, list)),
    isFirst,
    isLarge: () => isLarge(sql),
    refresh: () => index.refresh(viewer, indexed),
  })
}

type Windowed = Omit<SeriesListRequest, 'page' | 'pageSize'> & { offset: number; limit: number }

/** Null for a text without letters and digits, which matches nothing; blank text is no search. */
function listOf(request: Windowed): SeriesList | null {
  const { text, filter, sort, direction = 'asc', then = [], seed = 0, ...rest } = request
  const search = parseSearchQuery(text ?? '')
  if (!search && text?.trim()) return null
  const conditions: Condition[] = [
    ...(search ? [searchCondition(text!)] : []),
    ...(filter ? [filter.condition] : []),
  ]
  const sortOfAll = sort === 'relevance' ? undefined : sort
  return {
    ...{ ...rest, direction, then, seed, search },
    filter: conditions.length > 0 ? { of: 'series', condition: { all: conditions } } : null,
    sort: search ? (sort ?? 'relevance') : (sortOfAll ?? 'title'),
  }
}

/** Reads what lists of series need, if there are many series (prepare-lists.ts). */
export async function prepareSeriesLists({ sql, services }: WithServices): Promise<void> {
  if (!(await isLarge(sql))) return
  const window = { offset: 0, limit: 1 }
  const list = { filter: null, sort: 'title', direction: 'asc', ...window } as const
  await services(lists).series.prepare(serverViewer, list)
}

/** Below, a list from the index takes as long as the statement (measured with 40 to 800 series). */
const minIndexed = 200

async function isLarge(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(series_count), 0)::float8 as total from library`
  return row!.total > minIndexed
}
