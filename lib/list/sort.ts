// Sort orders of book and series lists: their names in requests, their columns and ORDER BY clauses.
import type { Fragment } from 'postgres'
import { byWord } from '../base/words.ts'
import { snakeCase } from '../media/metadata/field.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { commaList } from '../store/postgres/statement.ts'

// Orders are also named as the members of the records, and as in the requests of other servers.
const bookOrders = {
  title: 'title, title_sort, name',
  series: 'series, series_name',
  number: 'number, chapter_number',
  created: 'created_at, date_added',
  modified: 'modified_at',
  updated: 'updated_at, date_updated',
  released: 'release_date, year',
  size: 'file_size',
  filename: 'filename',
  pages: 'page_count',
  read: 'last_read, last_read_at, read_date, date_read',
  relevance: 'relevance, score',
}

const seriesOrders = {
  title: 'name, title, title_sort',
  created: 'date_added, created_at',
  updated: 'date_updated, updated_at, modified_at',
  year: 'release_date, year',
  read: 'date_read, last_read, last_read_at, read_date',
  books: 'book_count',
  size: 'file_size',
  filename: 'filename',
  pages: 'page_count',
  relevance: 'relevance, score',
  rating: 'rating, user_rating',
  communityRating: 'community_rating, avg_rating',
  externalRating: 'external_rating',
}

const byName = <Sort extends string>(orders: Record<Sort, string>) =>
  Object.fromEntries(byWord(orders)) as Record<string, Sort>
const bookNames = byName(bookOrders)
const seriesNames = byName(seriesOrders)

export type BookSort = keyof typeof bookOrders
/** Orders that native requests name, and orders of other grammars. */
export type SeriesSort = keyof typeof seriesOrders | SeriesColumnSort
export type Direction = 'asc' | 'desc'
/** `sort` is undefined for the default of a list: relevance for searches, else title. */
type SortOrder<Sort> = { sort: Sort | undefined; direction: Direction }

/** Parses `field,direction`, or `field` with a separate direction; names as in `bookSortNames`. Without a field the default order. */
export function parseBookSort(sort?: string, order?: string): SortOrder<BookSort> {
  return parseSort(bookNames, sort, order)
}

/** As parseBookSort. */
export function parseSeriesSort(sort?: string, order?: string): SortOrder<SeriesSort> {
  return parseSort(seriesNames, sort, order)
}

/** `names`: the order of each name in snake_case. */
export function parseSort<Sort extends string>(
  names: Record<string, Sort>,
  sort = '',
  order = 'asc',
): SortOrder<Sort> {
  const [field = '', direction = order] = sort.split(',', 2)
  const name = snakeCase(field)
  return {
    sort: Object.hasOwn(names, name) ? names[name] : undefined,
    direction: direction === 'desc' ? 'desc' : 'asc',
  }
}

/** The names that requests may use, in snake_case or camelCase. */
export const bookSortNames = Object.keys(bookNames)
export const seriesSortNames = Object.keys(seriesNames)

/** Sort orders of books by one column of their own, each with an index on present books. */
export const bookSortColumns = {
  title: { column: 'sort_key', nullable: false },
  number: { column: 'number_sort', nullable: true },
  created: { column: 'created_at', nullable: false },
  updated: { column: 'updated_at', nullable: false },
  // Time of the file; the two above are times of the row.
  modified: { column: 'modified_ms', nullable: false },
  released: { column: 'released', nullable: true },
  size: { column: 'size', nullable: false },
  pages: { column: 'page_count', nullable: false },
  filename: { column: 'name_key', nullable: false },
} as const
export type BookColumnSort = keyof typeof bookSortColumns

/** An order of books: nulls last in both directions, ties by id. `reversed`: the same order read from its end. */
export function bookOrderBy(
  sql: Queryable,
  alias: string,
  { sort, direction, reversed }: { sort: BookColumnSort; direction: Direction; reversed: boolean },
): Fragment {
  const { column, nullable } = bookSortColumns[sort]
  const key = sql`${sql(alias)}.${sql(column)}`
  const isDescending = (direction === 'desc') !== reversed
  const nulls = nullable ? (reversed ? sql`nulls first` : sql`nulls last`) : sql``
  return isDescending
    ? sql`${key} desc ${nulls}, ${sql(alias)}.id desc`
    : sql`${key} ${nulls}, ${sql(alias)}.id`
}

