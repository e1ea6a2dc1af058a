// Authentication for the compatible API: credentials in headers, or the session set by an earlier response.
import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { sessionDays, startClientSession } from '../../../../accounts/client-session.ts'
import type { Credential } from '../../../../accounts/credential.ts'
import type { BeforePassword, Identity } from '../../../../accounts/identify.ts'
import { normalizedName } from '../../../../accounts/identity.ts'
import { entriesUpTo } from '../../../../base/async/cache-size.ts'
import { Forbidden, Unauthorized } from '../../../../base/errors.ts'
import type { Deps } from '../../../../http/deps.ts'
import type { Dialect } from '../../../../http/dialect/dialect.ts'
import { addressKey } from '../../../../http/limits/rate-limit.ts'
import {
  mayUseCookies,
  presentedSessions,
  presentsSession,
  rememberCookie,
  sessionCookie,
  sessionHeader,
  setSessionCookie,
  wantsHeader,
} from './presented.ts'

type AuthDeps = Pick<Deps, 'sql' | 'services' | 'identities' | 'config' | 'log'>

export function createAuthentication(): Dialect['identify'] {
  return async ({ request, reply, credential, beforePassword }, deps) => {
    const issued = deps.services(createIssuedSessions)
    const found = await identifyCaller(request, deps, { credential, beforePassword })
    if (found === null) {
      if (presentsSession(request)) throw new Unauthorized('The session has ended')
      return null
    }
    const { identity, session } = found
    if (session === null) {
      if (credential === null) await issue(identity, { request, reply, issued }, deps)
    } else if (session.isRemembered) await issue(identity, { request, reply, issued }, deps)
    else if (session.isCookie && issued.isDue(session.secret))
      setSessionCookie({ request, reply }, deps, { name: sessionCookie, secret: session.secret })
    return identity
  }
}

type UsedSession = { secret: string; isCookie: boolean; isRemembered: boolean }
type Caller = { identity: Identity; session: UsedSession | null }
type Options = { credential?: Credential | null; beforePassword?: BeforePassword }

/**
 * The first valid one of: the credential in the headers, X-Auth-Token, the session cookie, the remember-me
 * cookie. A wrong password never falls back to a session of another account. Throws Unauthorized when there is a
 * credential but none is valid, Forbidden when only a cookie is valid and the request may be forged.
 */
export async function identifyCaller(
  request: FastifyRequest,
  { identities }: Pick<Deps, 'identities'>,
  { credential = null, beforePassword }: Options = {},
): Promise<Caller | null> {
  const { headers, ip: address } = request
  let rejection: Unauthorized | null = null
  try {
    const identity = await identities.identify(
      { headers, address, credential },
      beforePassword ? { beforePassword } : {},
    )
    if (identity !== null) return { identity, session: null }
  } catch (error) {
    if (!(error instanceof Unauthorized)) throw error
    rejection = error
  }
  const session = await findSession(request, identities)
  if (session === null || (rejection && !isOfName(session.identity, basicName(headers)))) {
    if (rejection) throw rejection
    return null
  }
  const isChange = !['GET', 'HEAD'].includes(request.method)
  if (session.isCookie && !mayUseCookies(request, { isChange }))
    throw new Forbidden('Requests from pages of other origins cannot use the session cookie')
  const { identity, ...used } = session
  return { identity, session: used }
}

async function findSession(request: FastifyRequest, { identifySession }: Deps['identities']) {
  const { header, cookies, remembered } = presentedSessions(request)
  const candidates = [
    ...(header === null ? [] : [{ secret: header, isCookie: false, isRemembered: false }]),
    ...cookies.map(secret => ({ secret, isCookie: true, isRemembered: false })),
    ...remembered.map(secret => ({ secret, isCookie: true, isRemembered: true })),
  ]
  for (const candidate of candidates) {
    const identity = await identifySession(candidate.secret)
    if (identity !== null) return { ...candidate, identity }
  }
  return null
}

