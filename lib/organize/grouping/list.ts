// Lists of collections and read lists in which the viewer sees something, by name, with the number of members the
// viewer sees.
import type { Viewer } from '../../accounts/viewer.ts'
import type { IdPage } from '../../list/sort.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'
import { isOneOf, requestedIds } from '../../store/postgres/ids.ts'
import { allOf, unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'
import { createRuleMatches, hasMatch } from '../collection/rules.ts'
import { knownCounts, type VisibleCounts, visibleCounts } from './counts.ts'
import { type Grouping, groupingNotFound, seesEverything, tablesOf } from './grouping.ts'

export type GroupingListRequest = {
  /** Whether to list groupings without any members, for accounts that may add some. */
  withEmpty?: boolean
  /** Limits the list to names that contain these texts. */
  search?: readonly string[]
  /** Limits the list to hand-picked groupings with this member. */
  memberId?: string
  /** 1-based. */
  page: number
  pageSize: number
}

/** A page, by name, and the total. */
export async function listGroupings(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
  { search = [], memberId, withEmpty = false, page, pageSize }: GroupingListRequest,
): Promise<{ rows: GroupingRow[]; total: number }> {
  const { sql, services } = db
  const { c, m, owner, member } = tablesOf(sql, grouping)
  const conditions = [
    ...search.map(text => sql`position(folded(${text}) in folded(c.name)) > 0`),
    ...(memberId === undefined
      ? []
      : [sql`c.id in (select m.${owner} from ${m} m where m.${member} = ${memberId})`]),
  ]
  const isRuled = hasRules(grouping) && memberId === undefined
  if (hasRules(grouping) && !isRuled) conditions.push(sql`c.rule is null`)
  const counts = await countsFor(db, viewer, grouping)
  if (counts) {
    const ruled = isRuled ? await services(createRuleMatches)(viewer) : []
    const listed = sql`c.id = any(${[...counts.keys(), ...ruled]}::uuid[])`
    const isEmpty = sql`not exists (select from ${m} m where m.${owner} = c.id)`
    const isHandPicked = hasRules(grouping) ? sql`c.rule is null` : sql`true`
    conditions.push(withEmpty ? sql`(${listed} or (${isHandPicked} and ${isEmpty}))` : listed)
  }
  const [row] = await unprepared(sql<IdPage[]>`
    with listed as materialized (
      select c.id, c.name_key from ${c} c where ${allOf(sql, conditions)}
    )
    select (select count(*) from listed)::float8 as total, array(
      select id from listed order by name_key, id
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`)
  const { ids, total } = row!
  return { rows: await groupingRows(sql, viewer, grouping, ids, counts), total }
}

/** Null for an account from which nothing is hidden: counting the groupings of one page is faster. */
const countsFor = async (db: WithServices, viewer: Viewer, grouping: Grouping) =>
  seesEverything(viewer) ? null : await visibleCounts(db, viewer, grouping)

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

/**
 * The groupings with these ids, in this order, whether the viewer sees them or not. Counts their members
 * unless `counts` has the numbers. One statement.
 */
export async function groupingRows(
  sql: Queryable,
  viewer: Viewer,
  grouping: Grouping,
  ids: readonly string[],
  counts: VisibleCounts | null = null,
): Promise<GroupingRow[]> {
  if (ids.length === 0) return []
  const { c, m, owner } = tablesOf(sql, grouping)
  const rule = hasRules(grouping) ? sql`c.rule` : sql`null::jsonb`
  // `updated_at` also changes with hidden members.
  const updatedAt = seesEverything(viewer) ? sql`c.updated_at` : sql`c.settings_changed_at`
  const counted = sql`
    select m.${owner} as id, count(*) as count from ${m} m
    where ${isOneOf(sql, sql`m.${owner}`, ids)} and ${grouping.isShown(sql, viewer)}
    group by m.${owner}`
  const known = sql`
    select * from unnest(${ids as string[]}::uuid[], ${ids.map(id => counts?.get(id) ?? 0)}::integer[])
      as n(id, count)`
  const rows = await unprepared(sql<GroupingRow[]>`
    select c.id, c.name, c.is_ordered as ordered, c.summary, ${rule} as rule,
      case when ${rule} is null then coalesce(n.count, 0)::float8 end as count,
      c.created_at as "createdAt", ${updatedAt} as "updatedAt"
    from ${requestedIds(sql, ids)}
    join ${c} c on c.id = requested.id
    left join (${counts ? known : counted}) n on n.id = c.id
    order by requested.place`)
  return [...rows]
}

/** `withEmpty` as in GroupingListRequest. */
export type GroupingRequest = { id: string; withEmpty: boolean }

/** Returns a grouping whether the viewer sees it or not. Throws NotFound unless it exists. */
export async function requireGrouping(
  sql: Queryable,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<GroupingRow> {
  const [row] = await groupingRows(sql, viewer, grouping, [id], new Map())
  if (!row) throw groupingNotFound(grouping)
  return row
}

/** Throws NotFound unless it exists and the viewer sees something in it. */
export async function findGrouping(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
  request: GroupingRequest,
): Promise<GroupingRow> {
  const counts = seesEverything(viewer) ? null : await knownCounts(db, viewer, grouping)
  return await findCounted(db.sql, viewer, grouping, { ...request, counts })
}

/** Like `findGrouping`, within a transaction. */
export const findWithin = (
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  request: GroupingRequest,
): Promise<GroupingRow> => findCounted(tx, viewer, grouping, { ...request, counts: null })

async function findCounted(
  sql: Queryable,
  viewer: Viewer,
  grouping: Grouping,
  { id, withEmpty, counts }: GroupingRequest & { counts: VisibleCounts | null },
): Promise<GroupingRow> {
  const [row] = await groupingRows(sql, viewer, grouping, [id], counts)
  if (!row) throw groupingNotFound(grouping)
  if (seesEverything(viewer) || row.count) return row
  const isVisible =
    row.rule === null
      ? withEmpty && (await isEmpty(sql, grouping, row.id))
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
