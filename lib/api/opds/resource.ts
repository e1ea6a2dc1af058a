// The resources of an EPUB, one by one. They are somebody's texts on our origin: nothing in them may run.
import { Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { decide, isFresh, type Part } from '../../download/range.ts'
import { NotFound } from '../../errors.ts'
import { answer, route } from '../../http/route.ts'
import { isPlayed, sentType, sentTypes } from '../../opds/epub/media-type.ts'
import type { EpubMember } from '../../page/epub.ts'
import { memberTag } from '../../page/etag.ts'
import { bytes, ErrorBody, record, Type, uuid } from '../../schema.ts'
import { bodyFor, nothing, whenOver } from '../images/image.ts'
import { presentFile, reading } from './reading.ts'

// Pictures, styles and fonts of the same book are shown. `allow-same-origin` lets the cookie go along
// with them, and lets a reader that shows a text in a frame look into it; without `allow-scripts` the
// text itself can do nothing with that.
const confinement = {
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

const resources = bytes(...sentTypes)

export const resourceRoutes = [
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 2,
    path: '/opds/v2/books/{id}/resource/{*}',
    permission: reading,
    cookie: true,
    bucket: 'images',
    summary: 'A resource of an EPUB',
    description:
      'By its name in the archive; what the manifest of the book does not list is 404. Scripts are sent as plain text, and a Content-Security-Policy lets nothing run. Ranges of audio and video are understood. What only a licence opens, the manifest says so, is sent as it is.',
    params: record({ id: uuid(), '*': Type.String({ minLength: 1, maxLength: 4096 }) }),
    responses: { 200: resources, 206: resources, 304: null, 412: null, 416: null, 422: ErrorBody },
    async handle({ params, viewer, request, reply, signal }, deps) {
      const { id, '*': name } = params
      const file = await presentFile(deps, viewer, id)
      if (file.format !== 'epub') throw new NotFound('The book is no EPUB')
      const tag = memberTag(file, name)
      const caching = { etag: tag, ...confinement }
      const isHeld = isFresh(request.headers, { tag })
      // Whoever holds a resource with a tag has it from here; `*` is said of what may not be there.
      const isAny = request.headers['if-none-match']?.trim() === '*'
      if (isHeld && !isAny) return answer(304, nothing(request), caching)
      const found = await deps.pages.epubs.member(file, name, signal)
      whenOver(reply, found.done)
      if (isHeld) {
        if (found.body instanceof Readable) found.body.destroy()
        return answer(304, nothing(request), caching)
      }
      return send(request, found, { name, modifiedMs: file.modifiedMs })
    },
  }),
]

type Known = { name: string; modifiedMs: number }

function send(request: FastifyRequest, found: EpubMember, { name, modifiedMs }: Known) {
  const { mediaType, tag, length: size, body } = found
  const type = sentType({ mediaType, name })
  const common = { etag: tag, ...confinement, 'content-type': type }
  const whole = { ...common, 'content-length': String(size) }
  if (!isPlayed(type)) return answer(200, bodyFor(request, body), whole)
  const headers = { ...common, 'accept-ranges': 'bytes' }
  const decision = decide(request, { tag, modifiedMs, size })
  if (decision.status === 206) {
    const { start, end } = decision.part
    return answer(206, bodyFor(request, cut(body, decision.part)), {
      ...headers,
      'content-length': String(end - start + 1),
      'content-range': `bytes ${start}-${end}/${size}`,
    })
  }
  if (decision.status === 200)
    return answer(200, bodyFor(request, body), { ...whole, 'accept-ranges': 'bytes' })
  if (body instanceof Readable) body.destroy()
  if (decision.status === 416)
    return answer(416, nothing(request), { ...headers, 'content-range': `bytes */${size}` })
  return answer(decision.status, nothing(request), headers)
}

/** A part of the whole. What lies before it is read too: it may be packed. */
function cut(body: Buffer | Readable, { start, end }: Part): Buffer | Readable {
  if (Buffer.isBuffer(body)) return body.subarray(start, end + 1)
  let at = 0
  const window = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const from = Math.max(0, start - at)
      const to = Math.min(chunk.length, end + 1 - at)
      at += chunk.length
      if (to > from) this.push(chunk.subarray(from, to))
      if (at > end) {
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
