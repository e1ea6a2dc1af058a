// Rate limits: token buckets by account, or by IP address for anonymous requests. Images have larger buckets,
// sign-in has smaller ones.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import { normalizedName } from '../../accounts/identity.ts'
import { hasSessionFrom } from '../../accounts/session.ts'
import { RateLimited } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../store/config/config.ts'
import { createTokenBuckets, deleteFullBuckets } from './token-buckets.ts'

type Rate = { perSecond: number; burst: number; share: number }
type Rates = Config['rate_limit']
/** Receives the headers: a reply, or anything else a response is built from. */
type Headers = { header(name: string, value: string): unknown }
type BucketRequest = {
  request: Pick<FastifyRequest, 'ip'>
  reply: Headers
  accountId: string | null
}
/**
 * `challenge`: requests without credentials to OPDS routes that need them. Apps that wait for a challenge
 * send fifty cover requests this way, and each costs next to nothing.
 */
export type BucketKind = 'default' | 'images' | 'login' | 'exempt' | 'challenge'
export type RateLimiter = ReturnType<typeof openRateLimiter>

const cleanupIntervalMs = 60_000

/** Limits shared by all processes. The configuration is read on each request, because it can be reloaded. */
export function openRateLimiter({
  sql,
  config,
  log,
}: {
  sql: Sql
  config: Pick<Config, 'rate_limit'>
  log: Pick<Log, 'warn' | 'debug'>
}) {
  const buckets = createTokenBuckets(sql, log)
  const cleanup = setInterval(
    () =>
      deleteFullBuckets(sql, longestRefillSeconds(config.rate_limit) + 60).catch(err =>
        log.debug({ err }, 'unused rate limit buckets not deleted'),
      ),
    cleanupIntervalMs,
  ).unref()

  /** Takes a token and sets the headers. Throws RateLimited when the bucket is empty. */
  async function take(key: string, rate: Rate, reply: Headers | null) {
    if (!config.rate_limit.enabled)
      return reply && setRateLimitHeaders(reply, rate.burst, rate.burst, 0)
    const { remaining, waitMs } = await buckets.take({ key, ...rate })
    const waitSeconds = waitMs > 0 ? Math.max(1, Math.ceil(waitMs / 1000)) : 0
    if (reply) setRateLimitHeaders(reply, rate.burst, remaining, waitSeconds)
    if (waitMs > 0) throw new RateLimited('Too many requests', waitSeconds)
  }

  /**
   * A sign-in name has a small bucket per address and a large one for all addresses together, which slows
   * down guessing from many addresses. An address from which the owner has signed in does not need a token
   * from the large one, so others cannot lock the owner out.
   */
  async function takeForName(address: string, name: string) {
    const rates = config.rate_limit
    const [from, account] = [addressKey(address), nameKey(name)]
    await take(`name:${account}:${from}`, guessesFrom(rates), null)
    try {
      await take(`name:${account}`, allGuesses(rates), null)
    } catch (error) {
      if (!(error instanceof RateLimited && (await hasSessionFrom(sql, name, from)))) throw error
    }
  }

  return {
    /** Takes a token for a request of an account, or of an IP address without one. */
    async consume({ request, reply, accountId }: BucketRequest, kind: BucketKind): Promise<void> {
      const rates = config.rate_limit
      const { burst } = anonymous(rates)
      if (kind === 'exempt') return setRateLimitHeaders(reply, burst, burst, 0)
      const address = addressKey(request.ip)
      if (kind === 'login') await take(`login:${address}`, login(rates), reply)
      else if (kind === 'challenge') await take(`challenge:${address}`, images(rates), reply)
      else if (accountId === null) await take(`ip:${address}`, anonymous(rates), reply)
      else if (kind === 'images') await take(`images:${accountId}`, images(rates), reply)
      else await take(`account:${accountId}`, authenticated(rates), reply)
    },
    /** Takes tokens for checking an uncached password of HTTP Basic. */
    async consumePasswordAttempt(address: string, name: string): Promise<void> {
      await take(`password:${addressKey(address)}`, login(config.rate_limit), null)
      await takeForName(address, name)
    },
    /** Takes tokens for an attempt to sign in to an account, which may not exist. */
    consumeSignIn: takeForName,
    /**
     * Takes a token for a change of the caller's e-mail address, whose response reveals whether the new one
     * has an account.
     */
    async consumeAddressChange(accountId: string): Promise<void> {
      await take(`address:${accountId}`, addressChange, null)
    },
    /** Headers of a full bucket, for responses sent before a limit was checked. */
    setFullHeaders(reply: Headers) {
      const { burst } = anonymous(config.rate_limit)
      setRateLimitHeaders(reply, burst, burst, 0)
    },
    close: () => clearInterval(cleanup),
  }
}

const reserved = (perSecond: number, burst: number): Rate => ({
  perSecond,
  burst,
  share: Math.max(1, Math.floor(burst / 8)),
})
// Rare and expensive requests: each one is counted in the database.
const single = (perSecond: number, burst: number): Rate => ({ perSecond, burst, share: 1 })

const anonymous = (rates: Rates) => reserved(rates.anonymous_rps, rates.anonymous_burst)
const authenticated = (rates: Rates) => reserved(rates.authenticated_rps, rates.authenticated_burst)
const images = (rates: Rates) => reserved(rates.image_rps, rates.image_burst)
const login = (rates: Rates) => single(rates.login_per_minute / 60, rates.login_burst)
const guessesFrom = (rates: Rates) =>
  single(rates.login_per_minute / 120, Math.max(1, Math.ceil(rates.login_burst / 2)))
const allGuesses = (rates: Rates) => single(rates.login_per_minute / 6, rates.login_burst * 10)

const addressChange = single(5 / 3600, 5)

/** Seconds until any empty bucket is full again. */
function longestRefillSeconds(rates: Rates): number {
  const all = [anonymous, authenticated, images, login, guessesFrom, allGuesses]
    .map(rate => rate(rates))
    .concat(addressChange)
  return Math.max(...all.map(({ burst, perSecond }) => burst / perSecond))
}

function setRateLimitHeaders(reply: Headers, limit: number, remaining: number, reset: number) {
  reply.header('x-ratelimit-limit', String(limit))
  reply.header('x-ratelimit-remaining', String(remaining))
  reply.header('x-ratelimit-reset', String(reset))
}

// People sometimes enter their password as the name.
function nameKey(name: string): string {
  return createHash('sha256')
    .update(normalizedName(name).toLowerCase())
    .digest('base64url')
    .slice(0, 22)
}

/** An IPv6 customer usually has a /64 network and may use any address in it. */
export function addressKey(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail = ''] = address.split('::')
  const [left, right] = [head, tail].map(half => half.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - left!.length - right!.length)).fill('0')
  return [...left!, ...zeros, ...right!].slice(0, 4).join(':')
}
