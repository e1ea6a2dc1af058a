// Full-text search for books that contain all words, by relevance: the title is the query, starts with
// it, has it at the start of a word, has it anywhere; then books with the words in other texts. Ranked
// from the search rows alone.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import { sortKey } from '../../name/natural.ts'
import type { SearchQuery } from '../../name/search-text.ts'
import type { Queryable } from '../../postgres/db.ts'
import { allOf, unprepared } from '../../postgres/statement.ts'
import { readingOrder } from '../derived/reading-order.ts'
import type { IdPage } from './page.ts'
import { type BookListFilter, type BookPlan, planBooks } from './plan/book-plan.ts'
import { matchesQuery, matchRank } from './plan/search-match.ts'
import { type BookSort, bookOrderBy, type Direction } from './sort.ts'

type SearchRequest = BookListFilter & {
  /** The query as entered. */
  text: string
  search: SearchQuery
  sort?: BookSort | undefined
  direction?: Direction | undefined
  offset: number
  limit: number
  /** The most books that are listed (see `cappedHits`); for an order by relevance. */
  maxResults?: number | undefined
}

/** A page of the visible books that contain all words, and the number on all pages. */
export async function searchBooks(
  sql: Sql,
  viewer: Viewer,
  request: SearchRequest,
): Promise<IdPage> {
  const { filter, libraryId, seriesId, includeDeleted, maxResults } = request
  const { search, text, sort = 'relevance', direction = 'asc' } = request
  const isUnfiltered = isUnrestricted(viewer) && !filter && !libraryId && !seriesId
  // For few results, checking each hit is cheaper than planning which books of every series are visible.
  const checksEach = maxResults !== undefined && !filter && !seriesId && !includeDeleted
  const plan = isUnfiltered || checksEach ? null : await planBooks(sql, viewer, request)
  const matches = allOf(sql, [
    matchesQuery(sql, search),
    ...(includeDeleted ? [] : [sql`t.is_present`]),
    ...(plan ? [isListed(sql, plan)] : []),
    ...(checksEach && !isUnfiltered ? [isVisible(sql, viewer, libraryId)] : []),
  ])
  if (maxResults)
    return await inHeapOrder(sql, async tx => {
      const hits = cappedHits(tx, { text, search, matches, maxResults })
      const [row] = await unprepared(tx<IdPage[]>`
        with ${plan ? sql`${plan.ctes},` : sql``} ${hits}
        select (select count(*) from hits)::float8 as total, array(
          select book_id from hits order by rank, sort_key, book_id
          limit ${request.limit} offset ${request.offset}) as ids`)
      return row!
    })
  const ids =
    sort === 'relevance'
      ? pageByRank(sql, request)
      : pageBySort(sql, { ...request, sort, direction, matches }, viewer.accountId)
  const rank = sort === 'relevance' ? matchRank(sql, search) : sql`0`
  const [row] = await unprepared(sql<IdPage[]>`
    with ${plan ? sql`${plan.ctes},` : sql``} hits as materialized (
      select t.book_id, t.sort_key, (${rank})::smallint as rank
      from book_search t where ${matches}
    ), tier as materialized (
      select rank, count(*)::float8 as n, (sum(count(*)) over (order by rank) - count(*))::float8 as before
      from hits group by rank
    )
    select coalesce((select sum(n) from tier), 0) as total, ${ids} as ids`)
  return row!
}

type Window = { offset: number; limit: number }

/** Over `hits` and `tier`: only the hits of the ranks on the page are sorted. */
function pageByRank(sql: Queryable, { offset, limit }: Window): Fragment {
  const shown = sql`from tier where before < ${offset + limit}::float8 and before + n > ${offset}::float8`
  return sql`array(
    select book_id from hits
    where rank in (select rank ${shown})
    order by rank, sort_key, book_id
    limit ${limit} offset ${offset}::float8 - (select min(before) ${shown}))`
}

type SortedHits = Window & {
  sort: Exclude<BookSort, 'relevance'>
  direction: Direction
  includeDeleted?: boolean | undefined
  /** On `book_search t`. */
  matches: Fragment
}

