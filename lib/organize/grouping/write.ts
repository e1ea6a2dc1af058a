// Changes of collections and read lists: creation, settings, deletion. Every change locks the grouping's row, so
// that concurrent changes are serialized.
import type { Viewer } from '../../accounts/viewer.ts'
import { Conflict, Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { sortKey } from '../../media/name/natural.ts'
import { publishGrouping } from '../../store/event/publish.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { type Grouping, groupingNotFound, tablesOf } from './grouping.ts'
import { findWithin } from './list.ts'
import { addMembers, replaceMembers } from './members.ts'

/** Per kind. */
const maxGroupings = 10_000
/** Members named in an event: accounts that see none of them do not receive it. */
const maxEventMembers = 1_000
/** Each is evaluated for every restricted account that lists the collections. */
const maxRules = 200

export type GroupingChange = {
  name?: string | undefined
  /** Null for none. */
  summary?: string | null | undefined
  ordered?: boolean | undefined
  /** Collections only: a checked rule; null for hand-picked members. */
  rule?: unknown
  /** Hand-picked groupings only: the members that the viewer sees, in order. */
  memberIds?: readonly string[] | undefined
}

/** Returns the id. Throws Invalid, NotFound for an unknown member, and Conflict for the name of a grouping that the viewer sees. */
export async function createGrouping(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { name, summary = null, ordered = false, rule = null, memberIds = [] }: GroupingChange,
): Promise<string> {
  const { c } = tablesOf(sql, grouping)
  const id = newId()
  const parsedName = parseName(name ?? '')
  checkCombination({ rule, ordered, memberIds })
  return await retryOnDeadlock(sql, async tx => {
    const [counts] = await tx<{ all: number }[]>`select count(*)::float8 as all from ${c}`
    if (counts!.all >= maxGroupings)
      throw new Conflict(`There are already ${maxGroupings} ${grouping.name.toLowerCase()}s`, {
        limit: maxGroupings,
      })
    const settings = { id, name: parsedName, name_key: sortKey(parsedName), summary }
    await requireFreeName(tx, viewer, grouping, { name: parsedName })
    await tx`insert into ${c} ${tx({ ...settings, is_ordered: ordered } as never)}`
    if (rule !== null) await setRule(tx, id, rule)
    await addMembers(tx, viewer, grouping, { id, memberIds })
    await publishGrouping(tx, grouping.events.created, idOf(grouping, id), {})
    return id
  })
}

async function setRule(tx: Transaction, id: string, rule: unknown) {
  await tx`update collection set rule = ${rule === null ? null : tx.json(rule as never)} where id = ${id}`
  if (rule === null) return
  const [counts] = await tx<{ rules: number }[]>`
    select count(*)::float8 as rules from collection where rule is not null`
  if (counts!.rules > maxRules)
    throw new Conflict(`The limit is ${maxRules} collections with a condition`, { limit: maxRules })
}

function checkCombination({ rule, ordered, memberIds }: GroupingChange) {
  if (rule === null) return
  if (ordered) throw new Invalid('A collection with a condition cannot be ordered by hand')
  if (memberIds && memberIds.length > 0) throw ruleChooses()
}

const ruleChooses = () =>
  new Conflict('The series of a collection with a condition cannot be chosen', {
    reason: 'rule_chooses',
  })

/** Throws Invalid, NotFound and Conflict like `createGrouping`. */
export async function updateGrouping(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, change }: { id: string; change: GroupingChange },
): Promise<void> {
  const { c } = tablesOf(sql, grouping)
  await retryOnDeadlock(sql, async tx => {
    const before = await lockGrouping(tx, viewer, grouping, id)
    const { summary, ordered = before.ordered, rule = before.rule, memberIds } = change
    const name = change.name === undefined ? before.name : parseName(change.name)
    checkCombination({ rule, ordered, memberIds })
    const changed = {
      name: name !== before.name,
      summary: summary !== undefined && summary !== before.summary,
      ordered: ordered !== before.ordered,
      condition: JSON.stringify(rule) !== JSON.stringify(before.rule),
    }
    if (changed.name) await requireFreeName(tx, viewer, grouping, { name, exceptId: id })
    // The rule is removed first: a manual order and a rule exclude each other.
    if (changed.condition) await setRule(tx, id, null)
    await tx`
      update ${c} set name = ${name}, name_key = ${sortKey(name)}, is_ordered = ${ordered},
        summary = ${summary === undefined ? before.summary : summary}
      where id = ${id}`
    if (changed.condition && rule !== null) await setRule(tx, id, rule)
    const members = memberIds
      ? await replaceMembers(tx, viewer, grouping, { id, memberIds })
      : undefined
    const fields = Object.entries(changed).flatMap(([field, isChanged]) => (isChanged ? field : []))
    await noteChange(tx, grouping, id, { fields, members })
  })
}

