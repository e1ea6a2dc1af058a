// Posters of books and series in the Komga-compatible API: the displayed one, all of them, uploads, selection.
import type { FastifyRequest } from 'fastify'
import type { Permission } from '../../../../accounts/permission.ts'
import { Invalid, NotFound } from '../../../../base/errors.ts'
import { bytes, ErrorBody, list, maybe, record, Type, uuid } from '../../../../base/schema.ts'
import {
  addCover,
  deleteCover,
  listCovers,
  selectAutomaticCover,
  selectCover,
} from '../../../../catalog/cover/cover.ts'
import { coverFolders } from '../../../../catalog/cover/cover-files.ts'
import { coverOfBook, coverOfSeries } from '../../../../catalog/cover/displayed-cover.ts'
import { asJpeg, coverResponse } from '../../../../catalog/cover/routes/cover-response.ts'
import { withUpload } from '../../../../catalog/cover/routes/cover-upload.ts'
import { createCover } from '../../../../catalog/cover/routes/covers.ts'
import { type Owner, type OwnerRequest, requireOwner } from '../../../../catalog/owner.ts'
import { generateThumbnails } from '../../../../catalog/scan/work-on-many.ts'
import type { Deps } from '../../../../http/deps.ts'
import { BookId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { imageResponse, notModified } from '../../../../page/routes/image-response.ts'
import { BookPoster, posterName, posters as postersOf, SeriesPoster } from '../../poster-dto.ts'
import { revalidated } from '../http/revalidation.ts'

export const jpeg = { 200: bytes('image/jpeg'), 304: null, 503: ErrorBody } as const

/** A stored poster by its file name. Throws NotFound. */
export async function posterImage(request: FastifyRequest, deps: Deps, name: string) {
  const image = await asJpeg(deps).read(name)
  if (image === null) throw new NotFound('The file of the poster is missing')
  const { bytes: body, mediaType, etag } = image
  const caching = { etag, maxAgeSeconds: 300 }
  return (
    notModified(request, caching) ??
    imageResponse(request, { ...caching, body, mediaType, length: body.length })
  )
}

/** Whether an upload is to be displayed, from the query or the form; true by default. */
export const isSelectedBy = (
  { selected }: { selected?: boolean | undefined },
  fields: ReadonlyMap<string, string>,
): boolean => selected ?? fields.get('selected')?.toLowerCase() !== 'false'

type PosterOwner = {
  kind: Owner['kind']
  ownerName: 'Book' | 'Series'
  path: string
  params: typeof BookId
  read: Permission
  write: Permission
  item: typeof BookPoster | typeof SeriesPoster
  coverOf: typeof coverOfBook
}

const owners: PosterOwner[] = [
  {
    ...{ kind: 'book', ownerName: 'Book', path: '/books/{id}', params: BookId },
    ...{ read: 'BooksRead', write: 'BooksWrite', item: BookPoster, coverOf: coverOfBook },
  },
  {
    ...{ kind: 'series', ownerName: 'Series', path: '/series/{id}', params: SeriesId },
    ...{ read: 'SeriesRead', write: 'SeriesWrite', item: SeriesPoster, coverOf: coverOfSeries },
  },
]

function readRoutes({ kind, ownerName, path, params, read, item, coverOf }: PosterOwner) {
  return [
    route(`GET ${path}/thumbnail`, {
      operationId: `get${ownerName}Thumbnail`,
      permission: read,
      bucket: 'images',
      summary: `Get the poster of a ${kind} (JPEG)`,
      params,
      responses: jpeg,
      async handle({ params, viewer, request }, deps) {
        const cover = { viewer, kind, id: params.id, coverOf, ...asJpeg(deps) }
        return revalidated(await coverResponse(request, deps, cover))
      },
    }),
    route(`GET ${path}/thumbnails`, {
      operationId: `get${ownerName}Thumbnails`,
      permission: read,
      cost: 'record',
      summary: `List the posters of a ${kind}`,
      description: "The poster from a book's file has the id of the book.",
      params,
      responses: { 200: list(item) },
      handle: ({ params, viewer }, { sql, config, thumbnails }) =>
        postersOf(
          sql,
          { viewer, owner: { kind, id: params.id } },
          { folders: coverFolders(config.data_dir), thumbnails },
        ),
    }),
    route(`GET ${path}/thumbnails/{poster_id}`, {
      operationId: `get${ownerName}ThumbnailById`,
      permission: read,
      bucket: 'images',
      summary: `Get a poster of a ${kind} (JPEG)`,
      params: record({ ...params.properties, poster_id: uuid() }),
      responses: jpeg,
      async handle({ params, viewer, request }, deps) {
        const owned = { viewer, owner: { kind, id: params.id } }
        const name = await posterName(deps.sql, owned, params.poster_id)
        return await posterImage(request, deps, name)
      },
    }),
  ]
}

function writeRoutes({ kind, ownerName, path, params, write: permission, item }: PosterOwner) {
  const PosterId = record({ ...params.properties, poster_id: uuid() })
  const ownerOf = (id: string): Owner => ({ kind, id })
  const isOfFile = ({ id, poster_id }: { id: string; poster_id: string }) =>
    kind === 'book' && id === poster_id
  return [
    route(`POST ${path}/thumbnails`, {
      operationId: `addUserUploaded${ownerName}Thumbnail`,
      permission,
      summary: `Upload a poster for a ${kind}`,
      params,
      query: record({ selected: maybe(Type.Boolean()) }),
      multipart: { description: 'The image as part `file`.' },
      responses: { 200: item, 503: ErrorBody },
      async handle({ params, query, viewer, request, signal }, { sql, config, pages, thumbnails }) {
        const owned: OwnerRequest = { viewer, owner: ownerOf(params.id) }
        await requireOwner(sql, owned)
        const before = (await listCovers(sql, owned)).find(({ isSelected }) => isSelected)
        const client = { accountId: viewer.accountId, signal }
        const folders = coverFolders(config.data_dir)
        const { cover, isSelected } = await withUpload(
          { request, ...client },
          async (original, fields) => ({
            isSelected: isSelectedBy(query, fields),
            ...(await addCover(sql, owned, {
              folders,
              cover: await createCover(original, { config, pages, client }),
            })),
          }),
        )
        if (!isSelected && before?.id !== cover.id)
          await (before ? selectCover(sql, owned, before.id) : selectAutomaticCover(sql, owned))
        const all = await postersOf(sql, owned, { folders, thumbnails })
        return all.find(({ id }) => id === cover.id)!
      },
    }),
    route(`PUT ${path}/thumbnails/{poster_id}/selected`, {
      operationId: `mark${ownerName}ThumbnailSelected`,
      permission,
      summary: `Select a poster of a ${kind}`,
      params: PosterId,
      responses: { 202: null },
      async handle({ params, viewer }, { sql }) {
        const owned = { viewer, owner: ownerOf(params.id) }
        if (isOfFile(params)) await selectAutomaticCover(sql, owned)
        else await selectCover(sql, owned, params.poster_id)
      },
    }),
    route(`DELETE ${path}/thumbnails/{poster_id}`, {
      operationId: `deleteUserUploaded${ownerName}Thumbnail`,
      permission,
      summary: `Delete an uploaded poster of a ${kind}`,
      params: PosterId,
      responses: { 202: null },
      async handle({ params, viewer }, { sql, config }) {
        const owned = { viewer, owner: ownerOf(params.id) }
        if (isOfFile(params)) {
          await requireOwner(sql, owned)
          throw new Invalid('The poster from the file cannot be deleted')
        }
        const folders = coverFolders(config.data_dir)
        await deleteCover(sql, owned, { folders, coverId: params.poster_id })
      },
    }),
  ]
}

const regeneration = route('PUT /books/thumbnails', {
  operationId: 'booksRegenerateThumbnails',
  permission: 'TasksWrite',
  cost: 'record',
  summary: 'Regenerate the posters of all books',
  query: record({ for_bigger_result_only: maybe(Type.Boolean()) }),
  responses: { 202: null },
  async handle({ query, viewer }, { sql, queue }) {
    const force = query.for_bigger_result_only !== true
    await generateThumbnails({ sql, queue, viewer }, {}, { of: 'book', force })
  },
})

export const posters = [
  ...owners.flatMap(owner => [...readRoutes(owner), ...writeRoutes(owner)]),
  regeneration,
]
