// Covers of collections and read lists: an uploaded one, else the first members that the viewer sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../auth/viewer.ts'
import { newId } from '../../id.ts'
import type { Transaction } from '../../postgres/db.ts'
import { retryOnDeadlock } from '../../postgres/retry-on-deadlock.ts'
import { deleteUnusedFiles, lockFiles, type NewCover } from '../cover/cover.ts'
import { type CoverFolders, coverName, writeCover } from '../cover/cover-files.ts'
import { booksOfReadList, seriesOfCollection } from './contents.ts'
import type { Grouping } from './grouping.ts'
import { lockGrouping, noteChange } from './write.ts'

/** What a cover is put together from. */
const mosaicMembers = 4

type GroupingCover = {
  /** Hex name of the uploaded thumbnail. */
  uploaded: string | null
  /** Ids; none only where nothing is hidden from the viewer. */
  members: string[]
}

/** Throws NotFound. */
export async function groupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<GroupingCover> {
  const members = await firstMembers(sql, viewer, grouping, { id, count: mosaicMembers })
  const [row] = await sql<{ name: string }[]>`
    select encode(hash, 'hex') as name from cover where ${sql(grouping.owner)} = ${id}`
  return { uploaded: row?.name ?? null, members }
}

/** The id of the first member that the viewer sees; null when nothing is hidden from the viewer and there is none. Throws NotFound. */
export async function coverMember(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  id: string,
): Promise<string | null> {
  const [first] = await firstMembers(sql, viewer, grouping, { id, count: 1 })
  return first ?? null
}

async function firstMembers(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, count }: { id: string; count: number },
): Promise<string[]> {
  const contents = grouping.contents === 'series' ? seriesOfCollection : booksOfReadList
  return (await contents(sql, viewer, { id, withEmpty: false, page: 1, pageSize: count })).ids
}

type Files = { folders: CoverFolders }
type CoverFile = { name: string; extension: string }

/** Replaces an earlier one. Throws NotFound. */
export async function setGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, folders, cover }: Files & { id: string; cover: NewCover },
): Promise<void> {
  const name = coverName(cover.original)
  const { extension, width, height } = cover
  const replaced = await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const replaced = await removeCover(tx, grouping, id)
    await lockFiles(tx, name)
    await writeCover(folders, { name, ...cover })
    await tx`
      insert into cover (id, ${tx(grouping.owner)}, source, hash, original, width, height)
      values (${newId()}, ${id}, 'custom', decode(${name}, 'hex'), ${extension}, ${width}, ${height})`
    await noteChange(tx, grouping, id, { fields: ['cover'] })
    return replaced
  })
  for (const file of replaced) await deleteUnusedFiles(sql, folders, file)
}

/** Has no effect without one. Throws NotFound. */
export async function deleteGroupingCover(
  sql: Sql,
  viewer: Viewer,
  grouping: Grouping,
  { id, folders }: Files & { id: string },
): Promise<void> {
  const removed = await retryOnDeadlock(sql, async tx => {
    await lockGrouping(tx, viewer, grouping, id)
    const removed = await removeCover(tx, grouping, id)
    await noteChange(tx, grouping, id, { fields: removed.length > 0 ? ['cover', 'deleted'] : [] })
    return removed
  })
  for (const file of removed) await deleteUnusedFiles(sql, folders, file)
}

async function removeCover(tx: Transaction, grouping: Grouping, id: string): Promise<CoverFile[]> {
  const rows = await tx<CoverFile[]>`
    delete from cover where ${tx(grouping.owner)} = ${id}
    returning encode(hash, 'hex') as name, original as extension`
  return [...rows]
}
