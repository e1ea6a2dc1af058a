// Uploaded covers of books and series, and which one is displayed. Every change locks the owner's row
// first, so that at most one cover is selected.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { Conflict, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  component,
  maybe,
  nullable,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import type { ThumbnailFormat } from '../../media/image/thumbnail-path.ts'
import { publish, seriesEvents } from '../../store/event/publish.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'
import { publishChange } from '../metadata/change-events.ts'
import { type BookOrSeries, type Owner, type OwnerRequest, requireOwner } from '../owner.ts'
import { type CoverFolders, coverName, deleteCoverFiles, writeCover } from './cover-files.ts'
import { coverEvents } from './displayed-cover.ts'

export const Cover = component('Cover', {
  id: uuid(),
  bookId: maybe(uuid({ description: 'Covers of books only.' })),
  seriesId: maybe(uuid({ description: 'Covers of series only.' })),
  source: Type.String({
    description: '`custom` if uploaded by a user, otherwise the metadata source.',
  }),
  isSelected: Type.Boolean(),
  width: nullable(Type.Integer({ description: 'Width of the original in pixels.' })),
  height: nullable(Type.Integer({ description: 'Height of the original in pixels.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type Cover = Static<typeof Cover>

export const isOwnedBy = (sql: Queryable, { kind, id }: Owner): Fragment =>
  sql`c.${sql(`${kind}_id`)} = ${id}`

function columns(sql: Queryable, { kind }: Owner): Fragment {
  const owner = kind === 'book' ? sql`c.book_id as "bookId"` : sql`c.series_id as "seriesId"`
  return sql`c.id, ${owner}, c.source, c.is_selected as "isSelected", c.width, c.height,
    c.created_at as "createdAt", c.updated_at as "updatedAt"`
}

/** Uploaded covers, oldest first. Throws NotFound. */
export async function listCovers(sql: Queryable, request: OwnerRequest): Promise<Cover[]> {
  await requireOwner(sql, request)
  return [
    ...(await sql<Cover[]>`
      select ${columns(sql, request.owner)} from cover c
      where ${isOwnedBy(sql, request.owner)}
      order by c.created_at, c.id`),
  ]
}

/** Name and file extension of the original. Throws NotFound. */
export async function findOriginal(
  sql: Queryable,
  { viewer, owner }: OwnerRequest,
  coverId: string,
): Promise<{ name: string; extension: string }> {
  const visibleOwner =
    owner.kind === 'book'
      ? sql`select from book b join series s on s.id = b.series_id
          where b.id = c.book_id and ${visibleBook(sql, viewer)}`
      : sql`select from series s where s.id = c.series_id and ${visibleSeries(sql, viewer)}`
  const [row] = await sql<{ name: string; extension: string }[]>`
    select encode(c.hash, 'hex') as name, c.original as extension from cover c
    where c.id = ${coverId} and ${isOwnedBy(sql, owner)} and exists (${visibleOwner})`
  if (!row) throw new NotFound('Cover not found')
  return row
}

export type NewCover = {
  original: Uint8Array
  /** File extension of the original. */
  extension: string
  width: number | null
  height: number | null
  thumbnail: Uint8Array
  format: ThumbnailFormat
}

/** The limit of custom covers per book or series. */
export const maxCovers = 50

/**
 * Stores a cover and selects it; identical bytes are stored once per owner. Throws NotFound, and Conflict when
 * the owner already has `maxCovers` others.
 */
export async function addCover(
  sql: Sql,
  request: OwnerRequest,
  { folders, cover }: { folders: CoverFolders; cover: NewCover },
): Promise<{ cover: Cover; isNew: boolean }> {
  const { owner } = request
  const name = coverName(cover.original)
  return await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    const [others] = await tx<{ count: number; hasSame: boolean }[]>`
      select count(*)::int as count, coalesce(bool_or(c.hash = decode(${name}, 'hex')), false) as "hasSame"
      from cover c where ${isOwnedBy(tx, owner)}`
    if (!others!.hasSame && others!.count >= maxCovers)
      throw new Conflict(`There are already ${maxCovers} custom covers; delete one first`, {
        limit: maxCovers,
      })
    const { id, isNew } = await storeCover(tx, owner, { folders, name, cover, source: 'custom' })
    return { cover: await displayCover(tx, subject, id), isNew }
  })
}

type StoredCover = { folders: CoverFolders; name: string; cover: NewCover; source: string }

/** Writes the files and the row of a cover, unless the owner has it already. */
export async function storeCover(
  tx: Transaction,
  owner: Owner,
  { folders, name, cover, source }: StoredCover,
): Promise<{ id: string; isSelected: boolean; isNew: boolean }> {
  await lockFiles(tx, name)
  await writeCover(folders, { name, ...cover })
  const { extension, width, height } = cover
  const { count } = await tx`
    insert into cover (id, ${tx(`${owner.kind}_id`)}, source, hash, original, width, height)
    values (${newId()}, ${owner.id}, ${source}, decode(${name}, 'hex'), ${extension}, ${width},
      ${height})
    on conflict (${tx(`${owner.kind}_id`)}, hash) do nothing`
  const [row] = await tx<{ id: string; isSelected: boolean }[]>`
    select c.id, c.is_selected as "isSelected" from cover c
    where ${isOwnedBy(tx, owner)} and c.hash = decode(${name}, 'hex')`
  return { ...row!, isNew: count > 0 }
}

/** Displays an uploaded cover. Throws NotFound. */
export async function selectCover(sql: Sql, request: OwnerRequest, coverId: string) {
  return await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    return await displayCover(tx, subject, coverId)
  })
}

/** Reverts to the cover from the book's file or of the first book; uploaded covers remain. Throws NotFound. */
export async function selectAutomaticCover(sql: Sql, request: OwnerRequest): Promise<void> {
  await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    await unselect(tx, request.owner)
    await setDisplayedCover(tx, subject, { coverId: null, isLocked: false })
  })
}

