// EPUB resources, served individually. They are untrusted documents on our origin: scripts must not run.
import { Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { NotFound } from '../../../base/errors.ts'
import { bytes, ErrorBody, record, Type } from '../../../base/schema.ts'
import { type ByteRange, evaluateRequest, isFresh } from '../../../download/range.ts'
import type { Deps } from '../../../http/deps.ts'
import { failureBody } from '../../../http/error-response.ts'
import { bodyFor, emptyBody, whenClosed } from '../../../http/exchange.ts'
import { BookId } from '../../../http/params.ts'
import { type Input, respond } from '../../../http/route.ts'
import { isReflowable } from '../../../media/format/formats.ts'
import type { EpubResourceBody } from '../../../page/epub.ts'
import { resourceEtag } from '../../../page/etag.ts'
import { isStreamedMedia, servedType, servedTypes } from '../media-types.ts'
import { presentFile } from './reading.ts'

// Images, styles and fonts of the same book are allowed. `allow-same-origin` sends the cookie with them and
// gives a reader access to the frame of the text; without `allow-scripts` the text itself cannot use it.
const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "img-src 'self' data:",
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    "media-src 'self'",
    "script-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-same-origin',
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, max-age=3600, must-revalidate',
}

const resources = bytes(...servedTypes)

export const resourceResponses = {
  200: resources,
  206: resources,
  304: null,
  412: ErrorBody,
  416: ErrorBody,
  422: ErrorBody,
} as const

export const ResourcePath = record({
  ...BookId.properties,
  '*': Type.String({ minLength: 1, maxLength: 4096, description: 'Path in the archive.' }),
})

type ResourceInput = Pick<
  Input<'auth', typeof ResourcePath, never, never>,
  'params' | 'viewer' | 'request' | 'reply' | 'signal'
>

/** A resource by its path in the archive. Throws NotFound, Unreadable, Unavailable. */
export async function resourceResponse(
  { params: { id, '*': name }, viewer, request, reply, signal }: ResourceInput,
  deps: Deps,
) {
  const file = await presentFile(deps, viewer, id)
  if (!isReflowable(file.format)) throw new NotFound('The book is not an EPUB')
  const etag = resourceEtag(file, name)
  const caching = { etag, ...securityHeaders }
  const isCached = isFresh(request.headers, { etag })
  // An ETag of ours proves that the resource exists; `*` does not.
  const isAny = request.headers['if-none-match']?.trim() === '*'
  if (isCached && !isAny) return respond(304, emptyBody(request), caching)
  const resource = await deps.pages.epubs.resource(file, name, {
    accountId: viewer.accountId,
    signal,
  })
  whenClosed(reply, resource.release)
  if (isCached) {
    if (resource.body instanceof Readable) resource.body.destroy()
    return respond(304, emptyBody(request), caching)
  }
  return sendResource(request, resource, { name, modifiedMs: file.modifiedMs })
}

type ResourceFile = { name: string; modifiedMs: number }

function sendResource(
  request: FastifyRequest,
  { mediaType, etag, length: size, body }: EpubResourceBody,
  { name, modifiedMs }: ResourceFile,
) {
  const type = servedType({ mediaType, name })
  const common = { etag, ...securityHeaders, 'content-type': type }
  const whole = { ...common, 'content-length': String(size) }
  if (!isStreamedMedia(type)) return respond(200, bodyFor(request, body), whole)
  const headers = { ...common, 'accept-ranges': 'bytes' }
  const decision = evaluateRequest(request, { etag, modifiedMs, size })
  if (decision.status === 206) {
    const { start, end } = decision.range
    return respond(206, bodyFor(request, sliceBody(body, decision.range)), {
      ...headers,
      'content-length': String(end - start + 1),
      'content-range': `bytes ${start}-${end}/${size}`,
    })
  }
  if (decision.status === 200)
    return respond(200, bodyFor(request, body), { ...whole, 'accept-ranges': 'bytes' })
  if (body instanceof Readable) body.destroy()
  const { status } = decision
  if (status === 304) return respond(status, emptyBody(request), headers)
  const json = { ...headers, 'content-type': 'application/json; charset=utf-8' }
  if (status === 412) return respond(status, failureBody(status), json)
  return respond(416, failureBody(416), { ...json, 'content-range': `bytes */${size}` })
}

/** The bytes of a range. The bytes before it are also read, because the resource may be compressed. */
function sliceBody(body: Buffer | Readable, { start, end }: ByteRange): Buffer | Readable {
  if (Buffer.isBuffer(body)) return body.subarray(start, end + 1)
  let offset = 0
  const window = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const from = Math.max(0, start - offset)
      const to = Math.min(chunk.length, end + 1 - offset)
      offset += chunk.length
      if (to > from) this.push(chunk.subarray(from, to))
      if (offset > end) {
        this.push(null)
        body.destroy()
      }
      done()
    },
  })
  body.on('error', error => window.destroy(error))
  window.on('close', () => body.destroy())
  return body.pipe(window)
}
