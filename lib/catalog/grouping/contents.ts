// What is in a collection or a read list, as the viewer sees it: a page of its members in one of its orders.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import { unprepared } from '../../postgres/statement.ts'
import { filterOfRule } from '../collection/rules.ts'
import { listSeries } from '../list/list-series.ts'
import type { IdPage } from '../list/page.ts'
import type { Direction } from '../list/sort.ts'
import { collections, isShownSeries, readLists } from './grouping.ts'
import { findGrouping, type GroupingRequest, type GroupingRow } from './list.ts'

export const collectionSorts = ['manual', 'position', 'title', 'added', 'year'] as const
export const readListSorts = ['manual', 'position', 'release', 'title', 'added'] as const
type CollectionSort = (typeof collectionSorts)[number]
type ReadListSort = (typeof readListSorts)[number]

type ContentsRequest<Sort> = GroupingRequest & {
  /** By default the order of the collection itself. */
  sort?: Sort | undefined
  direction?: Direction | undefined
  /** From 1. */
  page: number
  pageSize: number
}

export type Contents = IdPage & { grouping: GroupingRow }

/** Ids of the series. Throws NotFound as findGrouping. */
export async function seriesOfCollection(
  sql: Sql,
  viewer: Viewer,
  { sort, direction = 'asc', ...request }: ContentsRequest<CollectionSort>,
): Promise<Contents> {
  const { id, page, pageSize } = request
  const grouping = await findGrouping(sql, viewer, collections, request)
  const order = sort ?? (grouping.ordered ? 'manual' : 'title')
  if (grouping.rule !== null) {
    const listed = await listSeries(sql, viewer, {
      ...{ filter: filterOfRule(grouping.rule), onlyWithVisibleBooks: true },
      ...{ sort: ruleSorts[order], direction, page, pageSize },
    })
    return { ...listed, grouping }
  }
  const shown = sql`
    select s.id, m.position, s.sort_key, m.added_at, s.year
    from collection_series m join series s on s.id = m.series_id
    where m.collection_id = ${id} and ${isShownSeries(sql, viewer)}`
  const orderBy = orderOf(sql, seriesColumns[order], direction)
  return { ...(await pageOf(sql, shown, { orderBy, page, pageSize })), grouping }
}

// A rule has no order of its own, and does not add series one after another.
const ruleSorts = {
  manual: 'title',
  position: 'title',
  title: 'title',
  added: 'created',
  year: 'year',
} as const
const seriesColumns: Record<CollectionSort, string> = {
  manual: 'position',
  position: 'position',
  title: 'sort_key',
  added: 'added_at',
  year: 'year',
}

/** Ids of the books. Throws NotFound as findGrouping. */
export async function booksOfReadList(
  sql: Sql,
  viewer: Viewer,
  { sort, direction = 'asc', ...request }: ContentsRequest<ReadListSort>,
): Promise<Contents> {
  const { id, page, pageSize } = request
  const grouping = await findGrouping(sql, viewer, readLists, request)
  const order = sort ?? (grouping.ordered ? 'manual' : 'release')
  const shown = sql`
    select b.id, m.position, b.sort_key, m.added_at, b.released
    from read_list_book m join book b on b.id = m.book_id join series s on s.id = b.series_id
    where m.read_list_id = ${id} and ${presentBook(sql)} and ${visibleBook(sql, viewer)}`
  const orderBy = orderOf(sql, bookColumns[order], direction)
  return { ...(await pageOf(sql, shown, { orderBy, page, pageSize })), grouping }
}

const bookColumns: Record<ReadListSort, string> = {
  manual: 'position',
  position: 'position',
  release: 'released',
  title: 'sort_key',
  added: 'added_at',
}

/** Members that are equal in the column follow the order of the list. */
function orderOf(sql: Sql, column: string, direction: Direction): Fragment {
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  return sql`${sql(column)} ${order} nulls last, position ${order}, id ${order}`
}

type PageRequest = { orderBy: Fragment; page: number; pageSize: number }

async function pageOf(
  sql: Sql,
  shown: Fragment,
  { orderBy, page, pageSize }: PageRequest,
): Promise<IdPage> {
  const [row] = await unprepared(sql<IdPage[]>`
    with shown as materialized (${shown})
    select (select count(*) from shown)::float8 as total, array(
      select id from shown order by ${orderBy}
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  return row!
}