/** Throws NotFound. */
export async function deleteGrouping(sql: Sql, viewer: Viewer, grouping: Grouping, id: string) {
  const { c, m, owner, member } = tablesOf(sql, grouping)
  await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const members = await tx<{ id: string }[]>`
      select m.${member} as id from ${m} m where m.${owner} = ${id}
      order by m.position limit ${maxEventMembers}`
    await tx`delete from ${c} where id = ${id}`
    const ids = members.map(row => row.id)
    await publishGrouping(tx, grouping.events.deleted, idOf(grouping, id), { members: ids })
  })
}

/** Runs a change of hand-picked members, which returns the changed ones. Throws NotFound; Conflict with a rule. */
export async function changeMembers(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, change }: { id: string; change: (tx: Transaction) => Promise<string[]> },
): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    const { rule } = await lockGrouping(tx, viewer, grouping, id)
    if (rule !== null) throw ruleChooses()
    await noteChange(tx, grouping, id, { members: await change(tx) })
  })
}

/** Locks a grouping until the transaction ends. Throws NotFound. */
export async function lockGrouping(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
) {
  const { c } = tablesOf(tx, grouping)
  const [locked] = await tx`select 1 from ${c} where id = ${id} for no key update`
  if (!locked) throw groupingNotFound(grouping)
  return await findWithin(tx, viewer, grouping, { id, withEmpty: true })
}

type Changed = {
  /** Changed settings, or the cover. */
  fields?: readonly string[]
  members?: readonly string[] | undefined
}

/** Publishes changes. Without any, nothing is written, so that a repeated request has no effect. */
export async function noteChange(
  tx: Transaction,
  grouping: Grouping,
  id: string,
  { fields = [], members = [] }: Changed,
) {
  const isOfSettings = fields.length > 0
  if (!isOfSettings && members.length === 0) return
  const { c } = tablesOf(tx, grouping)
  await tx`
    update ${c} set updated_at = now(),
      settings_changed_at = case when ${isOfSettings} then now() else settings_changed_at end
    where id = ${id}`
  await publishGrouping(tx, grouping.events.updated, idOf(grouping, id), {
    fields: [...fields, ...(members.length > 0 ? [grouping.contents] : [])],
    members: members.slice(0, maxEventMembers),
  })
}

const idOf = ({ idKey }: Grouping, id: string) => ({ [idKey]: id }) as { collectionId: string }

function parseName(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new Invalid('The name is empty', { reason: 'name_empty' })
  return name
}

/**
 * Throws Conflict if another grouping that the viewer sees has the name. Hidden ones may share it, because a
 * conflict would disclose their names. Concurrent changes to one name are serialized.
 */
async function requireFreeName(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  { name, exceptId }: { name: string; exceptId?: string },
): Promise<void> {
  const { c } = tablesOf(tx, grouping)
  await tx`
    select pg_advisory_xact_lock(hashtext(${`stackroom.${grouping.table}`}), hashtext(lower(${name})))`
  const rows = await tx<{ id: string }[]>`
    select id from ${c} where lower(name) = lower(${name}) order by id`
  for (const { id } of rows)
    if (id !== exceptId && (await isVisible(tx, viewer, grouping, id)))
      throw new Conflict(`A ${grouping.name.toLowerCase()} with this name already exists`, {
        reason: 'name_taken',
      })
}

async function isVisible(tx: Transaction, viewer: Viewer, grouping: Grouping, id: string) {
  try {
    await findWithin(tx, viewer, grouping, { id, withEmpty: true })
    return true
  } catch (error) {
    if (error instanceof NotFound) return false
    throw error
  }
}
