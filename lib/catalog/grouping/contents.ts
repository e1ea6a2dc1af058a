// What is in a collection or a read list, as the viewer sees it: a page of its members in one of its orders.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { unprepared } from '../../postgres/statement.ts'
import { filterOfRule } from '../collection/rules.ts'
import { listSeries } from '../list/list-series.ts'
import type { IdPage } from '../list/page.ts'
import type { Direction } from '../list/sort.ts'
import { collections, type Grouping, readLists, tablesOf } from './grouping.ts'
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
  const ids = await pageOf(sql, viewer, collections, {
    ...{ id, column: seriesColumns[order], direction, page, pageSize },
    // Only the column of the order: it comes from its index.
    joined: sql`series s on s.id = m.series_id and s.book_count > 0`,
    alias: 's',
  })
  return { ids, total: grouping.count!, grouping }
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
  const ids = await pageOf(sql, viewer, readLists, {
    ...{ id, column: bookColumns[order], direction, page, pageSize },
    joined: sql`book b on b.id = m.book_id`,
    alias: 'b',
  })
  return { ids, total: grouping.count!, grouping }
}

const bookColumns: Record<ReadListSort, string> = {
  manual: 'position',
  position: 'position',
  release: 'released',
  title: 'sort_key',
  added: 'added_at',
}

type PageRequest = {
  id: string
  /** Of the member itself, or of what it refers to. */
  column: string
  direction: Direction
  joined: Fragment
  alias: 's' | 'b'
  page: number
  pageSize: number
}

const memberColumns = ['position', 'added_at']

/** Members that are equal in the column follow the order of the list. Those before the page are read in order, and no others. */
async function pageOf(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, column, direction, joined, alias, page, pageSize }: PageRequest,
): Promise<string[]> {
  const { m, owner, member } = tablesOf(sql, grouping)
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const isOwn = memberColumns.includes(column)
  const key = isOwn ? sql`m.${sql(column)}` : sql`${sql(alias)}.${sql(column)}`
  const rows = await unprepared(sql<{ id: string }[]>`
    select m.${member} as id
    from (
      select m.${member}, ${key} as key, m.position
      from ${m} m ${isOwn ? sql`` : sql`join ${joined}`}
      where m.${owner} = ${id}
      order by key ${order} nulls last, m.position ${order}, m.${member} ${order}
      offset 0) m
    where ${grouping.isShown(sql, viewer)}
    limit ${pageSize} offset ${(page - 1) * pageSize}`)
  return rows.map(row => row.id)
}
