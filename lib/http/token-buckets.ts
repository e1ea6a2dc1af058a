// Token buckets that all processes share, without asking the database for every request: a process
// takes some tokens at once and spends them by itself. What it does not spend in time it gives back.
import { TokenBucket } from 'limiter'
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Log } from '../log.ts'

/** `share`: how many tokens are taken at once. */
export type Bucket = { key: string; perSecond: number; burst: number; share: number }
/** `waitMs` until a token is there; 0 when one was had. */
export type Standing = { remaining: number; waitMs: number }

/** `left` tokens are in hand until `until`; `tokens` stay in the shared bucket. Times in ms of performance.now(). */
type Lease = {
  left: number
  until: number
  tokens: number
  deniedUntil: number
  asking: Promise<void> | null
}

// Who stays away this long comes back to a full bucket, as it would have become anyway.
const idleMs = 300_000
const most = 50_000
const leaseMs = 1_000
// A flood is not to cost a statement for each token that drips in.
const leastDenialMs = 100
const patienceMs = 1_000
const awayMs = 5_000

export function openBuckets(sql: Sql, log: Pick<Log, 'warn'>) {
  const leases = new LRUCache<string, Lease>({ max: most, ttl: idleMs, updateAgeOnGet: true })
  const local = new LRUCache<string, TokenBucket>({ max: most, ttl: idleMs, updateAgeOnGet: true })
  let awayUntil = 0

  function leaseOf(key: string): Lease {
    const known = leases.get(key)
    if (known) return known
    const made = { left: 0, until: 0, tokens: 0, deniedUntil: 0, asking: null }
    leases.set(key, made)
    return made
  }

  async function ask(lease: Lease, bucket: Bucket) {
    const returned = lease.left
    lease.left = 0
    try {
      const { tokens, granted } = await inTime(lend(sql, bucket, returned))
      const now = performance.now()
      Object.assign(lease, { left: granted, tokens, until: now + leaseMs })
      if (granted < 1) {
        const waitMs = ((1 - tokens) / bucket.perSecond) * 1000
        lease.deniedUntil = now + Math.max(leastDenialMs, waitMs)
      }
    } catch (err) {
      awayUntil = performance.now() + awayMs
      log.warn({ err }, 'rate limits are counted in this process alone')
    }
  }

  function takeLocal({ key, perSecond, burst }: Bucket): Standing {
    let bucket = local.get(key)
    if (!bucket) {
      bucket = new TokenBucket({
        bucketSize: burst,
        tokensPerInterval: perSecond,
        interval: 'second',
      })
      bucket.content = burst
      local.set(key, bucket)
    }
    const isAllowed = bucket.tryRemoveTokens(1)
    const remaining = Math.max(0, Math.floor(bucket.content))
    return { remaining, waitMs: isAllowed ? 0 : ((1 - bucket.content) / perSecond) * 1000 }
  }

  return {
    /** Takes a token, if there is one. */
    async take(bucket: Bucket): Promise<Standing> {
      const lease = leaseOf(bucket.key)
      for (;;) {
        const now = performance.now()
        if (now < awayUntil) return takeLocal(bucket)
        if (lease.left >= 1 && now < lease.until) {
          lease.left -= 1
          return { remaining: Math.floor(lease.left + lease.tokens), waitMs: 0 }
        }
        if (now < lease.deniedUntil) return { remaining: 0, waitMs: lease.deniedUntil - now }
        lease.asking ??= ask(lease, bucket).finally(() => {
          lease.asking = null
        })
        await lease.asking
      }
    },
  }
}

/** Gives back what is left of the last lease and takes another, as far as there is any. */
async function lend(
  sql: Sql,
  { key, perSecond, burst, share }: Bucket,
  returned: number,
): Promise<{ tokens: number; granted: number }> {
  const [row] = await sql<{ tokens: number; granted: number }[]>`
    insert into rate_bucket as r (key, tokens, granted, at)
    values (${key}, ${burst - share}, ${share}, clock_timestamp())
    on conflict (key) do update
    set (tokens, granted, at) = (
      select full_at.n - given.n, given.n, clock_timestamp()
      from (
        select least(${burst}::float8, r.tokens + ${returned}::float8 + ${perSecond}::float8
          * greatest(extract(epoch from clock_timestamp() - r.at)::float8, 0)) as n
      ) full_at,
      lateral (select least(${share}::float8, floor(full_at.n)) as n) given)
    returning r.tokens, r.granted`
  return row!
}

/** Forgets buckets that nobody used for so long that they are full again. */
export async function sweepBuckets(sql: Sql, fullAfterSeconds: number): Promise<void> {
  await sql`
    delete from rate_bucket
    where key in (
      select key
      from rate_bucket
      where at < now() - make_interval(secs => ${fullAfterSeconds})
      order by at
      limit 10000
      for update skip locked)`
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the database is slow')), patienceMs)
  // It may still fail when nobody waits any more.
  answer.catch(() => {})
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}
