// Lists of collections and read lists: those in which the viewer sees something, by name, with the number of
// members that the viewer sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { allOf, anyOf, unprepared } from '../../postgres/statement.ts'
import { collectionsWithMatches, hasMatch } from '../collection/rules.ts'
import type { IdPage } from '../list/page.ts'
import { type Grouping, groupingNotFound, seesEverything, tablesOf } from './grouping.ts'

export type GroupingListRequest = {
  /** Lists those without any members to accounts that may add some. */
  withEmpty?: boolean
  /** Only with this text in the name. */
  search?: string | undefined
  /** Only hand-picked ones with this member. */
  memberId?: string
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of a page, by name, and their number. */
export async function listGroupings(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { search, memberId, withEmpty = false, page, pageSize }: GroupingListRequest,
): Promise<IdPage> {
  const { c, m, owner, member } = tablesOf(sql, grouping)
  const conditions = [
    ...(search ? [sql`position(folded(${search}) in folded(c.name)) > 0`] : []),
    ...(memberId === undefined
      ? []
      : [sql`c.id in (select m.${owner} from ${m} m where m.${member} = ${memberId})`]),
  ]
  const isHandPicked = hasRules(grouping) ? sql`c.rule is null` : sql`true`
  if (memberId !== undefined) conditions.push(isHandPicked)
  if (!seesEverything(viewer)) {
    const isRuled = hasRules(grouping) && memberId === undefined
    const ruled = isRuled ? await collectionsWithMatches(sql, viewer) : []
    const isListed = anyOf(sql, [
      // A value, found at the first member that is shown: `exists` would read the members of all.
      sql`(
        select true from ${m} m where m.${owner} = c.id and ${grouping.isShown(sql, viewer)}
        limit 1) is true`,
      ...(withEmpty ? [sql`not exists (select from ${m} m where m.${owner} = c.id)`] : []),
    ])
    conditions.push(sql`((${isHandPicked} and ${isListed}) or c.id = any(${ruled}::uuid[]))`)
  }
  const [row] = await unprepared(sql<IdPage[]>`
    with listed as materialized (
      select c.id, c.name_key from ${c} c where ${allOf(sql, conditions)}
    )
    select (select count(*) from listed)::float8 as total, array(
      select id from listed order by name_key, id
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  return row!
}

const hasRules = ({ table }: Grouping) => table === 'collection'

export type GroupingRow = {
  id: string
  name: string
  ordered: boolean
  summary: string | null
  /** Null without a rule. */
  rule: unknown
  /** Members that the viewer sees; null with a rule. */
  count: number | null
  createdAt: Date
  updatedAt: Date
}

/** Those with these ids, in this order, whether the viewer sees them or not. One statement. */
export async function groupingRows(
  sql: Queryable,
  viewer: Viewer,
  grouping: Grouping,
  ids: readonly string[],
): Promise<GroupingRow[]> {
  if (ids.length === 0) return []
  const { c, m, owner } = tablesOf(sql, grouping)
  const rule = hasRules(grouping) ? sql`c.rule` : sql`null::jsonb`
  const rows = await unprepared(sql<GroupingRow[]>`
    select c.id, c.name, c.is_ordered as ordered, c.summary, ${rule} as rule,
      case when ${rule} is null then coalesce(n.count, 0)::float8 end as count,
      c.created_at as "createdAt", c.updated_at as "updatedAt"
    from unnest(${ids as string[]}::uuid[]) with ordinality as requested(id, place)
    join ${c} c on c.id = requested.id
    left join (
      select m.${owner} as id, count(*) as count from ${m} m
      where m.${owner} = any(${ids as string[]}::uuid[]) and ${grouping.isShown(sql, viewer)}
      group by m.${owner}) n on n.id = c.id
    order by requested.place`)
  return [...rows]
}

/** `withEmpty`: as in GroupingListRequest. */
export type GroupingRequest = { id: string; withEmpty: boolean }

/** Throws NotFound unless it exists and the viewer sees something in it. */
export async function findGrouping(
  sql: Queryable,
  viewer: Viewer,
  grouping: Grouping,
  { id, withEmpty }: GroupingRequest,
): Promise<GroupingRow> {
  const [row] = await groupingRows(sql, viewer, grouping, [id])
  if (!row) throw groupingNotFound(grouping)
  if (seesEverything(viewer) || row.count) return row
  const isVisible =
    row.rule === null
      ? withEmpty && (await isEmpty(sql, grouping, id))
      : await hasMatch(sql, viewer, row.rule)
  if (!isVisible) throw groupingNotFound(grouping)
  return row
}

async function isEmpty(sql: Queryable, grouping: Grouping, id: string): Promise<boolean> {
  const { m, owner } = tablesOf(sql, grouping)
  const [row] = await sql<{ isEmpty: boolean }[]>`
    select not exists (select from ${m} m where m.${owner} = ${id}) as "isEmpty"`
  return row!.isEmpty
}