/** Displays the cover of one of a series' books for the series. Throws NotFound for a book of another series. */
export async function selectBookCover(
  sql: Sql,
  viewer: Viewer,
  { seriesId, bookId }: { seriesId: string; bookId: string },
): Promise<void> {
  const owner: Owner = { kind: 'series', id: seriesId }
  await sql.begin(async tx => {
    const subject = await requireOwner(tx, { viewer, owner }, { lock: true })
    const [book] = await tx`
      select 1 from book b join series s on s.id = b.series_id
      where b.id = ${bookId} and b.series_id = ${seriesId} and ${visibleBook(tx, viewer)}`
    if (!book) throw new NotFound('Book not found in this series')
    await unselect(tx, owner)
    await setDisplayedCover(tx, subject, { coverId: null, isLocked: true, bookId })
  })
}

/** Deletes a cover; if it was displayed, the newest remaining one is displayed instead. Throws NotFound. */
export async function deleteCover(
  sql: Sql,
  request: OwnerRequest,
  { folders, coverId }: { folders: CoverFolders; coverId: string },
): Promise<void> {
  const { owner } = request
  const deleted = await sql.begin(async tx => {
    const subject = await requireOwner(tx, request, { lock: true })
    const [row] = await tx<{ name: string; extension: string; wasSelected: boolean }[]>`
      delete from cover c where c.id = ${coverId} and ${isOwnedBy(tx, owner)}
      returning encode(c.hash, 'hex') as name, c.original as extension,
        c.is_selected as "wasSelected"`
    if (!row) throw new NotFound('Cover not found')
    if (!row.wasSelected) {
      await publishChange(tx, subject, ['covers'])
      return row
    }
    const [next] = await tx<{ id: string }[]>`
      select c.id from cover c where ${isOwnedBy(tx, owner)}
      order by c.created_at desc, c.id desc limit 1`
    if (next) await displayCover(tx, subject, next.id, { isDeletion: true })
    else await setDisplayedCover(tx, subject, { coverId: null, isLocked: false, isDeletion: true })
    return row
  })
  await deleteUnusedFiles(sql, folders, deleted)
}

