// Pages and totals of planned book lists, sorted by a column of the books. Two strategies: sort the
// books of the matching series, or walk along the index of the sort order and skip what does not match.
import type { Fragment, Sql } from 'postgres'
import { presentBook } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { unprepared } from '../../postgres/statement.ts'
import { type IdPage, idsInOrder, nearestEnd, type PageWindow } from './page.ts'
import type { BookPlan } from './plan/book-plan.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns, type Direction } from './sort.ts'

type Sorting = { sort: BookColumnSort; direction: Direction }
type Window = { offset: number; limit: number }

// Up to so many rows are always sorted. Beyond, sorting a row costs as much as walking six.
const maxAlwaysSorted = 20_000
const sortCost = 6
/** Rows that are skipped in the time in which the list is counted. */
const maxCheapOffset = 5_000

/** The number of all present books. */
export async function countPresentBooks(sql: Sql): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count), 0)::float8 as total from library`
  return row!.total
}

/** A page of all present books: no plan, because nothing is filtered or hidden. */
export async function pageAllBooks(sql: Sql, request: Sorting & Window): Promise<IdPage> {
  const total = await countPresentBooks(sql)
  return { total, ids: await walkIndex(sql, null, { ...request, total }) }
}

/** A page of a planned list and the size of the list. */
export async function pagePlannedBooks(
  sql: Sql,
  plan: BookPlan,
  request: Sorting & Window & { includeDeleted?: boolean | undefined },
): Promise<IdPage> {
  if (request.includeDeleted) {
    const { total } = await measurePlan(sql, plan, { withMissing: true })
    return { total, ids: await walkIndex(sql, plan, { ...request, total, withMissing: true }) }
  }
  if (request.offset <= maxCheapOffset) return await pageInOneStatement(sql, plan, request)
  const size = await measurePlan(sql, plan)
  return { total: size.total, ids: await pageOfMeasured(sql, { plan, size }, request) }
}

/** `total`: books of the list; `candidates`: books of the series that have any. */
export type PlanSize = { total: number; candidates: number }

/** Adds up the counts of series; checks the books of undecided series one by one. */
export async function measurePlan(
  sql: Sql,
  plan: BookPlan,
  { withMissing = false } = {},
): Promise<PlanSize> {
  const [row] = await unprepared(
    sql<PlanSize[]>`with ${plan.ctes} ${selectSize(sql, plan, withMissing)}`,
  )
  return row!
}

function selectSize(sql: Queryable, plan: BookPlan, withMissing: boolean): Fragment {
  const missing = withMissing
    ? sql`+ (select count(*) from book b where ${isMatchingMissing(sql, plan)})`
    : sql``
  return sql`
    select (${plan.total ?? sumOfCounts(sql, plan)} ${missing})::float8 as total,
      coalesce(sum(book_count), 0)::float8 as candidates
    from matched`
}

function sumOfCounts(sql: Queryable, { exact }: BookPlan): Fragment {
  return sql`
    coalesce(sum(match_count) filter (where not is_undecided), 0)
    + (select count(*) from matched
      cross join lateral (
        select from book b
        where b.series_id = matched.id and ${presentBook(sql)} and ${exact}
        offset 0) b
      where matched.is_undecided)`
}

function isMatchingMissing(sql: Queryable, { exact }: BookPlan): Fragment {
  return sql`b.missing_at is not null and (b.series_id in (select id from scope)) is true and ${exact}`
}

/** Computes the matching series once for both the page and the total, and chooses the strategy in SQL. */
async function pageInOneStatement(
  sql: Sql,
  plan: BookPlan,
  request: Sorting & Window,
): Promise<IdPage> {
  const { offset, limit } = request
  const window = sql`limit ${limit} offset ${offset}`
  const orderBy = (alias: string) => bookOrderBy(sql, alias, { ...request, reversed: false })
  const alias = plan.readsRow ? 'w' : 'b'
  const w = sql(alias)
  const [row] = await unprepared(sql<IdPage[]>`
    with ${plan.ctes}, size as materialized (${selectSize(sql, plan, false)}),
    strategy as materialized (
      select total, candidates <= ${maxAlwaysSorted} or candidates * ${sortCost} * total
        < ${offset + limit}::float8 * (select sum(book_count) from library) as sorts
      from size
    )
    select total, case
      when sorts then array(${matchingBooks(sql, plan, request)} order by ${orderBy('b')} ${window})
      else array(
        select ${w}.id from book ${w}
        where ${presentBook(sql, alias)} and ${isMatching(sql, plan, alias)}
        order by ${orderBy(alias)} ${window})
      end as ids
    from strategy`)
  return row!
}

/** Ids of a page of a list that is measured, by the cheaper strategy. */
export async function pageOfMeasured(
  sql: Sql,
  { plan, size }: { plan: BookPlan; size: PlanSize },
  request: Sorting & Window,
): Promise<string[]> {
  const { total, candidates } = size
  const bookCount = await countPresentBooks(sql)
  const rowsToReach = Math.min(request.offset, Math.max(total - request.offset, 0)) + request.limit
  const walkedRows = (rowsToReach * bookCount) / Math.max(total, 1)
  const sorts = candidates <= maxAlwaysSorted || candidates * sortCost < walkedRows
  return await (sorts ? sortMatching : walkIndex)(sql, plan, { ...request, total })
}

async function sortMatching(sql: Sql, plan: BookPlan, request: Sorting & PageWindow) {
  const { skip, take, reversed } = nearestEnd(request)
  if (take === 0) return []
  const rows = await unprepared(sql<{ id: string }[]>`
    with ${plan.ctes}
    ${matchingBooks(sql, plan, request)}
    order by ${bookOrderBy(sql, 'b', { ...request, reversed })}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

