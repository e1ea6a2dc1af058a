// Rate limits: token buckets, by user once a credential is verified, by address before that
// (api-specification §8). Images have larger buckets of their own, signing in has smaller ones.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from 'postgres'
import type { Config } from '../config/config.ts'
import { Limited } from '../errors.ts'
import type { Log } from '../log.ts'
import { openBuckets, sweepBuckets } from './token-buckets.ts'

type Rate = { perSecond: number; burst: number; share: number }
type Rates = Config['rate_limit']
type Paying = { request: FastifyRequest; reply: FastifyReply; accountId: string | null }
/**
 * `challenge` is for whoever sends no credentials where they are asked for: apps that always ask
 * without them first ask for fifty covers so, and cost next to nothing.
 */
export type Kind = 'default' | 'images' | 'login' | 'exempt' | 'challenge'
export type Limiter = ReturnType<typeof openLimiter>

const sweepMs = 60_000

/** Limits over all processes. What the configuration says is read at each request: it may be loaded anew. */
export function openLimiter({
  sql,
  config,
  log,
}: {
  sql: Sql
  config: Pick<Config, 'rate_limit'>
  log: Pick<Log, 'warn' | 'debug'>
}) {
  const buckets = openBuckets(sql, log)
  const timer = setInterval(
    () =>
      sweepBuckets(sql, longestFill(config.rate_limit) + 60).catch(err =>
        log.debug({ err }, 'rate limits not swept'),
      ),
    sweepMs,
  ).unref()

  /** Takes a token or throws Limited; the headers say how it stands either way. */
  async function take(key: string, rate: Rate, reply: FastifyReply | null) {
    if (!config.rate_limit.enabled) return reply && show(reply, rate.burst, rate.burst, 0)
    const { remaining, waitMs } = await buckets.take({ key, ...rate })
    const waitSeconds = waitMs > 0 ? Math.max(1, Math.ceil(waitMs / 1000)) : 0
    if (reply) show(reply, rate.burst, remaining, waitSeconds)
    if (waitMs > 0) throw new Limited('Too many requests', waitSeconds)
  }

  return {
    /** Pays for a request of an account, or of an address when nobody is known. */
    async pay({ request, reply, accountId }: Paying, kind: Kind): Promise<void> {
      const rates = config.rate_limit
      const { burst } = anonymous(rates)
      if (kind === 'exempt') return show(reply, burst, burst, 0)
      const from = addressKey(request.ip)
      if (kind === 'login') await take(`login:${from}`, login(rates), reply)
      else if (kind === 'challenge') await take(`challenge:${from}`, images(rates), reply)
      else if (accountId === null) await take(`ip:${from}`, anonymous(rates), reply)
      else if (kind === 'images') await take(`images:${accountId}`, images(rates), reply)
      else await take(`account:${accountId}`, authenticated(rates), reply)
    },
    /**
     * Pays for checking a password that is not known yet. The bucket of a name is large: it is to slow
     * down guessing from many addresses, not to lock its owner out.
     */
    async password(address: string, name: string): Promise<void> {
      const rates = config.rate_limit
      await take(`password:${addressKey(address)}`, login(rates), null)
      await take(`name:${name.toLowerCase().slice(0, 200)}`, guesses(rates), null)
    },
    /** For answers that came before any limit was looked at. */
    showFull(reply: FastifyReply) {
      const { burst } = anonymous(config.rate_limit)
      show(reply, burst, burst, 0)
    },
    close: () => clearInterval(timer),
  }
}

const shared = (perSecond: number, burst: number): Rate => ({
  perSecond,
  burst,
  share: Math.max(1, Math.floor(burst / 8)),
})
// Few and dear: each is counted where all processes see it.
const single = (perSecond: number, burst: number): Rate => ({ perSecond, burst, share: 1 })

const anonymous = (rates: Rates) => shared(rates.anonymous_rps, rates.anonymous_burst)
const authenticated = (rates: Rates) => shared(rates.authenticated_rps, rates.authenticated_burst)
const images = (rates: Rates) => shared(rates.image_rps, rates.image_burst)
const login = (rates: Rates) => single(rates.login_per_minute / 60, rates.login_burst)
const guesses = (rates: Rates) => single(rates.login_per_minute / 6, rates.login_burst * 10)

/** Seconds until any empty bucket is full again. */
function longestFill(rates: Rates): number {
  const all = [anonymous, authenticated, images, login, guesses].map(rate => rate(rates))
  return Math.max(...all.map(({ burst, perSecond }) => burst / perSecond))
}

function show(reply: FastifyReply, limit: number, remaining: number, reset: number) {
  reply.header('x-ratelimit-limit', String(limit))
  reply.header('x-ratelimit-remaining', String(remaining))
  reply.header('x-ratelimit-reset', String(reset))
}

// An IPv6 network of 64 bits is one customer, who may use any address in it.
function addressKey(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail = ''] = address.split('::')
  const [left, right] = [head, tail].map(half => half.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - left!.length - right!.length)).fill('0')
  return [...left!, ...zeros, ...right!].slice(0, 4).join(':')
}
