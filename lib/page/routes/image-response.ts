// Image responses: cache headers, conditional requests, and a content policy for SVG.
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { bytes, ErrorBody } from '../../base/schema.ts'
import { isFresh } from '../../download/range.ts'
import { bodyFor, emptyBody } from '../../http/exchange.ts'
import { respond } from '../../http/route.ts'

/** Media types of images in books. Converted images are JPEG, PNG or WebP. */
export const images = bytes(
  ...['jpeg', 'png', 'webp', 'gif', 'avif', 'svg+xml', 'jxl', 'heic', 'bmp', 'tiff', 'jp2'].map(
    name => `image/${name}`,
  ),
)

export const imageResponses = { 200: images, 304: null, 422: ErrorBody, 503: ErrorBody } as const

/** `maxAgeSeconds` 0 means `no-store`. */
type Caching = { etag: string; maxAgeSeconds: number }
type Image = Caching & { mediaType: string; body: Buffer | Readable; length: number }

const cachingHeaders = ({ etag, maxAgeSeconds }: Caching) => ({
  etag,
  'cache-control':
    maxAgeSeconds === 0 ? 'no-store' : `private, max-age=${maxAgeSeconds}, must-revalidate`,
})

/** 304 if the client already has this version, otherwise null. */
export function notModified(request: FastifyRequest, caching: Caching) {
  if (!isFresh(request.headers, caching)) return null
  return respond(304, emptyBody(request), cachingHeaders(caching))
}

export function imageResponse(request: FastifyRequest, image: Image) {
  const { mediaType, length } = image
  const headers: Record<string, string> = {
    ...cachingHeaders(image),
    'content-type': mediaType,
    'content-length': String(length),
    // Opened on its own, an SVG from a book would be a page of this origin.
    ...(mediaType === 'image/svg+xml' ? sandboxHeaders : {}),
  }
  return respond(200, bodyFor(request, image.body), headers)
}

const sandboxHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
}