/** Sort orders of series by one column of their own, each with an index on series with present books. */
export const seriesSortColumns = {
  title: 'sort_key',
  released: 'released',
  created: 'created_at',
  updated: 'updated_at',
  year: 'year',
  books: 'book_count',
  size: 'size',
  filename: 'name_key',
  pages: 'page_count',
} as const

export const nullableSeriesSorts: readonly string[] = ['year', 'released']

/** What a sort order refers to beside the series. */
export type SortScope = {
  accountId: string
  /** Collection whose `position` orders the series. */
  collectionId?: string | undefined
  /** Seed of `random`: the same order for the same seed. */
  seed?: number | undefined
}

/** Sort orders of series by a value that few have, `v.value` of a join. */
const seriesSortJoins = {
  position: (sql: Queryable, { collectionId }: SortScope) => sql`
    select m.series_id, m.position as value from collection_series m
    where m.collection_id = ${collectionId ?? null}::uuid`,
  read: (sql: Queryable, { accountId }: SortScope) => sql`
    select r.series_id, r.last_read_at as value from series_reading r
    where r.account_id = ${accountId}`,
  rating: (sql: Queryable, { accountId }: SortScope) => sql`
    select u.series_id, u.rating as value from user_rating u where u.account_id = ${accountId}`,
  communityRating: (sql: Queryable) => sql`
    select u.series_id, avg(u.rating) as value from user_rating u group by u.series_id`,
  externalRating: (sql: Queryable) => sql`
    select e.series_id, max(e.rating) as value from external_reference e
    where e.kind = 'rating' group by e.series_id`,
}
type JoinedSort = keyof typeof seriesSortJoins
export type SeriesColumnSort = keyof typeof seriesSortColumns | JoinedSort | 'random'
export type SeriesSortKey = { sort: SeriesColumnSort; direction: Direction }

const isJoined = (sort: SeriesColumnSort): sort is JoinedSort =>
  Object.hasOwn(seriesSortJoins, sort)

/** Of the values that few series have: a query of `series_id` and `value`; null for other orders. */
export function seriesSortValues(
  sql: Queryable,
  sort: SeriesColumnSort,
  scope: SortScope,
): Fragment | null {
  return isJoined(sort) ? seriesSortJoins[sort](sql, scope) : null
}

/** The join to `series s` that `seriesOrderBy` needs. */
export function seriesSortJoin(sql: Queryable, sort: SeriesColumnSort, scope: SortScope): Fragment {
  const values = seriesSortValues(sql, sort, scope)
  return values ? sql`left join (${values}) v on v.series_id = s.id` : sql``
}

/** An order of `series s` with its `seriesSortJoin`: nulls last in both directions, ties by id. */
export function seriesOrderBy(
  sql: Queryable,
  {
    sort,
    direction,
    then = [],
    seed = 0,
  }: SeriesSortKey & { then?: readonly SeriesSortKey[]; seed?: number },
): Fragment {
  const directionOf = (key: SeriesSortKey) => (key.direction === 'desc' ? sql`desc` : sql`asc`)
  const order = directionOf({ sort, direction })
  if (sort === 'random') return sql`uuid_hash_extended(s.id, ${seed}::bigint), s.id`
  if (isJoined(sort)) return sql`v.value ${order} nulls last, s.sort_key, s.id`
  const byColumn = (key: SeriesSortKey) => {
    if (isJoined(key.sort) || key.sort === 'random') return []
    const nulls = nullableSeriesSorts.includes(key.sort) ? sql`nulls last` : sql``
    return [sql`s.${sql(seriesSortColumns[key.sort])} ${directionOf(key)} ${nulls}`]
  }
  const keys = [{ sort, direction }, ...then].flatMap(byColumn)
  return sql`${commaList(sql, keys)}, s.id ${order}`
}

/** One page of ids and the number of entries on all pages. */
export type IdPage = { ids: string[]; total: number }

/** The position of a page in a list of `total` entries. */
export type PageWindow = { offset: number; limit: number; total: number }

/** Skipping rows is the cost of a late page, so a page of the second half is read backwards from the end. */
export function nearestEnd({ offset, limit, total }: PageWindow): {
  skip: number
  take: number
  reversed: boolean
} {
  const take = Math.max(Math.min(limit, total - offset), 0)
  const reversed = offset > total / 2
  return { take, reversed, skip: reversed ? total - offset - take : offset }
}