/** After a source's cover was deleted: displays another source's, otherwise the one from the files. */
export async function displayWithout(tx: Transaction, subject: BookOrSeries): Promise<void> {
  const [next] = await tx<{ id: string }[]>`
    select c.id from cover c where ${isOwnedBy(tx, ownerOf(subject))} and c.source <> 'custom'
    order by c.created_at desc, c.id desc limit 1`
  if (next) await displayCover(tx, subject, next.id, { isDeletion: true, isLocked: false })
  else await setDisplayedCover(tx, subject, { coverId: null, isLocked: false, isDeletion: true })
}

/**
 * Files are deleted after their row, so that no row lacks its files. The table is checked once more: another owner
 * may have the same image, or it may have been uploaded again since.
 */
export async function deleteUnusedFiles(
  sql: Sql,
  folders: CoverFolders,
  file: { name: string; extension: string },
): Promise<void> {
  await sql.begin(async tx => {
    await lockFiles(tx, file.name)
    const [other] = await tx`
      select 1 from cover where hash = decode(${file.name}, 'hex') limit 1`
    if (!other) await deleteCoverFiles(folders, file)
  })
}

/** Serializes writing and deleting files of one name until the transaction ends. */
export async function lockFiles(tx: Transaction, name: string) {
  await tx`select pg_advisory_xact_lock(hashtext('stackroom.cover'), hashtext(${name}))`
}

/** Displays a cover of the owner, whose row is locked. Throws NotFound. */
export async function displayCover(
  tx: Transaction,
  subject: BookOrSeries,
  coverId: string,
  { isDeletion = false, isLocked = true } = {},
): Promise<Cover> {
  const owner = ownerOf(subject)
  await unselect(tx, owner)
  const [cover] = await tx<Cover[]>`
    update cover c set is_selected = true, updated_at = now()
    where c.id = ${coverId} and ${isOwnedBy(tx, owner)}
    returning ${columns(tx, owner)}`
  if (!cover) throw new NotFound('Cover not found')
  await setDisplayedCover(tx, subject, { coverId, isLocked, isDeletion })
  return cover
}

async function unselect(tx: Transaction, owner: Owner) {
  await tx`
    update cover c set is_selected = false, updated_at = now()
    where ${isOwnedBy(tx, owner)} and c.is_selected`
}

type DisplayedCover = {
  coverId: string | null
  isLocked: boolean
  /** For a series without a cover of its own: the book whose cover it displays. */
  bookId?: string
  /** The displayed one has been deleted. */
  isDeletion?: boolean
}

/** Last step of a change: publishes an event if a different cover is displayed now. */
async function setDisplayedCover(tx: Transaction, subject: BookOrSeries, cover: DisplayedCover) {
  const { coverId, isLocked, bookId = null, isDeletion = false } = cover
  const { kind, id } = ownerOf(subject)
  const unlocked = tx`array_remove(n.locks, 'cover')`
  const displayed = (row: 'n' | 'old') =>
    kind === 'series'
      ? tx`(${tx(row)}.custom_cover, ${tx(row)}.cover_book_id)`
      : tx`${tx(row)}.custom_cover`
  const [row] = await tx<{ hasChanged: boolean }[]>`
    update ${tx(kind)} n
    set custom_cover = (select hash from cover where id = ${coverId}),
      locks = ${isLocked ? tx`${unlocked} || '{cover}'::text[]` : unlocked}, updated_at = now()
      ${kind === 'series' && coverId === null ? tx`, cover_book_id = ${bookId}` : tx``}
    from ${tx(kind)} old
    where n.id = ${id} and old.id = n.id
    returning ${displayed('n')} is distinct from ${displayed('old')} as "hasChanged"`
  if (!row?.hasChanged) return
  const { seriesId } = subject
  const fields = isDeletion ? { fields: ['deleted'] } : {}
  await publish(
    tx,
    seriesId === undefined
      ? seriesEvents('cover_updated', [subject], fields)
      : await coverEvents(tx, [{ ...subject, seriesId }], fields),
  )
}

const ownerOf = ({ id, seriesId }: BookOrSeries): Owner => ({
  kind: seriesId === undefined ? 'series' : 'book',
  id,
})
