// What those who keep copies of answers are told: by which tag they are known, and for whom they are.
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isFresh } from '../download/range.ts'

// One browser, several accounts: what one saw is not for the next (RFC 9111 §4.1).
const who = 'Authorization, X-API-Key, X-Auth-User, Cookie'
/** What addresses of this server in an answer are made from, beside the Host that was asked. */
const where = 'Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto'

/** Adds to `Vary` what the answers of a route depend on; what others said there stays. */
export function vary({ routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const { isPersonal = false, catalogue } = routeOptions.config ?? {}
  const said = reply.getHeader('vary')
  const names = [
    ...(said === undefined ? [] : [said]),
    ...(isPersonal ? [who] : []),
    ...(catalogue === undefined ? [] : [where]),
  ]
  if (names.length > 0) reply.header('vary', names.join(', '))
}

/** Weak tags for what was made as text; images and files bring strong ones of their own. A hook for onSend. */
export async function tagText(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return payload
  if (reply.hasHeader('etag')) return payload
  const tag = `W/"${hash('sha1', payload, 'base64url')}"`
  reply.header('etag', tag)
  if (!isFresh(request.headers, { tag })) return payload
  reply.code(304)
  // No length of its own: that of a 304 is read as that of the whole. HEAD needs a body to measure.
  return request.method === 'HEAD' ? payload : null
}
