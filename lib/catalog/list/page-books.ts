// Pages and totals of planned book lists, sorted by a column of the books. Two strategies: sort the
// books of the matching series, or walk along the index of the sort order and skip what does not match.
import type { Fragment, Sql } from 'postgres'
import { presentBook } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { unprepared } from '../../postgres/statement.ts'
import { keyRange } from './key-range.ts'
import { type IdPage, idsInOrder, nearestEnd, type PageWindow } from './page.ts'
import type { BookPlan } from './plan/book-plan.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns, type Direction } from './sort.ts'

type Sorting = { sort: BookColumnSort; direction: Direction }
type Window = { offset: number; limit: number }

// Up to so many rows are always sorted. Beyond, sorting a row costs as much as walking six.
const maxAlwaysSorted = 20_000
const sortCost = 6
const maxHitsSorted = 10_000
/** Rows of a walk that are tested one by one rather than looked up in a set of all matches. */
const maxTestedRows = 60_000
/** Matching books may lie so much farther along the index than if they were spread evenly. */
const maxDetour = 4
const minWalked = 10_000
/** Rows that are skipped in the time in which the list is counted. */
const maxEarlyOffset = 5_000

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
  request: Sorting & Window,
): Promise<IdPage> {
  const isEarly = request.offset <= maxEarlyOffset && !plan.missing
  if (isEarly && !plan.planFarWalk) return await pageInOneStatement(sql, plan, request)
  const size = await measurePlan(sql, plan)
  return { total: size.total, ids: await pageOfMeasured(sql, { plan, size }, request) }
}

/**
 * `total`: books of the list; `missing`: those of them that are missing; `candidates`: books of the series
 * that have any; `hits`: books of the list among those that the plan collected.
 */
export type PlanSize = { total: number; missing: number; candidates: number; hits: number }

/** Adds up the counts of series; checks the books of undecided series one by one. */
export async function measurePlan(sql: Sql, plan: BookPlan): Promise<PlanSize> {
  const missing = plan.missing
    ? sql`(select count(*)::float8 from book b where ${plan.missing})`
    : sql`0::float8`
  const [row] = await unprepared(sql<PlanSize[]>`
    with ${plan.ctes}, size as (${selectSize(sql, plan)}), absent as (select ${missing} as missing)
    select total + missing as total, missing, candidates, hits from size, absent`)
  return row!
}

/** Of the present books. */
function selectSize(sql: Queryable, plan: BookPlan): Fragment {
  return sql`
    select (${plan.total ?? sumOfCounts(sql, plan)})::float8 as total,
      coalesce(sum(book_count), 0)::float8 as candidates,
      coalesce(sum(hit_count), 0)::float8 as hits
    from matched`
}

// Beyond this share of all series, one pass over all books costs less than looking up those of each series.
const maxLookupShare = 0.1

function sumOfCounts(sql: Queryable, plan: BookPlan): Fragment {
  const decided = sql`coalesce(sum(match_count) filter (where not is_undecided), 0)`
  if (!plan.readsRow && plan.hits) return decided
  return sql`
    ${decided} + case when count(*) filter (where is_undecided)
        <= ${maxLookupShare}::float8 * (select sum(series_count) from library)
      then (select count(*) from matched
        cross join lateral (
          select from book b
          where b.series_id = matched.id and ${presentBook(sql)} and ${plan.exact}
          offset 0) b
        where matched.is_undecided)
      else ${countInOnePass(sql, plan)} end`
}

