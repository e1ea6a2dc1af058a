// Posters of the Komga-compatible API: the cover in a book's file, and covers uploaded by users.
import { stat } from 'node:fs/promises'
import type { Sql } from 'postgres'
import { NotFound } from '../../base/errors.ts'
import { component, type Static, Type } from '../../base/schema.ts'
import { joinArtifact } from '../../catalog/book/visible-books.ts'
import { type CoverFolders, originalPath } from '../../catalog/cover/cover-files.ts'
import { type OwnerRequest, requireOwner } from '../../catalog/owner.ts'
import { measureImage } from '../../media/image/image.ts'
import type { Grouping } from '../../organize/grouping/grouping.ts'
import type { Thumbnails } from '../../page/thumbnail.ts'
import { flag, integers } from './values.ts'

const common = {
  id: Type.String(),
  type: Type.String({ description: '`GENERATED` or `USER_UPLOADED`.' }),
  selected: flag(),
  mediaType: Type.String(),
  ...integers('fileSize', 'width', 'height'),
}
export const BookPoster = component('ThumbnailBookDto', { ...common, bookId: Type.String() })
export const SeriesPoster = component('ThumbnailSeriesDto', { ...common, seriesId: Type.String() })
export const CollectionPoster = component('ThumbnailSeriesCollectionDto', {
  ...common,
  collectionId: Type.String(),
})
export const ReadListPoster = component('ThumbnailReadListDto', {
  ...common,
  readListId: Type.String(),
})
type Poster = Static<typeof BookPoster> & Static<typeof SeriesPoster>

type Row = {
  id: string
  name: string
  extension: string
  selected: boolean
  width: number | null
  height: number | null
}

type Files = { folders: CoverFolders; thumbnails: Pick<Thumbnails, 'read'> }

/**
 * The posters of a book or a series. The poster from a book's file has the book's id; series have no file.
 * Throws NotFound.
 */
export async function posters(
  sql: Sql,
  request: OwnerRequest,
  { folders, thumbnails }: Files,
): Promise<Poster[]> {
  const { owner } = request
  await requireOwner(sql, request)
  const rows = await uploadsOf(sql, `${owner.kind}_id`, owner.id)
  const uploaded = await Promise.all(rows.map(row => uploadedPoster(row, folders)))
  const isSelected = !rows.some(row => row.selected)
  const generated = owner.kind === 'book' ? await fileCover(sql, owner.id) : null
  const own = generated === null ? null : await thumbnails.read(generated)
  const first = own
    ? [{ id: owner.id, type: 'GENERATED', selected: isSelected, ...(await measured(own)) }]
    : []
  return [...first, ...uploaded].map(
    poster => ({ ...poster, [`${owner.kind}Id`]: owner.id }) as Poster,
  )
}

/** `column`: that of the owner. */
const uploadsOf = (sql: Sql, column: string, id: string) => sql<Row[]>`
  select c.id, encode(c.hash, 'hex') as name, c.original as extension, c.is_selected as selected,
    c.width, c.height
  from cover c where c.${sql(column)} = ${id} order by c.created_at, c.id`

async function uploadedPoster({ id, name, extension, ...row }: Row, folders: CoverFolders) {
  return {
    ...{ id, type: 'USER_UPLOADED', selected: row.selected },
    mediaType: `image/${extension === 'jpg' ? 'jpeg' : extension}`,
    fileSize: await sizeOf(originalPath(folders, name, extension)),
    ...{ width: row.width ?? 0, height: row.height ?? 0 },
  }
}

/** The uploaded posters of a collection or a read list, and the names of their thumbnails. */
export async function groupingPosters(
  sql: Sql,
  grouping: Grouping,
  { id, folders }: { id: string; folders: CoverFolders },
): Promise<{ name: string; poster: Static<typeof CollectionPoster> }[]> {
  const rows = await uploadsOf(sql, grouping.owner, id)
  return await Promise.all(
    rows.map(async row => {
      const poster = { ...(await uploadedPoster(row, folders)), [grouping.idKey]: id }
      return { name: row.name, poster: poster as never }
    }),
  )
}

/** Name of the thumbnail of a poster. Throws NotFound. */
export async function posterName(sql: Sql, request: OwnerRequest, id: string): Promise<string> {
  const { owner } = request
  await requireOwner(sql, request)
  if (owner.kind === 'book' && id === owner.id) {
    const name = await fileCover(sql, id)
    if (name !== null) return name
  }
  const [row] = await sql<{ name: string }[]>`
    select encode(c.hash, 'hex') as name from cover c
    where c.id = ${id} and c.${sql(`${owner.kind}_id`)} = ${owner.id}`
  if (!row) throw new NotFound('Poster not found')
  return row.name
}

async function fileCover(sql: Sql, bookId: string): Promise<string | null> {
  const [row] = await sql<{ name: string | null }[]>`
    select encode(a.cover, 'hex') as name from book b ${joinArtifact(sql)} where b.id = ${bookId}`
  return row?.name ?? null
}

async function measured({ bytes, mediaType }: { bytes: Buffer; mediaType: string }) {
  const size = await measureImage(async () => bytes)
  return {
    ...{ mediaType, fileSize: bytes.length },
    ...{ width: size?.width ?? 0, height: size?.height ?? 0 },
  }
}

/** 0 if the file is gone. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}
