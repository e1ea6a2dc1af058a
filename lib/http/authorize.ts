// Who comes in: identifies the caller, makes them pay, and checks the permission that the route
// names; before any of the body is read.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../auth/identify.ts'
import { beyondReading, type Permission } from '../auth/permission.ts'
import { Failure, Forbidden, NotFound, Unauthorized } from '../errors.ts'
import type { Deps } from './deps.ts'
import type { Kind, Limiter } from './rate-limit.ts'
import type { Need, Route } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
  }
}

/** A hook that lets a request through, or throws Unauthorized, Forbidden or Limited. */
export function admit(route: Route, deps: Deps, limiter: Limiter) {
  const bucket = route.bucket ?? 'default'
  const forStrangers = route.catalogue && bucket !== 'exempt' ? 'challenge' : bucket
  const { permission } = route
  return async (request: FastifyRequest, reply: FastifyReply) => {
    request.identity = null
    const pay = (accountId: string | null, kind: Kind = bucket) =>
      limiter.pay({ request, reply, accountId }, kind)
    // Its links would lead nowhere.
    if (route.catalogue && request.entered === null) {
      await pay(null)
      throw new NotFound('There is nothing at this address')
    }
    if (permission === 'public') return await pay(null, forStrangers)
    request.identity = await identified(route, deps, limiter, request).catch(async error => {
      // The attempt counts for the address, whoever it claimed to be.
      if (error instanceof Failure && error.status === 401) await pay(null)
      throw error
    })
    if (request.identity === null) {
      await pay(null, forStrangers)
      throw new Unauthorized('Authentication required')
    }
    await pay(request.identity.account.id)
    if (request.entered?.key != null) onlyReads(request.identity)
    const lacking = lacks(request.identity, permission)
    if (lacking) throw new Forbidden(`Missing required permission: ${lacking}`)
  }
}

function identified(route: Route, { identities }: Deps, limiter: Limiter, request: FastifyRequest) {
  return identities.identify(
    { headers: request.headers, address: request.ip, key: request.entered?.key ?? null },
    { cookieAllowed: route.cookie === true, beforePassword: limiter.password },
  )
}

// An address gets about: into histories, logs of proxies, screenshots.
function onlyReads({ permissions }: Identity) {
  const more = beyondReading(permissions)
  if (more.length > 0)
    throw new Forbidden(
      `A key in an address may hold no more than permissions to read; this one also holds ${more.join(', ')}`,
    )
}

/** The permission that is missing; null when nothing is. */
export function lacks({ permissions }: Pick<Identity, 'permissions'>, need: Need): string | null {
  if (need === 'public' || need === 'auth') return null
  const has = (permission: Permission) => permissions.has(permission)
  if (typeof need === 'string') return has(need) ? null : need
  const missing = (need.all ?? []).find(permission => !has(permission))
  if (missing) return missing
  return need.any.some(has) ? null : need.any.join(' or ')
}
