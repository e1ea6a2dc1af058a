// Covers that users uploaded for books and series, and which of them is shown. All that changes one
// holds the row of its owner, so that at most one is selected.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { ofSeries, tell } from '../../event/publish.ts'
import { newId } from '../../id.ts'
import type { ThumbnailFormat } from '../../image/thumbnail-path.ts'
import { maybe, nullable, record, type Static, Type, timestamp, uuid } from '../../schema.ts'
import { type Subject, tellChange } from '../metadata/change-events.ts'
import { coverEvents } from './cover-events.ts'
import { type CoverFolders, coverName, removeCoverFiles, writeCover } from './cover-files.ts'

export const Cover = record(
  {
    id: uuid(),
    bookId: maybe(uuid({ description: 'Of covers of books.' })),
    seriesId: maybe(uuid({ description: 'Of covers of series.' })),
    source: Type.String({ description: '`custom`: uploaded by a user.' }),
    isSelected: Type.Boolean(),
    width: nullable(Type.Integer({ description: 'Pixels of the original.' })),
    height: nullable(Type.Integer()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'Cover' },
)
export type Cover = Static<typeof Cover>

type Db = Sql | TransactionSql
export type Owner = { kind: 'book' | 'series'; id: string }
/** Who asks, and for whose covers. */
export type Asked = { viewer: Viewer; owner: Owner }

const ownedBy = (sql: Db, { kind, id }: Owner): Fragment => sql`c.${sql(`${kind}_id`)} = ${id}`

function columns(sql: Db, { kind }: Owner): Fragment {
  const owner = kind === 'book' ? sql`c.book_id as "bookId"` : sql`c.series_id as "seriesId"`
  return sql`c.id, ${owner}, c.source, c.is_selected as "isSelected", c.width, c.height,
    c.created_at as "createdAt", c.updated_at as "updatedAt"`
}

/** Throws NotFound unless the viewer sees the book or series; with `lock` nobody else changes it meanwhile. */
export async function requireOwner(
  sql: Db,
  { viewer, owner }: Asked,
  lock = false,
): Promise<Subject> {
  const { kind, id } = owner
  const [row] =
    kind === 'book'
      ? await sql<Subject[]>`
          select b.id, b.library_id as "libraryId", b.series_id as "seriesId"
          from book b join series s on s.id = b.series_id
          where b.id = ${id} and ${seesBook(sql, viewer)}
          ${lock ? sql`for no key update of b` : sql``}`
      : await sql<Subject[]>`
          select s.id, s.library_id as "libraryId"
          from series s where s.id = ${id} and ${seesSeries(sql, viewer)}
          ${lock ? sql`for no key update` : sql``}`
  if (!row) throw new NotFound(kind === 'book' ? 'Book not found' : 'Series not found')
  return row
}

/** Uploaded covers, the oldest first. Throws NotFound. */
export async function listCovers(sql: Db, asked: Asked): Promise<Cover[]> {
  await requireOwner(sql, asked)
  return [
    ...(await sql<Cover[]>`
      select ${columns(sql, asked.owner)} from cover c
      where ${ownedBy(sql, asked.owner)}
      order by c.created_at, c.id`),
  ]
}

/** Name and ending of the original's file. Throws NotFound. */
export async function findOriginal(
  sql: Db,
  { viewer, owner }: Asked,
  coverId: string,
): Promise<{ name: string; ending: string }> {
  const seen =
    owner.kind === 'book'
      ? sql`select from book b join series s on s.id = b.series_id
          where b.id = c.book_id and ${seesBook(sql, viewer)}`
      : sql`select from series s where s.id = c.series_id and ${seesSeries(sql, viewer)}`
  const [row] = await sql<{ name: string; ending: string }[]>`
    select encode(c.hash, 'hex') as name, c.original as ending from cover c
    where c.id = ${coverId} and ${ownedBy(sql, owner)} and exists (${seen})`
  if (!row) throw new NotFound('Cover not found')
  return row
}

export type NewCover = {
  original: Uint8Array
  /** File name ending of the original. */
  ending: string
  width: number | null
  height: number | null
  thumbnail: Uint8Array
  format: ThumbnailFormat
}

/** Keeps a cover and shows it; one with the same bytes is there once. Throws NotFound. */
export async function addCover(
  sql: Sql,
  asked: Asked,
  { folders, cover }: { folders: CoverFolders; cover: NewCover },
): Promise<{ cover: Cover; isNew: boolean }> {
  const { owner } = asked
  const name = coverName(cover.original)
  return await sql.begin(async tx => {
    const subject = await requireOwner(tx, asked, true)
    await holdFiles(tx, name)
    await writeCover(folders, { name, ...cover })
    const { ending, width, height } = cover
    const [made] = await tx<{ id: string }[]>`
      insert into cover (id, ${tx(`${owner.kind}_id`)}, source, hash, original, width, height)
      values (${newId()}, ${owner.id}, 'custom', decode(${name}, 'hex'), ${ending}, ${width}, ${height})
      on conflict (${tx(`${owner.kind}_id`)}, hash) do nothing
      returning id`
    const [known] = made
      ? [made]
      : await tx<{ id: string }[]>`
          select c.id from cover c where ${ownedBy(tx, owner)} and c.hash = decode(${name}, 'hex')`
    return { cover: await show(tx, subject, known!.id), isNew: made !== undefined }
  })
}

/** Shows an uploaded cover. Throws NotFound. */
export async function selectCover(sql: Sql, asked: Asked, coverId: string): Promise<Cover> {
  return await sql.begin(async tx => {
    const subject = await requireOwner(tx, asked, true)
    return await show(tx, subject, coverId)
  })
}

/** Goes back to the cover of the book itself, or of the first book; uploaded ones stay. Throws NotFound. */
export async function showAutomatic(sql: Sql, asked: Asked): Promise<void> {
  await sql.begin(async tx => {
    const subject = await requireOwner(tx, asked, true)
    await unselect(tx, asked.owner)
    await setShown(tx, subject, { coverId: null, isLocked: false })
  })
}

/** Shows the cover of one of its books for a series. Throws NotFound for a book that is not among them. */
export async function showBookCover(
  sql: Sql,
  viewer: Viewer,
  { seriesId, bookId }: { seriesId: string; bookId: string },
): Promise<void> {
  const owner: Owner = { kind: 'series', id: seriesId }
  await sql.begin(async tx => {
    const subject = await requireOwner(tx, { viewer, owner }, true)
    const [book] = await tx`
      select 1 from book b join series s on s.id = b.series_id
      where b.id = ${bookId} and b.series_id = ${seriesId} and ${seesBook(tx, viewer)}`
    if (!book) throw new NotFound('The series has no such book')
    await unselect(tx, owner)
    await setShown(tx, subject, { coverId: null, isLocked: true, bookId })
  })
}

/** Deletes a cover; of those that are left the newest is shown in its place. Throws NotFound. */
export async function deleteCover(
  sql: Sql,
  asked: Asked,
  { folders, coverId }: { folders: CoverFolders; coverId: string },
): Promise<void> {
  const { owner } = asked
  const gone = await sql.begin(async tx => {
    const subject = await requireOwner(tx, asked, true)
    const [row] = await tx<{ name: string; ending: string; wasShown: boolean }[]>`
      delete from cover c where c.id = ${coverId} and ${ownedBy(tx, owner)}
      returning encode(c.hash, 'hex') as name, c.original as ending, c.is_selected as "wasShown"`
    if (!row) throw new NotFound('Cover not found')
    if (!row.wasShown) {
      await tellChange(tx, subject, ['covers'])
      return row
    }
    const [next] = await tx<{ id: string }[]>`
      select c.id from cover c where ${ownedBy(tx, owner)}
      order by c.created_at desc, c.id desc limit 1`
    if (next) await show(tx, subject, next.id)
    else await setShown(tx, subject, { coverId: null, isLocked: false })
    return row
  })
  // After the rows, so that no row is without its files; again with a look at the rows, because the
  // same image may stand elsewhere, or come back meanwhile.
  await sql.begin(async tx => {
    await holdFiles(tx, gone.name)
    const [other] = await tx`select 1 from cover where hash = decode(${gone.name}, 'hex') limit 1`
    if (!other) await removeCoverFiles(folders, gone)
  })
}

/** Nobody else writes or removes the files of that name before the transaction ends. */
async function holdFiles(tx: TransactionSql, name: string) {
  await tx`select pg_advisory_xact_lock(hashtext('stackroom.cover'), hashtext(${name}))`
}

async function show(tx: TransactionSql, subject: Subject, coverId: string): Promise<Cover> {
  const owner = ownerOf(subject)
  await unselect(tx, owner)
  const [cover] = await tx<Cover[]>`
    update cover c set is_selected = true, updated_at = now()
    where c.id = ${coverId} and ${ownedBy(tx, owner)}
    returning ${columns(tx, owner)}`
  if (!cover) throw new NotFound('Cover not found')
  await setShown(tx, subject, { coverId, isLocked: true })
  return cover
}

async function unselect(tx: TransactionSql, owner: Owner) {
  await tx`
    update cover c set is_selected = false, updated_at = now()
    where ${ownedBy(tx, owner)} and c.is_selected`
}

type Shown = {
  coverId: string | null
  isLocked: boolean
  /** Of a series without a cover of its own: the book whose cover it shows. */
  bookId?: string
}

/** Last of a change: tells when another cover is shown now. */
async function setShown(tx: TransactionSql, subject: Subject, shown: Shown) {
  const { coverId, isLocked, bookId = null } = shown
  const { kind, id } = ownerOf(subject)
  const unlocked = tx`array_remove(n.locks, 'cover')`
  const chosen = (row: 'n' | 'old') =>
    kind === 'series'
      ? tx`(${tx(row)}.custom_cover, ${tx(row)}.cover_book_id)`
      : tx`${tx(row)}.custom_cover`
  const [row] = await tx<{ isOther: boolean }[]>`
    update ${tx(kind)} n
    set custom_cover = (select hash from cover where id = ${coverId}),
      locks = ${isLocked ? tx`${unlocked} || '{cover}'::text[]` : unlocked}, updated_at = now()
      ${kind === 'series' && coverId === null ? tx`, cover_book_id = ${bookId}` : tx``}
    from ${tx(kind)} old
    where n.id = ${id} and old.id = n.id
    returning ${chosen('n')} is distinct from ${chosen('old')} as "isOther"`
  if (!row?.isOther) return
  const { seriesId } = subject
  await tell(
    tx,
    seriesId === undefined
      ? ofSeries('cover_updated', [subject])
      : await coverEvents(tx, [{ ...subject, seriesId }]),
  )
}

const ownerOf = ({ id, seriesId }: Subject): Owner => ({
  kind: seriesId === undefined ? 'series' : 'book',
  id,
})
