// Covers of collections and read lists: an uploaded one, otherwise a mosaic of the first four members that the
// caller sees, otherwise the cover of the first.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound, Unreadable } from '../../base/errors.ts'
import { coverFolders } from '../../catalog/cover/cover-files.ts'
import { coverOfBook, coverOfSeries } from '../../catalog/cover/displayed-cover.ts'
import {
  type CoverVariant,
  coverResponse,
  maxAgeSeconds,
} from '../../catalog/cover/routes/cover-response.ts'
import { withUpload } from '../../catalog/cover/routes/cover-upload.ts'
import { createCover } from '../../catalog/cover/routes/covers.ts'
import type { Deps } from '../../http/deps.ts'
import { route } from '../../http/route.ts'
import { imageResponse, imageResponses, notModified } from '../../page/routes/image-response.ts'
import { placeholder, type Thumbnail, thumbnailEtag } from '../../page/thumbnail.ts'
import { deleteGroupingCovers, groupingCover, setGroupingCover } from '../grouping/cover.ts'
import { type Grouping, groupingNotFound } from '../grouping/grouping.ts'
import { findGrouping } from '../grouping/list.ts'
import { ofCollections, ofReadLists } from './grouping-kind.ts'

export const groupingCovers = [ofCollections, ofReadLists].flatMap(
  ({ grouping, one, noun, path, params, read, write }) => [
    route(`GET ${path}/{id}/thumbnail`, {
      operationId: `get${one}Thumbnail`,
      permission: read,
      cookie: true,
      bucket: 'images',
      summary: `Get the cover thumbnail of a ${noun}`,
      description:
        'The uploaded cover, otherwise a mosaic of the first four members that the caller sees, otherwise the cover of the first; 404 if there is none.',
      params,
      responses: imageResponses,
      async handle({ params, viewer, request, signal }, deps) {
        const { thumbnails, config } = deps
        const response = await groupingThumbnail(request, deps, {
          ...{ viewer, grouping, id: params.id, signal, format: config.thumbnail.format },
          ...{ etagOf: thumbnailEtag, read: thumbnails.read, placeholder: () => placeholder },
        })
        if (response === null) throw groupingNotFound(grouping)
        return response
      },
    }),
    route(`POST ${path}/{id}/cover`, {
      operationId: `upload${one}Cover`,
      permission: write,
      summary: `Upload a cover for a ${noun}`,
      description:
        'Replaces all earlier ones; 400 if it is not a readable image. It is visible to everyone who sees the members. Uploads of an account are read one at a time; others wait.',
      params,
      multipart: { description: 'The image as part `file`, `cover` or `image`.' },
      responses: { 204: null },
      async handle({ params: { id }, viewer, request, signal }, deps) {
        const { sql, config, pages } = deps
        await findGrouping(deps, viewer, grouping, { id, withEmpty: true })
        const client = { accountId: viewer.accountId, signal }
        const folders = coverFolders(config.data_dir)
        await withUpload({ request, ...client }, async original => {
          const cover = await createCover(original, { config, pages, client })
          await setGroupingCover(sql, viewer, grouping, { id, folders, cover })
        })
      },
    }),
    route(`DELETE ${path}/{id}/cover`, {
      operationId: `delete${one}Cover`,
      permission: write,
      summary: `Delete the uploaded covers of a ${noun}`,
      description: 'Also succeeds if there is none.',
      params,
      responses: { 204: null },
      async handle({ params: { id }, viewer }, { sql, config }) {
        const folders = coverFolders(config.data_dir)
        await deleteGroupingCovers(sql, viewer, grouping, { id, folders })
      },
    }),
  ],
)

type Subject = { viewer: Viewer; grouping: Grouping; id: string; signal: AbortSignal } & Variant
type Variant = CoverVariant & { format: 'webp' | 'jpeg' }
type Images = Pick<Deps, 'sql' | 'services' | 'queue' | 'thumbnails' | 'pages' | 'config'>

/** Null when nothing is hidden from the viewer and there are no members. Throws NotFound. */
export async function groupingThumbnail(
  request: FastifyRequest,
  deps: Images,
  { viewer, grouping, id, signal, ...variant }: Subject,
) {
  const { sql } = deps
  const { uploaded, members } = await groupingCover(deps, viewer, grouping, id)
  const send = ({ bytes, mediaType, etag }: Thumbnail) =>
    notModified(request, { etag, maxAgeSeconds }) ??
    imageResponse(request, { body: bytes, length: bytes.length, mediaType, etag, maxAgeSeconds })
  const custom = uploaded && (await variant.read(uploaded))
  if (custom) return send({ ...custom, etag: variant.etagOf(uploaded) })
  const [first] = members
  if (first === undefined) return null
  const [kind, coverOf] =
    grouping.contents === 'series'
      ? (['series', coverOfSeries] as const)
      : (['book', coverOfBook] as const)
  const names = await Promise.all(members.map(member => coverOf(sql, viewer, member)))
  const parts = names.filter(name => name !== null)
  const client = { accountId: viewer.accountId, signal }
  const mosaic =
    parts.length === mosaicParts
      ? await readMosaic(deps, { parts, format: variant.format, client })
      : null
  if (mosaic) return send(mosaic)
  return await coverResponse(request, deps, { ...variant, viewer, kind, id: first, coverOf })
}

const mosaicParts = 4

type MosaicRequest = {
  /** Names of thumbnails. */
  parts: readonly string[]
  format: 'webp' | 'jpeg'
  client: { accountId: string; signal: AbortSignal }
}

/** Null if it cannot be made. Its name, and therefore its ETag, derives from the covers in it. */
async function readMosaic(
  { thumbnails, pages, config }: Pick<Images, 'thumbnails' | 'pages' | 'config'>,
  { parts, format, client: { accountId } }: MosaicRequest,
): Promise<Thumbnail | null> {
  const { max_dimension: maxSide, quality } = config.thumbnail
  const text = ['mosaic', format, maxSide, quality, ...parts].join(' ')
  const name = createHash('sha256').update(text).digest('hex').slice(0, 40)
  try {
    return await thumbnails.composed(name, async () => {
      const images = await Promise.all(parts.map(part => thumbnails.read(part)))
      // Copied, because buffers sent to a thread may be transferred.
      const copies = images.flatMap(image => (image ? Uint8Array.from(image.bytes) : []))
      if (copies.length < parts.length) throw new NotFound('A cover is missing')
      // Without the signal of one client: others may be waiting for the same image.
      const bytes = await pages.mosaic({ images: copies, maxSide, format, quality }, { accountId })
      return { bytes: Buffer.from(bytes), mediaType: `image/${format}` }
    })
  } catch (error) {
    if (error instanceof NotFound || error instanceof Unreadable) return null
    throw error
  }
}
