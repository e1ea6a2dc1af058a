// Cover of a series or book from a metadata source: stored like an uploaded one, and replaced by the next.
import { newId } from '../../base/id.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { type OwnerRequest, requireOwner } from '../owner.ts'
import { deleteUnusedFiles, displayCover, isOwnedBy, lockFiles, type NewCover } from './cover.ts'
import { type CoverFolders, coverName, writeCover } from './cover-files.ts'

/**
 * Displays a source's cover instead of its previous one, unless the cover is locked: then it returns false.
 * Throws NotFound.
 */
export async function setSourceCover(
  sql: Sql,
  request: OwnerRequest,
  { folders, cover, source }: { folders: CoverFolders; cover: NewCover; source: string },
): Promise<boolean> {
  const { owner } = request
  const name = coverName(cover.original)
  const replaced = await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    const [locked] = await tx`
      select 1 from ${tx(owner.kind)} where id = ${owner.id} and 'cover' = any(locks)`
    if (locked) return null
    await lockFiles(tx, name)
    await writeCover(folders, { name, ...cover })
    const { extension, width, height } = cover
    await tx`
      insert into cover (id, ${tx(`${owner.kind}_id`)}, source, hash, original, width, height)
      values (${newId()}, ${owner.id}, ${source}, decode(${name}, 'hex'), ${extension}, ${width},
        ${height})
      on conflict (${tx(`${owner.kind}_id`)}, hash) do nothing`
    const [row] = await tx<{ id: string; isSelected: boolean }[]>`
      select c.id, c.is_selected as "isSelected" from cover c
      where ${isOwnedBy(tx, owner)} and c.hash = decode(${name}, 'hex')`
    if (!row!.isSelected) await displayCover(tx, subject, row!.id, { isLocked: false })
    return await tx<{ name: string; extension: string }[]>`
      delete from cover c where ${isOwnedBy(tx, owner)} and c.source = ${source} and c.id <> ${row!.id}
      returning encode(c.hash, 'hex') as name, c.original as extension`
  })
  for (const file of replaced ?? []) await deleteUnusedFiles(sql, folders, file)
  return replaced !== null
}
