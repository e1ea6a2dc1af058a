// Rate limits: token buckets, by user once a credential is verified, by address before that
// (api-specification §8). Images have larger buckets of their own, signing in has smaller ones.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { TokenBucket } from 'limiter'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import { Limited } from '../errors.ts'

type Rate = { perSecond: number; burst: number }
type Rates = Config['rate_limit']
export type Limiter = ReturnType<typeof openLimiter>

// Who stays away this long comes back to a full bucket, as it would have become anyway.
const idleMs = 300_000
const most = 50_000

export function openLimiter(rates: Rates) {
  const buckets = new LRUCache<string, TokenBucket>({
    max: most,
    ttl: idleMs,
    updateAgeOnGet: true,
  })
  const anonymous = { perSecond: rates.anonymous_rps, burst: rates.anonymous_burst }
  const authenticated = { perSecond: rates.authenticated_rps, burst: rates.authenticated_burst }
  const images = { perSecond: rates.image_rps, burst: rates.image_burst }
  const login = { perSecond: rates.login_per_minute / 60, burst: rates.login_burst }

  const guesses = { perSecond: login.perSecond * 10, burst: login.burst * 10 }

  function bucket(key: string, rate: Rate): TokenBucket {
    const known = buckets.get(key)
    if (known) return known
    const { perSecond, burst } = rate
    const made = new TokenBucket({
      bucketSize: burst,
      tokensPerInterval: perSecond,
      interval: 'second',
    })
    made.content = burst
    buckets.set(key, made)
    return made
  }

  /** Takes a token or throws Limited; the headers say how it stands either way. */
  function take(key: string, rate: Rate, reply: FastifyReply | null) {
    if (!rates.enabled) return reply && show(reply, rate.burst, rate.burst, 0)
    const tokens = bucket(key, rate)
    const allowed = tokens.tryRemoveTokens(1)
    const waitSeconds = allowed ? 0 : Math.max(1, Math.ceil((1 - tokens.content) / rate.perSecond))
    if (reply) show(reply, rate.burst, Math.max(0, Math.floor(tokens.content)), waitSeconds)
    if (!allowed) throw new Limited('Too many requests', waitSeconds)
  }

  return {
    /** Pays for a request of an account, or of an address when nobody is known. */
    pay(
      {
        request,
        reply,
        accountId,
      }: { request: FastifyRequest; reply: FastifyReply; accountId: string | null },
      kind: 'default' | 'images' | 'login' | 'exempt',
    ) {
      if (kind === 'exempt') return show(reply, anonymous.burst, anonymous.burst, 0)
      const from = addressKey(request.ip)
      if (kind === 'login') return take(`login:${from}`, login, reply)
      if (accountId === null) return take(`ip:${from}`, anonymous, reply)
      if (kind === 'images') return take(`images:${accountId}`, images, reply)
      return take(`account:${accountId}`, authenticated, reply)
    },
    /**
     * Pays for checking a password that is not known yet. The bucket of a name is large: it is to slow
     * down guessing from many addresses, not to lock its owner out.
     */
    password(address: string, name: string) {
      take(`password:${addressKey(address)}`, login, null)
      take(`name:${name.toLowerCase().slice(0, 200)}`, guesses, null)
    },
    /** For answers that came before any limit was looked at. */
    showFull: (reply: FastifyReply) => show(reply, anonymous.burst, anonymous.burst, 0),
  }
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
