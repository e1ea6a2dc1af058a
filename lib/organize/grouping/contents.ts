// Contents of a collection or a read list for a viewer: a page of its members, in its own sort orders or those of
// other lists, optionally filtered.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import type { Condition, SeriesFilter } from '../../list/condition.ts'
import { listBooks } from '../../list/list-books.ts'
import { listSeries } from '../../list/list-series.ts'
import {
  type BookSort,
  type Direction,
  type IdPage,
  parseBookSort,
  parseSeriesSort,
  type SeriesSort,
} from '../../list/sort.ts'
import { listedSeries } from '../../list/sql/series-statement.ts'
import { allOf, unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'
import { filterOfRule, hasMatch } from '../collection/rules.ts'
import {
  collections,
  type Grouping,
  groupingNotFound,
  readLists,
  seesEverything,
  tablesOf,
} from './grouping.ts'
import { findGrouping, type GroupingRequest, type GroupingRow, requireGrouping } from './list.ts'

// The own sort orders, as columns of the member or of the series or book it refers to.
const seriesColumns = {
  manual: 'position',
  position: 'position',
  title: 'sort_key',
  added: 'added_at',
  year: 'year',
} as const
const bookColumns = {
  manual: 'position',
  position: 'position',
  release: 'released',
  title: 'sort_key',
  added: 'added_at',
} as const
// A rule has no manual order, and does not add series one by one.
const ruleSorts = {
  manual: 'title',
  position: 'title',
  title: 'title',
  added: 'created',
  year: 'year',
} as const satisfies Record<keyof typeof seriesColumns, SeriesSort>

export const collectionSorts = Object.keys(seriesColumns) as (keyof typeof seriesColumns)[]
export const readListSorts = Object.keys(bookColumns) as (keyof typeof bookColumns)[]

type Sorting<Own extends string, Other> = {
  /** An own sort order; undefined for the default of the collection. */
  own?: Own | undefined
  /** A sort order of other lists, used instead. */
  other?: Other | undefined
  direction: Direction
}
type SeriesSorting = Sorting<keyof typeof seriesColumns, SeriesSort>
type BookSorting = Sorting<keyof typeof bookColumns, BookSort>

/** Parses `field,direction`, or `field` with a separate direction: an own sort order, or one of other lists. */
const parserOf =
  <Own extends string, Other>(
    own: readonly Own[],
    parse: (sort: string, order?: string) => { sort?: Other | undefined; direction: Direction },
  ) =>
  (sort = '', order?: string): Sorting<Own, Other> => {
    const name = own.find(name => name === sort.split(',', 1)[0])
    const { sort: other, direction } = parse(sort, order)
    return name ? { own: name, direction } : { other, direction }
  }
export const parseCollectionSort = parserOf(collectionSorts, parseSeriesSort)
export const parseReadListSort = parserOf(readListSorts, parseBookSort)

type ContentsRequest<Sort> = GroupingRequest & {
  sorting?: Sort
  /** Limits the page to this library. */
  libraryId?: string | undefined
  /** 1-based. */
  page: number
  pageSize: number
}

export type Contents = IdPage & { grouping: GroupingRow }

const inOrder = { direction: 'asc' } as const

/** Ids of the series. `filter` limits them to matching ones. Throws NotFound like `findGrouping`. */
export async function seriesOfCollection(
  db: WithServices,
  viewer: Viewer,
  {
    sorting = inOrder,
    filter = null,
    ...request
  }: ContentsRequest<SeriesSorting> & { filter?: SeriesFilter | null },
): Promise<Contents> {
  const { sql } = db
  const { id, libraryId, page, pageSize } = request
  const grouping = await requireGrouping(sql, viewer, collections, id)
  const { other, direction } = sorting
  const own = sorting.own ?? (grouping.ordered ? 'manual' : 'title')
  const window = { libraryId, direction, page, pageSize }
  const list = (condition: Condition, sort: SeriesSort) =>
    listSeries(db, viewer, {
      ...{ ...window, sort, onlyWithVisibleBooks: true },
      filter: {
        of: 'series',
        condition: filter ? { all: [condition, filter.condition] } : condition,
      },
    })
  if (grouping.rule !== null) {
    const listed = await list(filterOfRule(grouping.rule).condition, other ?? ruleSorts[own])
    if (listed.total === 0 && !seesEverything(viewer)) {
      const isFiltered = filter !== null || libraryId !== undefined
      if (!isFiltered || !(await hasMatch(sql, viewer, grouping.rule)))
        throw groupingNotFound(collections)
    }
    return { ...listed, grouping }
  }
  const found = await findGrouping(db, viewer, collections, request)
  if (other) return { ...(await list(isMember('collectionId', id), other)), grouping: found }
  const ofLibrary = sql`(m.series_id in (select s.id from series s where s.library_id = ${libraryId!})) is true`
  const matches =
    filter &&
    sql`m.series_id in (select s.id from series s where ${listedSeries(sql, viewer, { filter })})`
  const listed = await pageOf(sql, viewer, collections, {
    ...{ id, column: seriesColumns[own], ...window, total: found.count! },
    // Only the sort column, so that it comes from its index.
    joined: sql`series s on s.id = m.series_id and s.book_count > 0`,
    alias: 's',
    only: [...(libraryId === undefined ? [] : [ofLibrary]), ...(matches ? [matches] : [])],
  })
  return { ...listed, grouping: found }
}

/** Ids of the books. `seriesId` limits them to one series. Throws NotFound like `findGrouping`. */
export async function booksOfReadList(
  db: WithServices,
  viewer: Viewer,
  {
    sorting = inOrder,
    seriesId,
    ...request
  }: ContentsRequest<BookSorting> & { seriesId?: string | undefined },
): Promise<Contents> {
  const { sql } = db
  const { id, libraryId, page, pageSize } = request
  const grouping = await findGrouping(db, viewer, readLists, request)
  const { other, direction } = sorting
  const window = { libraryId, direction, page, pageSize }
  if (other) {
    const filter = { of: 'book' as const, condition: isMember('readListId', id) }
    return {
      ...(await listBooks(db, viewer, { ...window, filter, seriesId, sort: other })),
      grouping,
    }
  }
  const ofLibrary = sql`(m.series_id in (select s.id from series s where s.library_id = ${libraryId!})) is true`
  const own = sorting.own ?? (grouping.ordered ? 'manual' : 'release')
  const listed = await pageOf(sql, viewer, readLists, {
    ...{ id, column: bookColumns[own], ...window, total: grouping.count! },
    joined: sql`book b on b.id = m.book_id`,
    alias: 'b',
    only: [
      ...(libraryId === undefined ? [] : [ofLibrary]),
      ...(seriesId === undefined ? [] : [sql`m.series_id = ${seriesId}`]),
    ],
  })
  return { ...listed, grouping }
}

const isMember = (field: 'collectionId' | 'readListId', id: string): Condition => ({
  field,
  test: { kind: 'ids', ids: [id] },
  negated: false,
})

type PageRequest = {
  id: string
  /** Column of the member itself, or of what it refers to. */
  column: string
  direction: Direction
  joined: Fragment
  alias: 's' | 'b'
  /** Additional conditions on `m`. */
  only: Fragment[]
  /** Number of members without these conditions. */
  total: number
  page: number
  pageSize: number
}

const memberColumns = ['position', 'added_at']

/** Members with equal column values follow the order of the list. Reads no further than the end of the page. */
async function pageOf(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  request: PageRequest,
): Promise<IdPage> {
  const { id, column, direction, joined, alias, only, page, pageSize } = request
  const { m, owner, member } = tablesOf(sql, grouping)
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const isOwn = memberColumns.includes(column)
  const key = isOwn ? sql`m.${sql(column)}` : sql`${sql(alias)}.${sql(column)}`
  const isListed = allOf(sql, [grouping.isShown(sql, viewer), ...only])
  const rows = await unprepared(sql<{ id: string }[]>`
    select m.${member} as id
    from (
      select m.*, ${key} as key
      from ${m} m ${isOwn ? sql`` : sql`join ${joined}`}
      where m.${owner} = ${id}
      order by ${key} ${order} nulls last, m.position ${order}, m.${member} ${order}
      offset 0) m
    where ${isListed}
    limit ${pageSize} offset ${(page - 1) * pageSize}`)
  const ids = rows.map(row => row.id)
  if (only.length === 0) return { ids, total: request.total }
  const [counted] = await unprepared(sql<{ total: number }[]>`
    select count(*)::float8 as total from ${m} m where m.${owner} = ${id} and ${isListed}`)
  return { ids, total: counted!.total }
}

/**
 * Ids of the books before and after a book that the viewer sees, in manual order or by release date. Throws
 * NotFound for a hidden read list, and for a book that is not in it.
 */
export async function neighborsInReadList(
  db: WithServices,
  viewer: Viewer,
  { readListId, bookId }: { readListId: string; bookId: string },
): Promise<{ prev: string | null; next: string | null }> {
  const { sql } = db
  const request = { id: readListId, withEmpty: false }
  const { ordered } = await findGrouping(db, viewer, readLists, request)
  const { m } = tablesOf(sql, readLists)
  const [row] = await sql<{ prev: string | null; next: string | null }[]>`
    select prev, next
    from (
      select b.id, lag(b.id) over places as prev, lead(b.id) over places as next
      from ${m} m join book b on b.id = m.book_id
      where m.read_list_id = ${readListId} and ${readLists.isShown(sql, viewer)}
      window places as (order by ${ordered ? sql`` : sql`b.released nulls last,`} m.position, b.id)
    ) members
    where id = ${bookId}`
  if (!row) throw new NotFound('Book not found')
  return row
}
