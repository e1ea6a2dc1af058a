// Books in orders that have no index: by several keys, by path, file hash or state. All books of the list are
// sorted, and each is ordered by its id last.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { commaList, unprepared } from '../../postgres/statement.ts'
import { countOf, membersOf } from './bitmaps/bitmap.ts'
import { bookIndexOf } from './bitmaps/books/book-index.ts'
import { idAt } from './bitmaps/id-table.ts'
import type { Condition } from './condition.ts'
import type { IdPage } from './page.ts'
import { measurePlan, type PlanSize } from './page-books.ts'
import { type BookListFilter, type BookPlan, planBooks } from './plan/book-plan.ts'
import { type BookColumnSort, bookSortColumns, type Direction } from './sort.ts'

type KeyedSort =
  | BookColumnSort
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
  sort: KeyedSort
  direction: Direction
  /** Whose order `position` is. */
  readListId?: string | undefined
  /** Of `random`: the same order for the same seed. */
  seed?: number | undefined
}

type KeyedRequest = BookListFilter & {
  keys: readonly BookKey[]
  text: string
  offset: number
  limit: number
}

/** Ids of one page, and the number on all pages. */
export async function listBooksByKeys(
  sql: Sql,
  viewer: Viewer,
  { keys, text, offset, limit, ...request }: KeyedRequest,
): Promise<IdPage> {
  const order = keys.map(key => {
    const { value, isNullable = false } = keyOf(sql, viewer, key)
    const nulls = isNullable ? sql`nulls last` : sql``
    return sql`${value} ${key.direction === 'desc' ? sql`desc` : sql`asc`} ${nulls}`
  })
  const pageOf = (books: Fragment) => sql`
    select b.id from (${books}) m
    join book b on b.id = m.id
    join series s on s.id = b.series_id
    order by ${commaList(sql, order)}, b.id ${keys[0]?.direction === 'desc' ? sql`desc` : sql`asc`}
    limit ${limit} offset ${offset}`
  const few = await fewBooks(sql, viewer, { ...request, text })
  if (few) {
    const rows = await sql<{ id: string }[]>`
      ${pageOf(sql`select m.id from unnest(${few}::uuid[]) as m(id)`)}`
    return { ids: rows.map(row => row.id), total: few.length }
  }
  const filter = { of: 'book' as const, condition: withText(request.filter?.condition, text) }
  const plan = await planBooks(sql, viewer, { ...request, filter })
  const size = await measurePlan(sql, plan)
  const { total } = size
  if (offset >= total) return { ids: [], total }
  const rows = await unprepared(sql<{ id: string }[]>`
    with ${plan.ctes} ${pageOf(listed(sql, plan, size))}`)
  return { ids: rows.map(row => row.id), total }
}

const maxFew = 20_000

/** The ids of a list of few books from the index in memory; null without one, or for more books. */
async function fewBooks(
  sql: Sql,
  viewer: Viewer,
  { text, filter, libraryId, seriesId, includeDeleted }: BookListFilter & { text: string },
): Promise<string[] | null> {
  if (seriesId) return null
  const order = { sort: 'title', direction: 'asc', offset: 0, limit: 0 } as const
  const scope = { text: text.trim() ? text : null, filter, libraryId, includeDeleted }
  const known = await bookIndexOf(sql).matching(sql, viewer, { ...order, ...scope })
  if (!known || countOf(known.rows) > maxFew) return null
  return Array.from(membersOf(known.rows), book => idAt(known.table.rows, book))
}

function withText(condition: Condition = { all: [] }, text: string): Condition {
  if (!text.trim()) return condition
  const test = { kind: 'text', operator: 'contains', value: text } as const
  return { all: [condition, { field: 'text', test, negated: false }] }
}

/** Ids of the listed books: of those that the plan collected, if they are all, or series by series. */
function listed(sql: Queryable, plan: BookPlan, { total, missing, hits }: PlanSize): Fragment {
  const absent = plan.missing ? sql`union all select b.id from book b where ${plan.missing}` : sql``
  if (plan.hits && hits === total - missing)
    return sql`
      select b.id from (${plan.hits}) h
      cross join lateral (
        select b.id from book b
        where b.id = h.id and (b.series_id in (select id from matched)) is true and ${plan.exact}
        offset 0) b ${absent}`
  return sql`
    select b.id from matched
    cross join lateral (
      select b.id from book b
      where b.series_id = matched.id and ${presentBook(sql)}
        and (matched.is_complete or ${plan.exact})
      offset 0) b ${absent}`
}

/** An expression over `book b` and `series s`. */
function keyOf(
  sql: Queryable,
  { accountId }: Viewer,
  { sort, readListId, seed = 0 }: BookKey,
): { value: Fragment; isNullable?: boolean } {
  switch (sort) {
    case 'errorCode':
      return { value: sql`coalesce(b.error_code, '')` }
    case 'errorMessage':
      return { value: sql`coalesce(b.error_message, '')` }
    case 'format':
      return { value: sql`coalesce(b.format, '')` }
    case 'fileHash':
      return {
        value: sql`(select a.sha256 from book_artifact a where a.book_id = b.id)`,
        isNullable: true,
      }
    case 'path':
      return {
        value: sql`(
          select d.path || '/'::bytea from directory d where d.id = b.directory_id) || b.name`,
      }
    case 'position':
      return {
        value: sql`(
          select m.position from read_list_book m
          where m.read_list_id = ${readListId ?? null}::uuid and m.book_id = b.id)`,
        isNullable: true,
      }
    case 'read':
      return {
        value: sql`(
          select p.updated_at from progress p
          where p.account_id = ${accountId} and p.book_id = b.id)`,
        isNullable: true,
      }
    case 'random':
      return { value: sql`uuid_hash_extended(b.id, ${seed}::bigint)` }
    case 'series':
      return { value: sql`s.sort_key` }
    // Null for all books of a series, or for none.
    case 'volume':
      return { value: sql`b.volume_sort`, isNullable: true }
    default: {
      const { column, nullable } = bookSortColumns[sort]
      return { value: sql`b.${sql(column)}`, isNullable: nullable }
    }
  }
}
