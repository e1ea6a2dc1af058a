// Routes of posters in the Komga-compatible API, the same for books, series, collections and read lists.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../../../accounts/identify.ts'
import type { Permission } from '../../../../accounts/permission.ts'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { NotFound } from '../../../../base/errors.ts'
import {
  bytes,
  ErrorBody,
  list,
  maybe,
  record,
  type TSchema,
  Type,
  uuid,
} from '../../../../base/schema.ts'
import type { NewCover } from '../../../../catalog/cover/cover.ts'
import { coverFolders } from '../../../../catalog/cover/cover-files.ts'
import { asJpeg } from '../../../../catalog/cover/routes/cover-response.ts'
import { withUpload } from '../../../../catalog/cover/routes/cover-upload.ts'
import { createCover } from '../../../../catalog/cover/routes/covers.ts'
import type { Deps } from '../../../../http/deps.ts'
import type { BookId } from '../../../../http/params.ts'
import { type BinaryBody, type Route, type RouteResponse, route } from '../../../../http/route.ts'
import { imageResponse, notModified } from '../../../../page/routes/image-response.ts'
import { revalidated } from '../dialect.ts'

export type PosterInput = {
  params: { id: string }
  viewer: Viewer
  identity: Identity
  request: FastifyRequest
  signal: AbortSignal
}
type Upload = { cover: NewCover; folders: ReturnType<typeof coverFolders>; isSelected: boolean }
/** Reads the uploaded image, and passes it on. */
export type ReadUpload = <T>(work: (upload: Upload) => Promise<T>) => Promise<T>

type Image = RouteResponse<200, BinaryBody> | RouteResponse<304, undefined>

/** What has posters, and how they are found and changed. All functions throw NotFound. */
export type PosterOwner = {
  /** In operation ids. */
  name: string
  noun: string
  path: string
  params: typeof BookId
  read: Permission
  write: Permission
  item: TSchema
  /** What single posters are called. */
  poster: 'a poster' | 'an uploaded poster'
  displayNote?: string
  listNote: string
  display: (input: PosterInput, deps: Deps) => Promise<Image>
  list: (input: PosterInput, deps: Deps) => Promise<object[]>
  /** The name of the file of a poster. */
  fileOf: (input: PosterInput, deps: Deps, posterId: string) => Promise<string>
  /** Returns the new poster. */
  add: (input: PosterInput, deps: Deps, read: ReadUpload) => Promise<object>
  select: (input: PosterInput, deps: Deps, posterId: string) => Promise<unknown>
  remove: (input: PosterInput, deps: Deps, posterId: string) => Promise<void>
}

export function posterRoutes(owner: PosterOwner): Route[] {
  const { name, noun, path, params, read, write, item } = owner
  const PosterId = record({ ...params.properties, poster_id: uuid() })
  const jpeg = { 200: bytes('image/jpeg'), 304: null, 503: ErrorBody } as const
  return [
    route(`GET ${path}/thumbnail`, {
      operationId: `get${name}Thumbnail`,
      permission: read,
      bucket: 'images',
      summary: `Get the poster of a ${noun} (JPEG)`,
      ...(owner.displayNote ? { description: owner.displayNote } : {}),
      params,
      responses: jpeg,
      handle: async (input, deps) => revalidated(await owner.display(input, deps)),
    }),
    route(`GET ${path}/thumbnails`, {
      operationId: `get${name}Thumbnails`,
      permission: read,
      cost: 'record',
      summary: `List the posters of a ${noun}`,
      description: owner.listNote,
      params,
      responses: { 200: list(item) },
      handle: (input, deps) => owner.list(input, deps),
    }),
    route(`GET ${path}/thumbnails/{poster_id}`, {
      operationId: `get${name}ThumbnailById`,
      permission: read,
      bucket: 'images',
      summary: `Get ${owner.poster} of a ${noun} (JPEG)`,
      params: PosterId,
      responses: jpeg,
      handle: async (input, deps) =>
        posterImage(input.request, deps, await owner.fileOf(input, deps, input.params.poster_id)),
    }),
    route(`POST ${path}/thumbnails`, {
      operationId: `addUserUploaded${name}Thumbnail`,
      permission: write,
      summary: `Upload a poster for a ${noun}`,
      params,
      query: record({ selected: maybe(Type.Boolean()) }),
      multipart: { description: 'The image as part `file`.' },
      responses: { 200: item, 503: ErrorBody },
      handle(input, deps) {
        const { query, viewer, request, signal } = input
        const { config, pages } = deps
        const client = { accountId: viewer.accountId, signal }
        const folders = coverFolders(config.data_dir)
        return owner.add(input, deps, work =>
          withUpload({ request, ...client }, async (original, fields) => {
            const isSelected = query.selected ?? fields.get('selected')?.toLowerCase() !== 'false'
            const cover = await createCover(original, { config, pages, client })
            return await work({ cover, folders, isSelected })
          }),
        )
      },
    }),
    route(`PUT ${path}/thumbnails/{poster_id}/selected`, {
      operationId: `mark${name}ThumbnailSelected`,
      permission: write,
      summary: `Select a poster of a ${noun}`,
      params: PosterId,
      responses: { 202: null },
      async handle(input, deps) {
        await owner.select(input, deps, input.params.poster_id)
      },
    }),
    route(`DELETE ${path}/thumbnails/{poster_id}`, {
      operationId: `deleteUserUploaded${name}Thumbnail`,
      permission: write,
      summary: `Delete an uploaded poster of a ${noun}`,
      params: PosterId,
      responses: { 202: null },
      handle: (input, deps) => owner.remove(input, deps, input.params.poster_id),
    }),
  ]
}

/** A stored poster by its file name. Throws NotFound. */
async function posterImage(request: FastifyRequest, deps: Deps, name: string) {
  const image = await asJpeg(deps).read(name)
  if (image === null) throw new NotFound('The file of the poster is missing')
  const { bytes: body, mediaType, etag } = image
  const caching = { etag, maxAgeSeconds: 300 }
  return (
    notModified(request, caching) ??
    imageResponse(request, { ...caching, body, mediaType, length: body.length })
  )
}
