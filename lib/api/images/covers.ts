// Covers that users upload for books and series, and the choice among them.
import type { FastifyRequest } from 'fastify'
import type { Permission } from '../../auth/permission.ts'
import {
  addCover,
  Cover,
  deleteCover,
  findOriginal,
  listCovers,
  type NewCover,
  type Owner,
  requireOwner,
  selectCover,
  showAutomatic,
  showBookCover,
} from '../../catalog/cover/cover.ts'
import { coverFolders, originalPath } from '../../catalog/cover/cover-files.ts'
import { wholeFile } from '../../download/file-body.ts'
import { Invalid, NotFound, Unreadable, UnsupportedMedia } from '../../errors.ts'
import type { Deps } from '../../http/deps.ts'
import { answer, route } from '../../http/route.ts'
import { thumbnailTag } from '../../page/thumbnail.ts'
import { body, ErrorBody, Id, list, record, uuid } from '../../schema.ts'
import { imageAnswer, imageResponses, notModified, whenOver } from './image.ts'

type Subject = { kind: Owner['kind']; path: string; read: Permission; write: Permission }

const subjects: Subject[] = [
  { kind: 'book', path: '/books/{id}', read: 'BooksRead', write: 'BooksWrite' },
  { kind: 'series', path: '/series/{id}', read: 'SeriesRead', write: 'SeriesWrite' },
]
const CoverId = record({ id: uuid(), cover_id: uuid() })
const maxAgeSeconds = 86_400

export const covers = [
  ...subjects.flatMap(subject => [...reading(subject), ...writing(subject)]),
  route({
    method: 'PUT',
    path: '/series/{id}/covers/from-book',
    permission: 'SeriesWrite',
    summary: 'Show the cover of one of its books for a series',
    params: Id,
    body: body({ bookId: uuid() }),
    responses: { 204: null },
    async handle({ params, body: { bookId }, viewer }, { sql }) {
      await showBookCover(sql, viewer, { seriesId: params.id, bookId })
      return answer(204)
    },
  }),
]

function reading({ kind, path, read }: Subject) {
  return [
    route({
      method: 'GET',
      path: `${path}/covers`,
      permission: read,
      summary: `Uploaded covers of a ${kind}`,
      description: 'The oldest first. None is selected while the automatic cover is shown.',
      params: Id,
      responses: { 200: record({ covers: list(Cover) }) },
      handle: async ({ params, viewer }, { sql }) => ({
        covers: await listCovers(sql, { viewer, owner: { kind, id: params.id } }),
      }),
    }),
    route({
      method: 'GET',
      path: `${path}/covers/{cover_id}/image`,
      permission: read,
      cookie: true,
      bucket: 'images',
      summary: `An uploaded cover of a ${kind}, as it was uploaded`,
      params: CoverId,
      responses: imageResponses,
      async handle({ params, viewer, request, reply }, { sql, config }) {
        const asked = { viewer, owner: { kind, id: params.id } }
        const { name, ending } = await findOriginal(sql, asked, params.cover_id)
        const caching = { tag: thumbnailTag(`${name}-original`), maxAgeSeconds }
        const fresh = notModified(request, caching)
        if (fresh) return fresh
        const found = await wholeFile(originalPath(coverFolders(config.data_dir), name, ending))
        if (found === null) throw new NotFound('The file of the cover is not there')
        whenOver(reply, found.done)
        return imageAnswer(request, { ...found, ...caching, mediaType: mediaTypeOf(ending) })
      },
    }),
  ]
}

function writing({ kind, path, write: permission }: Subject) {
  const ownerOf = (params: { id: string }): Owner => ({ kind, id: params.id })
  return [
    route({
      method: 'POST',
      path: `${path}/cover`,
      permission,
      summary: `Upload a cover for a ${kind}`,
      description:
        'It is shown from now on, and the cover is locked. 200 instead of 201 when the same image was uploaded before; 400 when it is no image that can be read.',
      params: Id,
      multipart: { description: 'The image as part `file`, `cover` or `image`.' },
      responses: { 200: Cover, 201: Cover, 503: ErrorBody },
      async handle({ params, viewer, request, signal }, { sql, config, pages }) {
        const asked = { viewer, owner: ownerOf(params) }
        await requireOwner(sql, asked)
        const original = await readUpload(request)
        const made = await makeCover(original, { config, pages, signal })
        const folders = coverFolders(config.data_dir)
        const { cover, isNew } = await addCover(sql, asked, { folders, cover: made })
        return isNew ? answer(201, cover) : answer(200, cover)
      },
    }),
    route({
      method: 'PUT',
      path: `${path}/covers/{cover_id}/select`,
      permission,
      summary: `Show an uploaded cover of a ${kind}`,
      params: CoverId,
      responses: { 200: Cover },
      handle: ({ params, viewer }, { sql }) =>
        selectCover(sql, { viewer, owner: ownerOf(params) }, params.cover_id),
    }),
    route({
      method: 'DELETE',
      path: `${path}/covers/selected`,
      permission,
      summary: `Go back to the automatic cover of a ${kind}`,
      description: 'Uploaded covers stay and can be selected again; the cover is unlocked.',
      params: Id,
      responses: { 204: null },
      async handle({ params, viewer }, { sql }) {
        await showAutomatic(sql, { viewer, owner: ownerOf(params) })
        return answer(204)
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/covers/{cover_id}`,
      permission,
      summary: `Delete an uploaded cover of a ${kind}`,
      description: 'Of those that are left the newest is shown, if this one was.',
      params: CoverId,
      responses: { 204: null },
      async handle({ params, viewer }, { sql, config }) {
        const folders = coverFolders(config.data_dir)
        const asked = { viewer, owner: ownerOf(params) }
        await deleteCover(sql, asked, { folders, coverId: params.cover_id })
        return answer(204)
      },
    }),
  ]
}

const partNames = new Set(['file', 'cover', 'image'])

/** The image in a multipart body. Throws Invalid, UnsupportedMedia; too large is 413. */
async function readUpload(request: FastifyRequest): Promise<Buffer> {
  if (!request.isMultipart()) throw new UnsupportedMedia('The body must be multipart/form-data')
  let image: Buffer | null = null
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      if (partNames.has(part.fieldname)) image = await part.toBuffer()
      else part.file.resume()
    }
  } catch (error) {
    // Errors of the parser itself have no status: they tell of a body that is none.
    if ((error as { statusCode?: number }).statusCode) throw error
    throw new Invalid('The body is not valid multipart/form-data', { cause: error })
  }
  if (image === null || image.length === 0)
    throw new Invalid('The body has no image as part `file`, `cover` or `image`')
  return image
}

type Making = Pick<Deps, 'config' | 'pages'> & { signal: AbortSignal }

/** What is kept of an image, its thumbnail made by a thread. Throws Invalid for what is none. */
async function makeCover(original: Buffer, { config, pages, signal }: Making): Promise<NewCover> {
  const { max_dimension: maxSide, format, quality } = config.thumbnail
  const order = { bytes: original, maxSide, format, quality }
  try {
    const { bytes, mediaType, width, height } = await pages.cover(order, signal)
    const ending = endings[mediaType]!
    return { original, ending, width, height, thumbnail: bytes, format }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new Invalid(error.message, { details: error.details, cause: error })
  }
}

const endings: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'image/jxl': 'jxl',
  'image/heic': 'heic',
  'image/bmp': 'bmp',
  'image/tiff': 'tif',
  'image/jp2': 'jp2',
}

const mediaTypeOf = (ending: string): string =>
  Object.keys(endings).find(type => endings[type] === ending) ?? 'application/octet-stream'
