// Sort orders of books as ORDER BY clauses of `book b`, with the joins that they need.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { readingOrder } from '../../catalog/derived/reading-order.ts'
import type { SearchQuery } from '../../media/name/search-text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { commaList } from '../../store/postgres/statement.ts'
import {
  type BookColumnSort,
  type BookSort,
  bookOrderBy,
  bookSortColumns,
  type Direction,
} from '../sort.ts'
import { matchRank } from './search.ts'

/** Orders without an index. */
type KeySort =
  | 'errorCode'
  | 'errorMessage'
  | 'fileHash'
  | 'format'
  | 'path'
  | 'position'
  | 'random'
  | 'read'
  | 'series'
  | 'volume'

export type BookKey = {
  sort: BookColumnSort | KeySort
  direction: Direction
  /** Whose order `position` is. */
  readListId?: string | undefined
  /** The same order for the same seed, for `random`. */
  seed?: number | undefined
}

export type BookOrder = {
  /** What a search by `relevance` searches for. */
  search: SearchQuery | null
  sort: BookSort
  direction: Direction
  /** Instead of `sort`. */
  keys?: readonly BookKey[] | undefined
}

type Ordering = { joins: Fragment; by: Fragment }

/** On `book b`: nulls last in both directions, equal books by id. */
export function bookOrdering(sql: Queryable, viewer: Viewer, order: BookOrder): Ordering {
  const { search, sort, direction, keys } = order
  const way = directionOf(sql, direction)
  if (keys) return orderingByKeys(sql, viewer, keys)
  switch (sort) {
    case 'relevance':
      return {
        joins: sql`join book_search t on t.book_id = b.id`,
        by: sql`${matchRank(sql, search!)}, b.sort_key, b.id`,
      }
    // Books with progress by its time, then all others by title.
    case 'read':
      return {
        joins: sql`left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id`,
        by: sql`p.updated_at ${way} nulls last, p.book_id ${way}, b.sort_key, b.id`,
      }
    case 'series':
      return {
        joins: sql`join series s on s.id = b.series_id`,
        by: sql`s.sort_key ${way}, s.id ${way}, ${readingOrder(sql, 'b', direction)}`,
      }
    default:
      return { joins: sql``, by: bookOrderBy(sql, 'b', { sort, direction, reversed: false }) }
  }
}

function orderingByKeys(sql: Queryable, viewer: Viewer, keys: readonly BookKey[]): Ordering {
  const parts = keys.map(
    key => sql`${valueOfKey(sql, viewer, key)} ${directionOf(sql, key.direction)} nulls last`,
  )
  return {
    joins: sql`join series s on s.id = b.series_id`,
    by: sql`${commaList(sql, parts)}, b.id ${directionOf(sql, keys[0]!.direction)}`,
  }
}

const directionOf = (sql: Queryable, direction: Direction) =>
  direction === 'desc' ? sql`desc` : sql`asc`

function valueOfKey(sql: Queryable, viewer: Viewer, key: BookKey): Fragment {
  const { sort } = key
  if (Object.hasOwn(keyValues, sort)) return keyValues[sort as KeySort](sql, viewer, key)
  return sql`b.${sql(bookSortColumns[sort as BookColumnSort].column)}`
}

const keyValues: Record<KeySort, (sql: Queryable, viewer: Viewer, key: BookKey) => Fragment> = {
  errorCode: sql => sql`coalesce(b.error_code, '')`,
  errorMessage: sql => sql`coalesce(b.error_message, '')`,
  format: sql => sql`coalesce(b.format, '')`,
  fileHash: sql => sql`(select a.sha256 from book_artifact a where a.book_id = b.id)`,
  path: sql => sql`(
    select d.path || '/'::bytea from directory d where d.id = b.directory_id) || b.name`,
  position: (sql, _, { readListId }) => sql`(
    select m.position from read_list_book m
    where m.read_list_id = ${readListId ?? null}::uuid and m.book_id = b.id)`,
  read: (sql, { accountId }) => sql`(
    select p.updated_at from progress p where p.account_id = ${accountId} and p.book_id = b.id)`,
  random: (sql, _, { seed = 0 }) => sql`uuid_hash_extended(b.id, ${seed}::bigint)`,
  series: sql => sql`s.sort_key`,
  // Null for all books of a series, or for none.
  volume: sql => sql`b.volume_sort`,
}