/** The matching books of all undecided series; none is looked up where all series are. */
function countInOnePass(sql: Queryable, { exact, single }: BookPlan): Fragment {
  const isUndecided = (alias: string) =>
    sql`(${sql(alias)}.series_id in (select id from matched where is_undecided)) is true`
  if (!single)
    return sql`
      (select count(*) from book b where ${presentBook(sql)} and ${isUndecided('b')} and ${exact})`
  const rows = sql`
    case when count(*) filter (where is_undecided) = (select sum(series_count) from library)
      then (select count(*) from (${single.rows}) y)
      else (select count(*) from (${single.rows}) y where ${isUndecided('y')}) end`
  return single.isNegated ? sql`sum(book_count) filter (where is_undecided) - ${rows}` : rows
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
  const isCheap = (rows: Fragment, always: number) =>
    sql`(${rows} <= ${always} or ${rows} * ${sortCost} * total
      < ${offset + limit}::float8 * (select sum(book_count) from library))`
  const [row] = await unprepared(sql<IdPage[]>`
    with ${plan.ctes}, size as materialized (${selectSize(sql, plan)}),
    strategy as materialized (
      select total, hits = total and ${isCheap(sql`hits`, maxHitsSorted)} as "sortsHits",
        ${isCheap(sql`candidates`, maxAlwaysSorted)} as sorts
      from size
    )
    select total, case
      ${plan.hits ? sql`when "sortsHits" then array(select b.id from (${matchingHits(sql, plan, request)}) b order by ${orderBy('b')} ${window})` : sql``}
      when sorts then array(select b.id from (${matchingBooks(sql, plan, request)}) b order by ${orderBy('b')} ${window})
      else array(
        select ${w}.id from book ${w}
        where ${presentBook(sql, alias)} and ${isMatching(sql, plan, alias)}
          and ${keyRange(sql, plan, request.sort, alias)}
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
  const { total, missing, candidates, hits } = size
  if (request.offset >= total) return []
  const walkedRows = await walkLength(sql, size, request)
  const isCheap = (rows: number, always: number) => rows <= always || rows * sortCost < walkedRows
  const sortsHits = plan.hits && hits === total - missing && isCheap(hits, maxHitsSorted)
  if (sortsHits || isCheap(candidates, maxAlwaysSorted))
    return await sortMatching(sql, sortsHits ? matchingHits : matchingBooks, plan, {
      ...request,
      total,
    })
  const { planFarWalk } = plan
  if (planFarWalk && walkedRows <= maxTestedRows && !plan.missing) {
    const maxRows = Math.ceil(walkedRows * maxDetour) + minWalked
    const ids = await walkIndex(sql, plan, { ...request, total, maxRows })
    if (ids.length === Math.min(request.limit, total - request.offset)) return ids
  }
  const isFar = planFarWalk && (walkedRows > maxTestedRows || !plan.missing)
  return await walkIndex(sql, isFar ? await planFarWalk() : plan, { ...request, total })
}

/** Rows of a sort index that are read to reach a page, if the matching ones are spread evenly. */
async function walkLength(sql: Sql, { total }: PlanSize, { offset, limit }: Window) {
  const rowsToReach = Math.min(offset, Math.max(total - offset, 0)) + Math.min(limit, total)
  return (rowsToReach * (await countPresentBooks(sql))) / Math.max(total, 1)
}

async function sortMatching(
  sql: Sql,
  select: typeof matchingBooks,
  plan: BookPlan,
  request: Sorting & PageWindow,
) {
  const { skip, take, reversed } = nearestEnd(request)
  if (take === 0) return []
  const missing = plan.missing
    ? sql`union all select b.id, ${sortColumn(sql, request)} from book b where ${plan.missing}`
    : sql``
  const rows = await unprepared(sql<{ id: string }[]>`
    with ${plan.ctes}
    select b.id from (${select(sql, plan, request)} ${missing}) b
    order by ${bookOrderBy(sql, 'b', { ...request, reversed })}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

/** The matching books among those that the plan collected; looked up one by one. */
function matchingHits(sql: Queryable, { hits, exact }: BookPlan, sorting: Sorting): Fragment {
  const columns = sql`b.id, ${sortColumn(sql, sorting)}`
  return sql`
    select ${columns} from (${hits ?? sql`select null::uuid as id`}) h
    cross join lateral (
      select ${columns} from book b
      where b.id = h.id and (b.series_id in (select id from matched)) is true and ${exact}
      offset 0) b`
}

function matchingBooks(sql: Queryable, { exact }: BookPlan, sorting: Sorting): Fragment {
  const columns = sql`b.id, ${sortColumn(sql, sorting)}`
  return sql`
    select ${columns} from matched
    cross join lateral (
      select ${columns} from book b
      where b.series_id = matched.id and ${presentBook(sql)} and (matched.is_complete or ${exact})
      offset 0) b`
}

/**
 * Reads the index of the sort order from the nearer end. Without a plan it lists all present books. With
 * `maxRows` it reads no more rows, and may find fewer books than there are.
 */
async function walkIndex(
  sql: Sql,
  plan: BookPlan | null,
  request: Sorting & PageWindow & { maxRows?: number },
): Promise<string[]> {
  const { skip, take, reversed } = nearestEnd(request)
  if (take === 0) return []
  const alias = plan?.readsRow ? 'w' : 'b'
  const w = sql(alias)
  const orderBy = (of: string) => bookOrderBy(sql, of, { ...request, reversed })
  const isInRange = plan ? keyRange(sql, plan, request.sort, alias) : sql`true`
  const isMatch = plan ? isMatching(sql, plan, alias) : sql`true`
  const columns = sql`id, ${sql(bookSortColumns[request.sort].column)}`
  const walked = sql`select ${w}.* from book ${w} where ${presentBook(sql, alias)} and ${isInRange}`
  const present =
    request.maxRows === undefined
      ? sql`${walked} and ${isMatch}`
      : sql`
          select ${w}.* from (${walked} order by ${orderBy(alias)} limit ${request.maxRows}) ${w}
          where ${isMatch}`
  const missing = plan?.missing && sql`select b.* from book b where ${plan.missing}`
  const rows = await unprepared(sql<{ id: string }[]>`
    ${plan ? sql`with ${plan.ctes}` : sql``}
    select ${w}.id
    from (${
      missing
        ? // Each in order, so that they are merged and not sorted.
          sql`
            (select ${columns} from (${present}) x order by ${orderBy('x')})
            union all (select ${columns} from (${missing}) x order by ${orderBy('x')})`
        : present
    }) ${w}
    order by ${orderBy(alias)}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

const sortColumn = (sql: Queryable, { sort }: Sorting) =>
  sql`b.${sql(bookSortColumns[sort].column)}`

/** Uses only columns that every sort index includes; a book row is read only where its series is not decided by sets. */
export function isMatching(
  sql: Queryable,
  { exact, readsRow, hits }: BookPlan,
  alias: 'w' | 'b',
): Fragment {
  const isExact = readsRow ? sql`(select ${exact} from book b where b.id = w.id)` : exact
  const series = sql`${sql(alias)}.series_id`
  if (hits) return sql`((${series} in (select id from matched)) is true and ${isExact})`
  return sql`((${series} in (select id from matched where is_complete)) is true
    or ((${series} in (select id from matched where not is_complete)) is true and ${isExact}))`
}