/** Over `hits` and `tier`: the hits sorted, or of many the first that a walk along the sort order meets. */
function pageBySort(sql: Queryable, request: SortedHits, accountId: string): Fragment {
  const { sort, direction, includeDeleted, matches, offset, limit } = request
  const { joins, orderBy } = ordering(sql, { sort, direction, accountId })
  const window = sql`limit ${limit} offset ${offset}`
  const sorted = sql`array(
    select t.book_id from hits t ${joins}
    order by ${orderBy}, t.book_id ${window})`
  if (sort === 'read' || sort === 'series' || includeDeleted) return sorted
  // Of N books n are hits: a walk reads N / n books for each book of the page.
  const toWalk = sql`${offset + limit}::float8 * (select sum(book_count) from library)`
  return sql`case
    when (select ${toWalk} < n * n from tier)
    then array(
      select b.id from book b
      where ${presentBook(sql)}
        and (select true from book_search t where t.book_id = b.id and ${matches})
      order by ${bookOrderBy(sql, 'b', { sort, direction, reversed: false })} ${window})
    else ${sorted} end`
}

/** On `book_search t`. */
function isVisible(sql: Queryable, viewer: Viewer, libraryId: string | undefined): Fragment {
  return sql`(
    select true from book b join series s on s.id = b.series_id
    where b.id = t.book_id and ${visibleBook(sql, viewer)}
      and ${libraryId ? sql`b.library_id = ${libraryId}` : sql`true`})`
}

/** On `book_search t`. */
function isListed(sql: Queryable, { exact, readsRow, missing }: BookPlan): Fragment {
  const isExact = readsRow
    ? sql`(select ${exact} from book b where b.id = t.book_id)`
    : sql`(select ${exact} from (select t.book_id as id, t.series_id) b)`
  const isPresent = sql`((t.series_id in (select id from matched where is_complete)) is true
    or ((t.series_id in (select id from matched where not is_complete)) is true and ${isExact}))`
  if (!missing) return isPresent
  return sql`case when t.is_present then ${isPresent}
    else (select ${missing} from book b where b.id = t.book_id) end`
}

// Some of the title matches are hidden or in other libraries, so more are read than listed.
const titleOverread = 5

type CappedSearch = {
  text: string
  search: SearchQuery
  /** On `book_search t`. */
  matches: Fragment
  maxResults: number
}

/**
 * The expression `hits`, to follow `with`: all matches, or `maxResults` of them. Ranking a word that half
 * of a million books contain takes a second, and so many results are never read: the first matches in heap
 * order are taken, and the books whose titles start with the query. To be run by `inHeapOrder`.
 */
function cappedHits(sql: Queryable, { text, search, matches, maxResults }: CappedSearch): Fragment {
  const columns = sql`t.book_id, t.sort_key, ${matchRank(sql, search)} as rank`
  const key = sortKey(text.trim())
  return sql`
    first as materialized (
      select ${columns} from book_search t where ${matches} limit ${maxResults}),
    titled as materialized (
      select ${columns}
      from (
        select b.id from book b
        where ${presentBook(sql)} and b.sort_key >= ${key} and b.sort_key < ${`${key}\u{10ffff}`}
        order by b.sort_key, b.id
        limit ${maxResults * titleOverread}) b
      join book_search t on t.book_id = b.id
      where (select count(*) from first) = ${maxResults} and ${matches}
      limit ${maxResults}
    ), hits as materialized (
      select * from (select * from first union select * from titled) t
      order by t.rank, t.sort_key, t.book_id
      limit ${maxResults}
    )`
}

/** Runs a statement whose sequential scans read rows in heap order, so that a limit takes the same rows each time. */
async function inHeapOrder<T>(sql: Sql, run: (tx: Sql) => Promise<T>): Promise<T> {
  const { result } = await sql.begin(async tx => {
    await tx`
      select set_config('max_parallel_workers_per_gather', '0', true),
        set_config('synchronize_seqscans', 'off', true)`
    return { result: await run(tx as unknown as Sql) }
  })
  return result
}

type Ordering = { sort: Exclude<BookSort, 'relevance'>; direction: Direction; accountId: string }

function ordering(
  sql: Queryable,
  { sort, direction, accountId }: Ordering,
): { joins: Fragment; orderBy: Fragment } {
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const books = sql`join book b on b.id = t.book_id`
  switch (sort) {
    case 'title':
      return { joins: sql``, orderBy: sql`t.sort_key ${order}, t.book_id ${order}` }
    case 'read':
      return {
        joins: sql`left join progress p on p.account_id = ${accountId} and p.book_id = t.book_id`,
        orderBy: sql`p.updated_at ${order} nulls last, p.book_id ${order}, t.sort_key`,
      }
    case 'series':
      return {
        joins: sql`${books} join series s on s.id = b.series_id`,
        orderBy: sql`s.sort_key ${order}, s.id ${order}, ${readingOrder(sql, 'b', direction)}`,
      }
    default:
      return {
        joins: books,
        orderBy: bookOrderBy(sql, 'b', { sort, direction, reversed: false }),
      }
  }
}
