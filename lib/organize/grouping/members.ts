// Members of hand-picked collections and of read lists: adding, removing, ordering. Each is one statement for all
// members, run by a transaction that has locked the grouping's row. Members that the viewer does not see stay
// in place.
import type { Viewer } from '../../accounts/viewer.ts'
import { Conflict, NotFound } from '../../base/errors.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { type Grouping, tablesOf } from './grouping.ts'

/** Per collection or read list. */
export const maxMembers = 20_000

type Members = { id: string; memberIds: readonly string[] }

/** Appends ids that are not members yet, and returns them. Throws NotFound for an unknown id, Conflict. */
export async function addMembers(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  { id, memberIds }: Members,
): Promise<string[]> {
  if (memberIds.length === 0) return []
  const { m, owner, member } = tablesOf(tx, grouping)
  const visible = await tx<{ id: string }[]>`${grouping.visibleIds(tx, viewer, memberIds)}`
  const wanted = new Set(memberIds.map(memberId => memberId.toLowerCase()))
  if (visible.length < wanted.size)
    throw new NotFound(grouping.contents === 'books' ? 'Book not found' : 'Series not found')
  const added = await tx<{ id: string }[]>`
    insert into ${m} (${owner}, ${member}, position)
    select ${id}, g.id, row_number() over (order by g.place)
      + (select coalesce(max(m.position), 0) from ${m} m where m.${owner} = ${id})
    from unnest(${[...wanted]}::uuid[]) with ordinality as g(id, place)
    where g.id not in (select m.${member} from ${m} m where m.${owner} = ${id})
    order by g.id
    returning ${member} as id`
  const [row] = await tx<{ members: number }[]>`
    select count(*)::float8 as members from ${m} m where m.${owner} = ${id}`
  if (row!.members > maxMembers)
    throw new Conflict(
      `The limit of a ${grouping.name.toLowerCase()} is ${maxMembers} ${grouping.contents}`,
      { limit: maxMembers },
    )
  return added.map(row => row.id)
}

/** Returns the ids of the removed members. Other ids have no effect. */
export async function removeMembers(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  { id, memberIds }: Members,
): Promise<string[]> {
  const { m, owner, member } = tablesOf(tx, grouping)
  const removed = await tx<{ id: string }[]>`
    with visible as (${grouping.visibleIds(tx, viewer, memberIds)})
    delete from ${m} m using visible v where m.${owner} = ${id} and m.${member} = v.id
    returning v.id`
  return removed.map(row => row.id)
}

/**
 * Puts members in the order of a list: they exchange their places, so that members not in the list stay where
 * they are. Returns the ids of those that moved. Ids that are not members have no effect.
 */
export async function orderMembers(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  { id, memberIds }: Members,
): Promise<string[]> {
  const { m, owner, member } = tablesOf(tx, grouping)
  const moved = await tx<{ id: string }[]>`
    with visible as materialized (${grouping.visibleIds(tx, viewer, memberIds)}), listed as materialized (
      select m.${member} as id, m.position, row_number() over (order by g.place) as wanted,
        row_number() over (order by m.position, m.${member}) as present
      from (
        select id, min(place) as place
        from unnest(${memberIds as string[]}::uuid[]) with ordinality as t(id, place)
        group by id) g
      join visible v on v.id = g.id
      join ${m} m on m.${owner} = ${id} and m.${member} = g.id
    )
    update ${m} m set position = place.position
    from listed l join listed place on place.present = l.wanted
    where m.${owner} = ${id} and m.${member} = l.id and m.position <> place.position
    returning l.id`
  return moved.map(row => row.id)
}

/** Replaces the members that the viewer sees with these, in this order. Returns the ids of all changes. Throws like `addMembers`. */
export async function replaceMembers(
  tx: Transaction,
  viewer: Viewer,
  grouping: Grouping,
  { id, memberIds }: Members,
): Promise<string[]> {
  const { m, owner, member } = tablesOf(tx, grouping)
  const others = await tx<{ id: string }[]>`
    select m.${member} as id from ${m} m
    where m.${owner} = ${id} and m.${member} <> all(${memberIds as string[]}::uuid[])`
  const otherIds = others.map(row => row.id)
  const removed = await removeMembers(tx, viewer, grouping, { id, memberIds: otherIds })
  const added = await addMembers(tx, viewer, grouping, { id, memberIds })
  const moved = await orderMembers(tx, viewer, grouping, { id, memberIds })
  return [...new Set([...removed, ...added, ...moved])]
}