/** The user name in HTTP Basic; null for other credentials. */
function basicName({ authorization = '' }: FastifyRequest['headers']): string | null {
  const [, value] = /^\s*basic\s+(\S+)/i.exec(authorization) ?? []
  return value === undefined ? null : Buffer.from(value, 'base64').toString().split(':', 1)[0]!
}

function isOfName({ account: { username, email } }: Identity, name: string | null): boolean {
  if (name === null) return true
  const folded = normalizedName(name).toLowerCase()
  return folded === username.toLowerCase() || folded === email.toLowerCase()
}

type Issue = { request: FastifyRequest; reply: FastifyReply; issued: IssuedSessions }

/** Whether one of the sessions is for the same credential. */
async function holds(identity: Identity, secrets: readonly string[], { identities }: AuthDeps) {
  for (const secret of secrets) {
    const held = await identities.identifySession(secret)
    if (held?.account.id === identity.account.id && held.keyId === identity.keyId) return true
  }
  return false
}

/** Gives the client a session, unless it presents one for the same credential. */
async function issue(identity: Identity, { request, reply, issued }: Issue, deps: AuthDeps) {
  const { header, cookies } = presentedSessions(request)
  if (await holds(identity, header === null ? cookies : [header, ...cookies], deps)) return
  const secret = await issued.secretFor(request, identity, deps)
  if (secret === null) return
  if (wantsHeader(request)) reply.header(sessionHeader, secret)
  else setSessionCookie({ request, reply }, deps, { name: sessionCookie, secret })
}

/** Starts a longer session, for `remember-me=true`. */
export async function issueRemembered(
  identity: Identity,
  { request, reply }: Omit<Issue, 'issued'>,
  deps: AuthDeps,
): Promise<void> {
  // Requires a credential: a session must not extend itself.
  if (identity.sessionId !== null) return
  const { remembered } = presentedSessions(request)
  if (await holds(identity, remembered, deps)) return
  const secret = await deps
    .services(createIssuedSessions)
    .secretFor(request, identity, deps, rememberedDays)
  if (secret === null) return
  setSessionCookie({ request, reply }, deps, { name: rememberCookie, secret, days: rememberedDays })
}

export const rememberedDays = 365

type IssuedSessions = ReturnType<typeof createIssuedSessions>
const resendAfterMs = 24 * 60 * 60_000

/** Issued sessions: apps that drop cookies get the same one with every response. */
function createIssuedSessions() {
  const hmacKey = randomBytes(32)
  const digest = (...parts: unknown[]) =>
    createHmac('sha256', hmacKey).update(JSON.stringify(parts)).digest('base64')
  const secrets = new LRUCache<string, Promise<string | null>>(entriesUpTo(5000))
  const sent = new LRUCache<string, true>({ ...entriesUpTo(5000), ttl: resendAfterMs })

  return {
    async secretFor(
      request: FastifyRequest,
      identity: Identity,
      { sql, identities }: AuthDeps,
      days = sessionDays,
    ) {
      const { 'user-agent': agent } = request.headers
      const address = addressKey(request.ip)
      const { account, keyId, sessionId } = identity
      const client = digest(account.id, keyId, sessionId, agent, address, days)
      const earlier = secrets.get(client)
      const known = await earlier?.catch(() => null)
      if (known && (await identities.identifySession(known)) !== null) return known
      // When several requests are sent together, only one starts the session.
      if (secrets.get(client) === earlier)
        secrets.set(client, startClientSession(sql, { identity, days, address }))
      const secret = await secrets.get(client)!
      if (secret !== null) sent.set(digest(secret), true)
      return secret
    },
    /** Whether to send a session's cookie again, so that the client retains it for as long as the session lasts. */
    isDue(secret: string): boolean {
      const id = digest(secret)
      if (sent.has(id)) return false
      sent.set(id, true)
      return true
    },
  }
}
