// Cover of a series or book from a metadata source: stored like an uploaded one, and replaced by the next.
import type { Sql } from '../../store/postgres/db.ts'
import { type OwnerRequest, requireOwner } from '../owner.ts'
import {
  deleteUnusedFiles,
  displayCover,
  displayWithout,
  isOwnedBy,
  type NewCover,
  storeCover,
} from './cover.ts'
import { type CoverFolders, coverName } from './cover-files.ts'

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
    const { id, isSelected } = await storeCover(tx, owner, { folders, name, cover, source })
    if (!isSelected) await displayCover(tx, subject, id, { isLocked: false })
    return await tx<{ name: string; extension: string }[]>`
      delete from cover c where ${isOwnedBy(tx, owner)} and c.source = ${source} and c.id <> ${id}
      returning encode(c.hash, 'hex') as name, c.original as extension`
  })
  for (const file of replaced ?? []) await deleteUnusedFiles(sql, folders, file)
  return replaced !== null
}

/** Deletes a source's cover; what was displayed before it is displayed again. Returns whether there was one. Throws NotFound. */
export async function removeSourceCover(
  sql: Sql,
  request: OwnerRequest,
  { folders, source }: { folders: CoverFolders; source: string },
): Promise<boolean> {
  const { owner } = request
  const removed = await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    const files = await tx<{ name: string; extension: string; wasSelected: boolean }[]>`
      delete from cover c where ${isOwnedBy(tx, owner)} and c.source = ${source}
      returning encode(c.hash, 'hex') as name, c.original as extension,
        c.is_selected as "wasSelected"`
    if (files.some(({ wasSelected }) => wasSelected)) await displayWithout(tx, subject)
    return files
  })
  for (const file of removed) await deleteUnusedFiles(sql, folders, file)
  return removed.length > 0
}
