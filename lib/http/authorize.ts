// Authentication and authorization hook: identity, rate limit and permission, before the body is read.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Credential } from '../accounts/credential.ts'
import type { Identity } from '../accounts/identify.ts'
import { type Permission, permissionsBeyondReading } from '../accounts/permission.ts'
import { Failure, Forbidden, Unauthorized } from '../base/errors.ts'
import type { Deps } from './deps.ts'
import type { Dialect } from './dialect/dialect.ts'
import { databaseUnavailable } from './error-response.ts'
import type { BucketKind, RateLimiter } from './limits/rate-limit.ts'
import { type AccessRequirement, isRead, type Route } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
    /** The credential that only the protocol of the route knows; null without one. */
    credential: Credential | null
  }
}

// Lets readers change what is their own: progress, preferences.
const ownerPermission: Permission = 'ProgressWrite'

/** An onRequest hook. Throws Unauthorized, Forbidden or RateLimited. */
export function authorize(
  route: Route,
  deps: Deps,
  { limiter, dialect }: { limiter: RateLimiter; dialect: Dialect },
) {
  const { permission, bucket = 'default' } = route
  // Only accounts are exempt, not attempts to guess one.
  const rejectedBucket = bucket === 'exempt' && permission !== 'public' ? 'default' : bucket
  const isChallenged = dialect.isChallenged(route) && bucket !== 'exempt'
  const anonymousBucket = isChallenged ? 'challenge' : rejectedBucket
  return async (request: FastifyRequest, reply: FastifyReply) => {
    request.identity = null
    const credential = route.protocol?.credential?.(request) ?? null
    request.credential = credential
    if (!route.withoutDatabase && !deps.monitor.isAvailable()) throw databaseUnavailable()
    const consume = (accountId: string | null, kind: BucketKind = bucket) =>
      limiter.consume({ request, reply, accountId }, kind)
    if (permission === 'public') return await consume(null, anonymousBucket)
    const input = {
      route,
      request,
      reply,
      credential,
      beforePassword: limiter.consumePasswordAttempt,
    }
    request.identity = await dialect.identify(input, deps).catch(async error => {
      // A failed attempt counts against the address, not the claimed account.
      if (error instanceof Failure && error.status === 401) await consume(null, rejectedBucket)
      throw error
    })
    if (request.identity === null) {
      await consume(null, anonymousBucket)
      throw new Unauthorized('Authentication required')
    }
    await consume(request.identity.actorId ?? request.identity.account.id)
    if (request.identity.actorId !== null && !isRead(route))
      throw new Forbidden('An account that an administrator is viewing is read-only')
    if (isInUrl(credential)) requireReadOnlyKey(request.identity)
    const missing =
      missingPermission(request.identity, permission) ??
      missingOwnerPermission(request.identity, route)
    if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
  }
}

/** Whether the credential is part of the URL. */
export const isInUrl = (credential: Credential | null | undefined): boolean =>
  credential?.kind === 'key' && credential.isInUrl === true

// URLs end up in browser histories, proxy logs and screenshots.
function requireReadOnlyKey({ permissions }: Identity) {
  const excess = permissionsBeyondReading(permissions)
  if (excess.length > 0)
    throw new Forbidden(
      `An API key in the URL may have read permissions only; this key also has ${excess.join(', ')}`,
    )
}

/**
 * The permission that an API key lacks on a route that changes data of its own account; null for sessions.
 * Without this check, keys created for reading could write.
 */
function missingOwnerPermission(
  { keyId, permissions }: Identity,
  { permission, method }: Route,
): Permission | null {
  if (keyId === null || permission !== 'auth' || method === 'GET') return null
  return permissions.has(ownerPermission) ? null : ownerPermission
}

/** The name of the missing permission; null when nothing is missing. */
export function missingPermission(
  { permissions }: Pick<Identity, 'permissions'>,
  requirement: AccessRequirement,
): string | null {
  if (requirement === 'public' || requirement === 'auth') return null
  const has = (permission: Permission) => permissions.has(permission)
  if (typeof requirement === 'string') return has(requirement) ? null : requirement
  const missing = (requirement.all ?? []).find(permission => !has(permission))
  if (missing) return missing
  return requirement.any.some(has) ? null : requirement.any.join(' or ')
}
