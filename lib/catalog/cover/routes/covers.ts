// Custom covers of books and series: upload, selection, deletion.
import { Invalid, NotFound, Unreadable } from '../../../base/errors.ts'
import { body, component, ErrorBody, list, record, uuid } from '../../../base/schema.ts'
import { readWholeFile } from '../../../download/file-body.ts'
import type { Deps } from '../../../http/deps.ts'
import { whenClosed } from '../../../http/exchange.ts'
import { ofBook, ofSeries, SeriesId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import type { Client } from '../../../page/pool.ts'
import { imageResponse, imageResponses, notModified } from '../../../page/routes/image-response.ts'
import { thumbnailEtag } from '../../../page/thumbnail.ts'
import { type Owner, requireOwner } from '../../owner.ts'
import {
  addCover,
  Cover,
  deleteCover,
  findOriginal,
  listCovers,
  maxCovers,
  selectAutomaticCover,
  selectBookCover,
  selectCover,
} from '../cover.ts'
import { coverFolders, originalPath } from '../cover-files.ts'
import { mediaTypeOf, newCover } from '../new-cover.ts'
import { withUpload } from './cover-upload.ts'

const owners = [ofBook, ofSeries]
type CoverOwner = (typeof owners)[number]

const coverId = { cover_id: uuid({ description: 'Cover id.' }) }
const CoverList = component('CoverList', { covers: list(Cover) })
const maxAgeSeconds = 86_400

export const covers = [
  ...owners.flatMap(owner => [...readRoutes(owner), ...writeRoutes(owner)]),
  route('PUT /series/{id}/covers/from-book', {
    operationId: 'selectBookCoverForSeries',
    permission: 'SeriesWrite',
    summary: 'Use the cover of a book for its series',
    params: SeriesId,
    body: body('SeriesCoverSelection', { bookId: uuid({ description: 'A book of the series.' }) }),
    responses: { 204: null },
    handle: ({ params, body: { bookId }, viewer }, { sql }) =>
      selectBookCover(sql, viewer, { seriesId: params.id, bookId }),
  }),
]

function readRoutes({ kind, ownerName, path, params, read }: CoverOwner) {
  return [
    route(`GET ${path}/covers`, {
      operationId: `list${ownerName}Covers`,
      permission: read,
      summary: `List custom covers of a ${kind}`,
      description: 'Oldest first. None is selected while the automatic cover is used.',
      params,
      responses: { 200: CoverList },
      handle: async ({ params, viewer }, { sql }) => ({
        covers: await listCovers(sql, { viewer, owner: { kind, id: params.id } }),
      }),
    }),
    route(`GET ${path}/covers/{cover_id}/image`, {
      operationId: `get${ownerName}CoverImage`,
      permission: read,
      cookie: true,
      bucket: 'images',
      summary: `Get the original of a custom cover of a ${kind}`,
      params: record({ ...params.properties, ...coverId }),
      responses: imageResponses,
      async handle({ params, viewer, request, reply }, { sql, config }) {
        const owned = { viewer, owner: { kind, id: params.id } }
        const { name, extension } = await findOriginal(sql, owned, params.cover_id)
        const caching = { etag: thumbnailEtag(`${name}-original`), maxAgeSeconds }
        const fresh = notModified(request, caching)
        if (fresh) return fresh
        const file = await readWholeFile(
          originalPath(coverFolders(config.data_dir), name, extension),
        )
        if (file === null) throw new NotFound('The file of the cover is missing')
        whenClosed(reply, file.release)
        return imageResponse(request, { ...file, ...caching, mediaType: mediaTypeOf(extension) })
      },
    }),
  ]
}

function writeRoutes({ kind, ownerName, path, params, write: permission }: CoverOwner) {
  const CoverId = record({ ...params.properties, ...coverId })
  const ownerOf = (params: { id: string }): Owner => ({ kind, id: params.id })
  return [
    route(`POST ${path}/cover`, {
      operationId: `upload${ownerName}Cover`,
      permission,
      summary: `Upload a cover for a ${kind}`,
      description: `The cover is selected and locked. 200 instead of 201 if the same image was uploaded before; 400 if it is not a readable image; 409 if there are already ${maxCovers} custom covers. Bytes after the end of the image are not stored. Uploads of an account are read one at a time; others wait.`,
      params,
      multipart: { description: 'The image as part `file`, `cover` or `image`.' },
      responses: { 200: Cover, 201: Cover, 503: ErrorBody },
      async handle({ params, viewer, request, signal }, { sql, config, pages }) {
        const owned = { viewer, owner: ownerOf(params) }
        await requireOwner(sql, owned)
        const client = { accountId: viewer.accountId, signal }
        const folders = coverFolders(config.data_dir)
        const { cover, isNew } = await withUpload({ request, ...client }, async original => {
          const cover = await createCover(original, { config, pages, client })
          return addCover(sql, owned, { folders, cover })
        })
        return isNew ? respond(201, cover) : respond(200, cover)
      },
    }),
    route(`PUT ${path}/covers/{cover_id}/select`, {
      operationId: `select${ownerName}Cover`,
      permission,
      summary: `Select a custom cover of a ${kind}`,
      params: CoverId,
      responses: { 200: Cover },
      handle: ({ params, viewer }, { sql }) =>
        selectCover(sql, { viewer, owner: ownerOf(params) }, params.cover_id),
    }),
    route(`DELETE ${path}/covers/selected`, {
      operationId: `select${ownerName}AutomaticCover`,
      permission,
      summary: `Select the automatic cover of a ${kind}`,
      description:
        'Custom covers are not deleted and can be selected again; the cover is unlocked.',
      params,
      responses: { 204: null },
      handle: ({ params, viewer }, { sql }) =>
        selectAutomaticCover(sql, { viewer, owner: ownerOf(params) }),
    }),
    route(`DELETE ${path}/covers/{cover_id}`, {
      operationId: `delete${ownerName}Cover`,
      permission,
      summary: `Delete a custom cover of a ${kind}`,
      description: 'If it was selected, the newest remaining cover is selected.',
      params: CoverId,
      responses: { 204: null },
      async handle({ params, viewer }, { sql, config }) {
        const folders = coverFolders(config.data_dir)
        const owned = { viewer, owner: ownerOf(params) }
        await deleteCover(sql, owned, { folders, coverId: params.cover_id })
      },
    }),
  ]
}

type CoverContext = Pick<Deps, 'config' | 'pages'> & { client: Client }

/** Stores the original and its thumbnail, rendered by a worker thread. Throws Invalid if it is not an image. */
export async function createCover(original: Buffer, { config, pages, client }: CoverContext) {
  const { max_dimension: maxSide, format, quality } = config.thumbnail
  const coverRequest = { bytes: original, maxSide, format, quality }
  try {
    const made = await pages.cover(coverRequest, client)
    return newCover(original, made, format)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new Invalid(error.message, { details: error.details, cause: error })
  }
}
