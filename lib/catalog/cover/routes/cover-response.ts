// Cover thumbnail responses: generated on demand, with a placeholder while there is no cover.
import type { FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { Deps } from '../../../http/deps.ts'
import { imageResponse, notModified } from '../../../page/routes/image-response.ts'
import { type Thumbnail, thumbnailEtag } from '../../../page/thumbnail.ts'
import { countCoverRequest } from '../../../store/metrics/pipeline.ts'
import { type CoverSubject, findMissingCover, waitForCover } from '../cover-on-demand.ts'

/** The subject of a cover, and the lookup of the cover's file name. */
export type CoverRequest = {
  viewer: Viewer
  kind: CoverSubject
  id: string
  coverOf: (sql: Sql, viewer: Viewer, id: string) => Promise<string | null>
}

/** Media type of the covers: as stored, or converted to JPEG. */
export type CoverVariant = {
  /** ETag of a cover by its file name. */
  etagOf: (name: string) => string
  /** Null if the file is missing. */
  read: (name: string) => Promise<Thumbnail | null>
  placeholder: () => Thumbnail | Promise<Thumbnail>
}

export const maxAgeSeconds = 300
const placeholderMaxAgeSeconds = 10

/** The cover, generated first if missing; otherwise the placeholder. Throws NotFound for a hidden subject. */
export async function coverResponse(
  request: FastifyRequest,
  deps: Pick<Deps, 'sql' | 'services' | 'queue'>,
  { viewer, kind, id, coverOf, ...variant }: CoverRequest & CoverVariant,
) {
  const send = ({ bytes, mediaType, etag }: Thumbnail, maxAgeSeconds: number) =>
    notModified(request, { etag, maxAgeSeconds }) ??
    imageResponse(request, { body: bytes, length: bytes.length, mediaType, etag, maxAgeSeconds })
  const read = async (name: string | null) => {
    const cover = name && (await variant.read(name))
    return cover ? { ...cover, etag: variant.etagOf(name!) } : null
  }
  const { sql } = deps
  const name = await coverOf(sql, viewer, id)
  const fresh = name && notModified(request, { etag: variant.etagOf(name), maxAgeSeconds })
  if (fresh) return counted('hit', fresh)
  const existing = await read(name)
  if (existing) return counted('hit', send(existing, maxAgeSeconds))
  const job = await findMissingCover(sql, { viewer, kind, id, lost: name })
  if (job === null)
    return counted('miss', send(await variant.placeholder(), placeholderMaxAgeSeconds))
  const isGenerated = await waitForCover(deps, job)
  const generated = isGenerated ? await read(await coverOf(sql, viewer, id)) : null
  // The placeholder is not cached: the cover may be ready for the next request.
  return generated
    ? counted('made', send(generated, maxAgeSeconds))
    : counted('miss', send(await variant.placeholder(), 0))
}

function counted<T>(result: Parameters<typeof countCoverRequest>[0], response: T): T {
  countCoverRequest(result)
  return response
}

/** Covers and placeholders as JPEG, for clients that support no other type. */
export const asJpeg = ({ thumbnails }: Pick<Deps, 'thumbnails'>): CoverVariant => ({
  etagOf: name => thumbnailEtag(`${name}-jpeg`),
  async read(name) {
    try {
      return await thumbnails.readJpeg(name)
    } catch (error) {
      if (error instanceof Unreadable) return null
      throw error
    }
  },
  placeholder: thumbnails.placeholderAs,
})
