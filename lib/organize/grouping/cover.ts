// Covers of collections and read lists: an uploaded one, otherwise the first members that the viewer sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { Conflict, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  deleteUnusedFiles,
  lockFiles,
  maxCovers,
  type NewCover,
} from '../../catalog/cover/cover.ts'
import { type CoverFolders, coverName, writeCover } from '../../catalog/cover/cover-files.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import type { WithServices } from '../../store/services.ts'
import { booksOfReadList, seriesOfCollection } from './contents.ts'
import type { Grouping } from './grouping.ts'
import { lockGrouping, noteChange } from './write.ts'

/** How many members a mosaic shows. */
const mosaicMembers = 4

type GroupingCover = {
  /** Hex name of the thumbnail of the selected upload. */
  uploaded: string | null
  /** Ids; only empty when nothing is hidden from the viewer. */
  members: string[]
}

/** Throws NotFound. */
export async function groupingCover(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<GroupingCover> {
  const { sql } = db
  const members = await firstMembers(db, viewer, grouping, { id, count: mosaicMembers })
  const [row] = await sql<{ name: string }[]>`
    select encode(hash, 'hex') as name from cover
    where ${sql(grouping.owner)} = ${id} and is_selected`
  return { uploaded: row?.name ?? null, members }
}

/** The id of the first member that the viewer sees; null when nothing is hidden and there is none. Throws NotFound. */
export async function coverMember(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<string | null> {
  const [first] = await firstMembers(db, viewer, grouping, { id, count: 1 })
  return first ?? null
}

async function firstMembers(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
  { id, count }: { id: string; count: number },
): Promise<string[]> {
  const contents = grouping.contents === 'series' ? seriesOfCollection : booksOfReadList
  return (await contents(db, viewer, { id, withEmpty: false, page: 1, pageSize: count })).ids
}

type Files = { folders: CoverFolders }
type CoverFile = { name: string; extension: string }
type NewGroupingCover = Files & { id: string; cover: NewCover; isSelected?: boolean }

/** Replaces all earlier uploads. Throws NotFound. */
export async function setGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  request: NewGroupingCover,
): Promise<void> {
  const replaced = await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, request.id)
    const replaced = await removeCovers(tx, grouping, request.id)
    await insertCover(tx, grouping, request)
    await noteChange(tx, grouping, request.id, { fields: ['cover'] })
    return replaced
  })
  for (const file of replaced) await deleteUnusedFiles(sql, request.folders, file)
}

/**
 * Adds a cover and displays it if it is selected. Identical bytes are stored once. Returns its id. Throws
 * NotFound, and Conflict when there are already `maxCovers` others.
 */
export async function addGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  request: NewGroupingCover,
): Promise<string> {
  const { id, cover, isSelected = true } = request
  return await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const rows = await tx<{ id: string; name: string }[]>`
      select id, encode(hash, 'hex') as name from cover where ${tx(grouping.owner)} = ${id}`
    const name = coverName(cover.original)
    const same = rows.find(row => row.name === name)
    if (!same && rows.length >= maxCovers)
      throw new Conflict(`There are already ${maxCovers} custom covers; delete one first`, {
        limit: maxCovers,
      })
    const coverId = same?.id ?? (await insertCover(tx, grouping, { ...request, isSelected: false }))
    if (isSelected) await displayCover(tx, grouping, { id, coverId })
    await noteChange(tx, grouping, id, { fields: [isSelected ? 'cover' : 'covers'] })
    return coverId
  })
}

type CoverRequest = { id: string; coverId: string }

/** Displays an uploaded cover. Throws NotFound. */
export async function selectGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, coverId }: CoverRequest,
): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    await displayCover(tx, grouping, { id, coverId })
    await noteChange(tx, grouping, id, { fields: ['cover'] })
  })
}

/** Deletes all uploads, if any. Throws NotFound. */
export async function deleteGroupingCovers(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, folders }: Files & { id: string },
): Promise<void> {
  const removed = await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const removed = await removeCovers(tx, grouping, id)
    await noteChange(tx, grouping, id, { fields: removed.length > 0 ? ['cover', 'deleted'] : [] })
    return removed
  })
  for (const file of removed) await deleteUnusedFiles(sql, folders, file)
}

/** Deletes an upload; if it was displayed, the newest remaining one is displayed instead. Throws NotFound. */
export async function deleteGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, coverId, folders }: Files & CoverRequest,
): Promise<void> {
  const removed = await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const [row] = await tx<(CoverFile & { wasSelected: boolean })[]>`
      delete from cover where id = ${coverId} and ${tx(grouping.owner)} = ${id}
      returning encode(hash, 'hex') as name, original as extension, is_selected as "wasSelected"`
    if (!row) throw new NotFound('Cover not found')
    const [next] = await tx<{ id: string }[]>`
      select id from cover where ${tx(grouping.owner)} = ${id}
      order by created_at desc, id desc limit 1`
    if (row.wasSelected && next) await displayCover(tx, grouping, { id, coverId: next.id })
    const field = row.wasSelected ? 'cover' : 'covers'
    await noteChange(tx, grouping, id, { fields: [field, 'deleted'] })
    return row
  })
  await deleteUnusedFiles(sql, folders, removed)
}

/** Returns the id. */
async function insertCover(
  tx: Transaction,
  grouping: Grouping,
  { id, folders, cover, isSelected = true }: NewGroupingCover,
): Promise<string> {
  const name = coverName(cover.original)
  const { extension, width, height } = cover
  await lockFiles(tx, name)
  await writeCover(folders, { name, ...cover })
  const coverId = newId()
  await tx`
    insert into cover (id, ${tx(grouping.owner)}, source, hash, original, width, height, is_selected)
    values (${coverId}, ${id}, 'custom', decode(${name}, 'hex'), ${extension}, ${width}, ${height},
      ${isSelected})`
  return coverId
}

/** Throws NotFound. */
async function displayCover(tx: Transaction, grouping: Grouping, { id, coverId }: CoverRequest) {
  const owned = tx`${tx(grouping.owner)} = ${id}`
  await tx`
    update cover set is_selected = false, updated_at = now()
    where ${owned} and is_selected and id <> ${coverId}`
  const { count } = await tx`
    update cover set is_selected = true, updated_at = now() where ${owned} and id = ${coverId}`
  if (count === 0) throw new NotFound('Cover not found')
}

async function removeCovers(tx: Transaction, grouping: Grouping, id: string): Promise<CoverFile[]> {
  const rows = await tx<CoverFile[]>`
    delete from cover where ${tx(grouping.owner)} = ${id}
    returning encode(hash, 'hex') as name, original as extension`
  return [...rows]
}
