// Token buckets shared between processes. A process reserves several tokens with one statement and spends
// them locally; unused tokens are returned with the next reservation.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { entriesUpTo } from '../../base/async/cache-size.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import type { Log } from '../../base/log.ts'

/** `share`: tokens per reservation. */
export type Bucket = { key: string; perSecond: number; burst: number; share: number }
/** `waitMs` until a token is available; 0 if one was taken. */
export type BucketState = { remaining: number; waitMs: number }

/** `left` tokens are reserved until `until`; `tokens` remain in the shared bucket. Times as of `clock`. */
type Reservation = {
  left: number
  until: number
  tokens: number
  deniedUntil: number
}

/** Bucket of this process alone, while the database is unavailable. */
type LocalBucket = { tokens: number; refilledAt: number }

// After this time an unused bucket is full again anyway.
const idleMs = 300_000
const maxBuckets = 50_000
const reservationMs = 1_000
// During a flood, not every new token costs a statement.
const minDenialMs = 100
const localFallbackMs = 5_000

type Options = { databaseTimeoutMs?: number; clock?: () => number }

export function createTokenBuckets(
  sql: Sql,
  log: Pick<Log, 'warn'>,
  { databaseTimeoutMs = 5_000, clock = () => performance.now() }: Options = {},
) {
  const options = { ...entriesUpTo(maxBuckets), ttl: idleMs, updateAgeOnGet: true }
  const reservations = new LRUCache<string, Reservation>(options)
  const localBuckets = new LRUCache<string, LocalBucket>(options)
  const renewals = createSingleFlight<void, Reservation>()
  let localUntil = 0

  function reservationOf(key: string): Reservation {
    const existing = reservations.get(key)
    if (existing) return existing
    const created = { left: 0, until: 0, tokens: 0, deniedUntil: 0 }
    reservations.set(key, created)
    return created
  }

  async function renew(reservation: Reservation, bucket: Bucket) {
    const returned = reservation.left
    reservation.left = 0
    try {
      const { tokens, granted } = await withTimeout(
        reserveTokens(sql, bucket, returned),
        databaseTimeoutMs,
      )
      const now = clock()
      Object.assign(reservation, { left: granted, tokens, until: now + reservationMs })
      if (granted < 1) {
        const waitMs = ((1 - tokens) / bucket.perSecond) * 1000
        reservation.deniedUntil = now + Math.max(minDenialMs, waitMs)
      }
    } catch (err) {
      localUntil = clock() + localFallbackMs
      log.warn({ err }, 'database unavailable; rate limits are counted per process')
    }
  }

  function takeLocal({ key, perSecond, burst }: Bucket): BucketState {
    const now = clock()
    const { tokens, refilledAt } = localBuckets.get(key) ?? { tokens: burst, refilledAt: now }
    const refilled = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond)
    const isAllowed = refilled >= 1
    const remaining = isAllowed ? refilled - 1 : refilled
    localBuckets.set(key, { tokens: remaining, refilledAt: now })
    const waitMs = isAllowed ? 0 : ((1 - remaining) / perSecond) * 1000
    return { remaining: Math.floor(remaining), waitMs }
  }

  return {
    /** Takes a token if there is one. */
    async take(bucket: Bucket): Promise<BucketState> {
      const reservation = reservationOf(bucket.key)
      for (;;) {
        const now = clock()
        if (now < localUntil) return takeLocal(bucket)
        if (reservation.left >= 1 && now < reservation.until) {
          reservation.left -= 1
          return { remaining: Math.floor(reservation.left + reservation.tokens), waitMs: 0 }
        }
        if (now < reservation.deniedUntil)
          return { remaining: 0, waitMs: reservation.deniedUntil - now }
        await renewals(reservation, () => renew(reservation, bucket))
      }
    },
  }
}

/** Returns unused tokens to the shared bucket and takes up to `share` new ones. */
async function reserveTokens(
  sql: Sql,
  { key, perSecond, burst, share }: Bucket,
  returned: number,
): Promise<{ tokens: number; granted: number }> {
  const [row] = await sql<{ tokens: number; granted: number }[]>`
    insert into rate_bucket as r (key, tokens, granted, updated_at)
    values (${key}, ${burst - share}, ${share}, clock_timestamp())
    on conflict (key) do update
    set (tokens, granted, updated_at) = (
      select refilled.n - granted.n, granted.n, clock_timestamp()
      from (
        select least(${burst}::float8, r.tokens + ${returned}::float8 + ${perSecond}::float8
          * greatest(extract(epoch from clock_timestamp() - r.updated_at)::float8, 0)) as n
      ) refilled,
      lateral (select least(${share}::float8, floor(refilled.n)) as n) granted)
    returning r.tokens, r.granted`
  return row!
}

/** Deletes buckets that have been unused for so long that they are full again. */
export async function deleteFullBuckets(sql: Sql, fullAfterSeconds: number): Promise<void> {
  await sql`
    delete from rate_bucket
    where key in (
      select key
      from rate_bucket
      where updated_at < now() - make_interval(secs => ${fullAfterSeconds})
      order by updated_at
      limit 10000
      for update skip locked)`
}

async function withTimeout<T>(result: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  // After a long pause of the event loop the response may already be there: it is read before the timeout.
  const end = () => setImmediate(() => reject(new Error('database timeout')))
  const timer = setTimeout(end, timeoutMs)
  // May still reject after the timeout.
  result.catch(() => {})
  try {
    return await Promise.race([result, promise])
  } finally {
    clearTimeout(timer)
  }
}
