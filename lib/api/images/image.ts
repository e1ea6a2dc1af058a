// Images as answers: cached by the caller alone, fresh or not told before any file is touched.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isFresh } from '../../download/range.ts'
import { answer } from '../../http/route.ts'
import { bytes, ErrorBody } from '../../schema.ts'

/** Every image that a book may hold; what is made here is JPEG, PNG or WebP. */
export const images = bytes(
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/svg+xml',
  'image/jxl',
  'image/heic',
  'image/bmp',
  'image/tiff',
  'image/jp2',
)

export const imageResponses = { 200: images, 304: null, 422: ErrorBody, 503: ErrorBody } as const

/** `maxAgeSeconds` of 0: not to be kept at all. */
type Caching = { tag: string; maxAgeSeconds: number }
type Image = Caching & { mediaType: string; body: Buffer | Readable; length: number }

const headersOf = ({ tag, maxAgeSeconds }: Caching) => ({
  etag: tag,
  'cache-control':
    maxAgeSeconds === 0 ? 'no-store' : `private, max-age=${maxAgeSeconds}, must-revalidate`,
})

/** 304 when the caller holds the image of that tag already, else null. */
export function notModified(request: FastifyRequest, caching: Caching) {
  if (!isFresh(request.headers, caching)) return null
  return answer(304, nothing(request), headersOf(caching))
}

/** The image; of a HEAD request its headers. */
export function imageAnswer(request: FastifyRequest, image: Image) {
  const { mediaType, length } = image
  const headers: Record<string, string> = {
    ...headersOf(image),
    'content-type': mediaType,
    'content-length': String(length),
    // Opened by itself, a drawing from a book would be a page of this site.
    ...(mediaType === 'image/svg+xml' ? harmless : {}),
  }
  return answer(200, bodyFor(request, image.body), headers)
}

const harmless = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
}

/** What Fastify is to be given for `body`: a stream that nobody reads is let go. */
export function bodyFor(request: FastifyRequest, body: Buffer | Readable) {
  if (request.method !== 'HEAD' || Buffer.isBuffer(body)) return body
  body.destroy()
  return Readable.from([])
}

/** No body. For HEAD Fastify would make that a length of 0, unless it is a stream. */
export function nothing(request: FastifyRequest): undefined {
  return (request.method === 'HEAD' ? Readable.from([]) : undefined) as undefined
}

/** Calls `done` once the answer has left or never will. */
export function whenOver(reply: FastifyReply, done: () => void): void {
  if (reply.raw.destroyed) done()
  else reply.raw.once('close', done)
}
