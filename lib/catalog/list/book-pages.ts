// Pages of books in an order of their own columns, and how many books there are.
import type { Fragment, Sql } from 'postgres'
import type { BookPlan } from './book-plan.ts'
import type { Direction } from './sort.ts'
import { oneOff } from './unprepared.ts'

/** Where a page lies in its list. */
export type Window = { offset: number; limit: number; total: number }
/** All present books. */
export async function countAll(sql: Sql): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count), 0)::float8 as total from library`
  return row!.total
}

export type Size = { total: number; candidates: number }

/** Counts from the counters of series; the books of undecided series one by one. */
export async function measure(sql: Sql, plan: BookPlan, withMissing: boolean): Promise<Size> {
  const [row] = await oneOff(sql<Size[]>`with ${plan.ctes} ${sizeOf(sql, plan, withMissing)}`)
  return row!
}

function sizeOf(sql: Sql, plan: BookPlan, withMissing: boolean): Fragment {
  const missing = withMissing
    ? sql`+ (select count(*) from book b where ${isMissing(sql, plan)})`
    : sql``
  return sql`
    select (${plan.total ?? added(sql, plan)} ${missing})::float8 as total,
      coalesce(sum(book_count), 0)::float8 as candidates
    from m`
}

/** What `m` says of each series, and what the books of the undecided ones say. */
function added(sql: Sql, { exact }: BookPlan): Fragment {
  return sql`
    coalesce(sum(n) filter (where not is_open), 0)
    + (select count(*) from m
      cross join lateral (
        select from book b
        where b.series_id = m.id and b.missing_at is null and ${exact}
        offset 0) b
      where m.is_open)`
}

/** A missing book of the list, in the series that the list looks into. */
function isMissing(sql: Sql, { exact }: BookPlan): Fragment {
  return sql`b.missing_at is not null and (b.series_id in (select id from facts)) is true and ${exact}`
}

export type Ordered = { sort: keyof typeof keys; direction: Direction }
type Place = { offset: number; limit: number }

// Above this many rows sorting costs more than a walk along the index of the order.
const mostGathered = 20_000
/** What one gathered row costs in rows walked. */
const gatheringCost = 6
/** Rows that are skipped as fast as they are counted. */
const mostSkipped = 5_000

/** A page in an order of books' own columns and the size of its list. */
export async function listPlanned(
  sql: Sql,
  plan: BookPlan,
  asked: Ordered & Place & { includeDeleted?: boolean | undefined },
): Promise<{ ids: string[]; total: number }> {
  if (asked.includeDeleted) {
    const { total } = await measure(sql, plan, true)
    return { total, ids: await walk(sql, plan, { ...asked, total }, true) }
  }
  if (asked.offset <= mostSkipped) return await firstPage(sql, plan, asked)
  const size = await measure(sql, plan, false)
  return {
    total: size.total,
    ids: await pageOf(sql, { plan, size }, { ...asked, total: size.total }),
  }
}

/** Page and size by one statement, which works out the series of the list once. */
async function firstPage(sql: Sql, plan: BookPlan, asked: Ordered & Place) {
  const { offset, limit } = asked
  const place = sql`limit ${limit} offset ${offset}`
  const order = orderOf(sql, 'b', { ...asked, turned: false })
  const w = plan.readsRow ? 'w' : 'b'
  const [row] = await oneOff(sql<{ ids: string[]; total: number }[]>`
    with ${plan.ctes}, size as materialized (${sizeOf(sql, plan, false)}),
    way as materialized (
      select total, candidates <= ${mostGathered} or candidates * ${gatheringCost} * total
        < ${offset + limit}::float8 * (select sum(book_count) from library) as gathers
      from size
    )
    select total, case
      when gathers then array(${gathered(sql, plan, asked)} order by ${order} ${place})
      else array(
        select ${sql(w)}.id from book ${sql(w)}
        where ${sql(w)}.missing_at is null and ${isListed(sql, plan, w)}
        order by ${orderOf(sql, w, { ...asked, turned: false })} ${place})
      end as ids
    from way`)
  return row!
}

/** A page of a list whose size is known, by the cheaper of two ways. */
export async function pageOf(
  sql: Sql,
  { plan, size }: { plan: BookPlan; size: Size },
  asked: Ordered & Window,
): Promise<string[]> {
  const all = await countAll(sql)
  const near = Math.min(asked.offset, Math.max(size.total - asked.offset, 0)) + asked.limit
  const walked = (near * all) / Math.max(size.total, 1)
  const gathers = size.candidates <= mostGathered || size.candidates * gatheringCost < walked
  return await (gathers ? gather(sql, plan, asked) : walk(sql, plan, asked))
}

/** Reads the books of the list's series and sorts them. */
async function gather(sql: Sql, plan: BookPlan, asked: Ordered & Window) {
  const { skip, take, turned } = nearer(asked)
  if (take === 0) return []
  const rows = await oneOff(sql<{ id: string }[]>`
    with ${plan.ctes}
    ${gathered(sql, plan, asked)}
    order by ${orderOf(sql, 'b', { ...asked, turned })}
    limit ${take} offset ${skip}`)
  return inOrder(rows, turned)
}

function gathered(sql: Sql, { exact }: BookPlan, { sort }: Ordered): Fragment {
  return sql`
    select b.id from m
    cross join lateral (
      select b.id, b.${sql(keys[sort].column)} from book b
      where b.series_id = m.id and b.missing_at is null and (m.is_whole or ${exact})
      offset 0) b`
}

/** Walks along the index of the order, from the end that is nearer. Without a plan all present books are listed. */
export async function walk(
  sql: Sql,
  plan: BookPlan | null,
  asked: Ordered & Window,
  withMissing = false,
): Promise<string[]> {
  const { skip, take, turned } = nearer(asked)
  if (take === 0) return []
  const alias = plan?.readsRow ? 'w' : 'b'
  const w = sql(alias)
  const order = orderOf(sql, alias, { ...asked, turned })
  const belongs = plan ? sql`and ${isListed(sql, plan, alias)}` : sql``
  const columns = sql`id, ${sql(keys[asked.sort].column)}`
  const present = sql`select ${w}.* from book ${w} where ${w}.missing_at is null ${belongs}`
  const missing = sql`select b.* from book b where ${plan ? isMissing(sql, plan) : sql`false`}`
  const rows = await oneOff(sql<{ id: string }[]>`
    ${plan ? sql`with ${plan.ctes}` : sql``}
    select ${w}.id
    from (${
      withMissing
        ? sql`select ${columns} from (${present}) x union all select ${columns} from (${missing}) x`
        : present
    }) ${w}
    order by ${order}
    limit ${take} offset ${skip}`)
  return inOrder(rows, turned)
}

/** From columns that all indexes of orders have; a book's row is read only where its series cannot tell. */
export function isListed(sql: Sql, { exact, readsRow }: BookPlan, alias: 'w' | 'b'): Fragment {
  const tells = readsRow ? sql`(select ${exact} from book b where b.id = w.id)` : exact
  return sql`((${sql(alias)}.series_id in (select id from m where is_whole)) is true
    or ((${sql(alias)}.series_id in (select id from m where not is_whole)) is true and ${tells}))`
}

const keys = {
  title: { column: 'sort_key', nullable: false },
  number: { column: 'number_sort', nullable: true },
  created: { column: 'created_at', nullable: false },
  updated: { column: 'updated_at', nullable: false },
  // Of the file, where the other two are of the row.
  modified: { column: 'modified_ms', nullable: false },
  released: { column: 'released', nullable: true },
  size: { column: 'size', nullable: false },
  pages: { column: 'page_count', nullable: false },
  filename: { column: 'name_key', nullable: false },
} as const

/** Nulls last both ways, the id as last key. `turned`: from the end. */
export function orderOf(
  sql: Sql,
  alias: string,
  { sort, direction, turned }: Ordered & { turned: boolean },
): Fragment {
  const { column, nullable } = keys[sort]
  const key = sql`${sql(alias)}.${sql(column)}`
  const down = (direction === 'desc') !== turned
  const nulls = nullable ? (turned ? sql`nulls first` : sql`nulls last`) : sql``
  return down
    ? sql`${key} desc ${nulls}, ${sql(alias)}.id desc`
    : sql`${key} ${nulls}, ${sql(alias)}.id`
}

/** Skipping is what costs, so a page of the second half is read from the end, backwards. */
export function nearer({ offset, limit, total }: Window) {
  const take = Math.max(Math.min(limit, total - offset), 0)
  const turned = offset > total / 2
  return { take, turned, skip: turned ? total - offset - take : offset }
}

export function inOrder(rows: { id: string }[], turned: boolean): string[] {
  const ids = rows.map(row => row.id)
  return turned ? ids.reverse() : ids
}
