// Books that hold all words of a query, by relevance: the title is the query, begins with it, has it
// at the beginning of a word, has it anywhere; then those with the words elsewhere. What is ranked
// comes from the search rows alone.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, seesBook, type Viewer } from '../../auth/viewer.ts'
import { orderOf } from '../list/book-pages.ts'
import { type BookPlan, type BooksWanted, planBooks } from '../list/book-plan.ts'
import { every } from '../list/filter-sql.ts'
import type { BookSort, Direction } from '../list/sort.ts'
import { oneOff } from '../list/unprepared.ts'
import { firstHits, inRowOrder } from './search-first.ts'
import { rankOf } from './search-rank.ts'
import type { Query } from './search-text.ts'

type Asked = BooksWanted & {
  /** As it was written. */
  text: string
  query: Query
  sort?: BookSort | undefined
  direction?: Direction | undefined
  offset: number
  limit: number
  /** Where more books than this have the words, as many are listed (see `firstHits`). For an order by relevance. */
  most?: number | undefined
}

type Listed = { ids: string[]; total: number }

/** A page of the books that have all words and that the viewer may see, and how many there are. */
export async function searchBooks(sql: Sql, viewer: Viewer, asked: Asked): Promise<Listed> {
  const { query, text, sort = 'relevance', direction = 'asc', includeDeleted, most } = asked
  const isPlain = isUnrestricted(viewer) && !asked.filter && !asked.libraryId && !asked.seriesId
  // Where few are wanted, each is asked for: to work out what is seen of every series takes longer.
  const asksEach = most !== undefined && !asked.filter && !asked.seriesId && !includeDeleted
  const plan = isPlain || asksEach ? null : await planBooks(sql, viewer, asked)
  const matches = every(sql, [
    ...query.patterns.map(pattern => sql`t.text like ${pattern}`),
    ...(includeDeleted ? [] : [sql`t.is_present`]),
    ...(plan ? [listed(sql, plan, includeDeleted ?? false)] : []),
    ...(asksEach && !isPlain ? [isSeen(sql, viewer, asked.libraryId)] : []),
  ])
  const columns = sql`t.book_id, t.sort_key, ${sort === 'relevance' ? rankOf(sql, query) : sql`0`} as rank`
  const all = sql`hits as materialized (select ${columns} from book_search t where ${matches})`
  const hits = most ? firstHits(sql, { text, columns, matches, most }) : all
  const { joins, order } = ordering(sql, { sort, direction, accountId: viewer.accountId })
  const page = async (db: Sql) => {
    const [row] = await oneOff(db<Listed[]>`
      with ${plan ? sql`${plan.ctes},` : sql``} ${hits}
      select (select count(*) from hits)::float8 as total, array(
        select t.book_id from hits t ${joins}
        order by ${order}, t.book_id
        limit ${asked.limit} offset ${asked.offset}) as ids`)
    return row!
  }
  return await (most ? inRowOrder(sql, page) : page(sql))
}

/** On `book_search t`. */
function isSeen(sql: Sql, viewer: Viewer, libraryId: string | undefined): Fragment {
  return sql`(
    select true from book b join series s on s.id = b.series_id
    where b.id = t.book_id and ${seesBook(sql, viewer)}
      and ${libraryId ? sql`b.library_id = ${libraryId}` : sql`true`})`
}

/** On `book_search t`. */
function listed(sql: Sql, { exact, readsRow }: BookPlan, withMissing: boolean): Fragment {
  const isExact = readsRow
    ? sql`(select ${exact} from book b where b.id = t.book_id)`
    : sql`(select ${exact} from (select t.book_id as id, t.series_id) b)`
  if (withMissing) return sql`((t.series_id in (select id from facts)) is true and ${isExact})`
  return sql`((t.series_id in (select id from m where is_whole)) is true
    or ((t.series_id in (select id from m where not is_whole)) is true and ${isExact}))`
}

type Ordering = { sort: BookSort; direction: Direction; accountId: string }

function ordering(sql: Sql, { sort, direction, accountId }: Ordering) {
  const down = direction === 'desc' ? sql`desc` : sql`asc`
  const books = sql`join book b on b.id = t.book_id`
  switch (sort) {
    case 'relevance':
      return { joins: sql``, order: sql`t.rank, t.sort_key` }
    case 'title':
      return { joins: sql``, order: sql`t.sort_key ${down}` }
    case 'read':
      return {
        joins: sql`left join progress p on p.account_id = ${accountId} and p.book_id = t.book_id`,
        order: sql`p.updated_at ${down} nulls last, t.sort_key`,
      }
    case 'series':
      return {
        joins: sql`${books} join series s on s.id = b.series_id`,
        order: sql`s.sort_key ${down}, s.id ${down}, b.number_sort ${down} nulls last, t.sort_key ${down}`,
      }
    default:
      return { joins: books, order: orderOf(sql, 'b', { sort, direction, turned: false }) }
  }
}