function matchingBooks(sql: Queryable, { exact }: BookPlan, { sort }: Sorting): Fragment {
  return sql`
    select b.id from matched
    cross join lateral (
      select b.id, b.${sql(bookSortColumns[sort].column)} from book b
      where b.series_id = matched.id and ${presentBook(sql)} and (matched.is_complete or ${exact})
      offset 0) b`
}

/** Reads the index of the sort order from the nearer end. Without a plan it lists all present books. */
async function walkIndex(
  sql: Sql,
  plan: BookPlan | null,
  request: Sorting & PageWindow & { withMissing?: boolean },
): Promise<string[]> {
  const { skip, take, reversed } = nearestEnd(request)
  if (take === 0) return []
  const alias = plan?.readsRow ? 'w' : 'b'
  const w = sql(alias)
  const matches = plan ? sql`and ${isMatching(sql, plan, alias)}` : sql``
  const columns = sql`id, ${sql(bookSortColumns[request.sort].column)}`
  const present = sql`select ${w}.* from book ${w} where ${presentBook(sql, alias)} ${matches}`
  const missing = sql`select b.* from book b where ${plan ? isMatchingMissing(sql, plan) : sql`false`}`
  const rows = await unprepared(sql<{ id: string }[]>`
    ${plan ? sql`with ${plan.ctes}` : sql``}
    select ${w}.id
    from (${
      request.withMissing
        ? sql`select ${columns} from (${present}) x union all select ${columns} from (${missing}) x`
        : present
    }) ${w}
    order by ${bookOrderBy(sql, alias, { ...request, reversed })}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

/** Uses only columns that every sort index includes; a book row is read only where its series is not decided by sets. */
export function isMatching(
  sql: Queryable,
  { exact, readsRow }: BookPlan,
  alias: 'w' | 'b',
): Fragment {
  const isExact = readsRow ? sql`(select ${exact} from book b where b.id = w.id)` : exact
  const series = sql`${sql(alias)}.series_id`
  return sql`((${series} in (select id from matched where is_complete)) is true
    or ((${series} in (select id from matched where not is_complete)) is true and ${isExact}))`
}
