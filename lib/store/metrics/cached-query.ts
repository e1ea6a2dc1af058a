// Metrics queries that never delay a scrape: cached results with background refresh, and timeouts.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { createSingleFlight } from '../../base/async/single-flight.ts'

/** A result is not refreshed until its age exceeds this multiple of the query's duration. */
const minAgeFactor = 50

type CacheEntry<T> = { value: T | null; expiresAt: number }

/**
 * A service. Caches the result of `load` for at least `minAgeMs`; an expired one is returned while it is
 * refreshed in the background. The first call waits, for up to `waitMs`. Returns null if there is no result
 * yet.
 */
export function cachedQuery<T>(
  load: (sql: Sql) => Promise<T>,
  { minAgeMs = 0, waitMs = 1_000 } = {},
) {
  return (pool: Sql) => {
    const entry: CacheEntry<T> = { value: null, expiresAt: 0 }
    const flight = createSingleFlight<void, Sql>()
    return async (): Promise<T | null> => {
      if (performance.now() >= entry.expiresAt) {
        const refreshed = flight(pool, () => refresh(entry, () => load(pool), minAgeMs))
        if (entry.value === null) await withTimeout(refreshed, waitMs)
      }
      return entry.value
    }
  }
}

async function refresh<T>(entry: CacheEntry<T>, load: () => Promise<T>, minAgeMs: number) {
  const started = performance.now()
  entry.value = await load().catch(() => null)
  const finished = performance.now()
  entry.expiresAt = finished + Math.max(minAgeMs, (finished - started) * minAgeFactor)
}

/** The value of `promise`, or null if it takes longer or fails. */
export async function withTimeout<T>(promise: PromiseLike<T>, ms: number): Promise<T | null> {
  const timeout = sleep(ms, null, { ref: false })
  return await Promise.race([promise, timeout]).catch(() => null)
}

/**
 * A service. Runs `load` for every scrape and waits up to `waitMs`; null if it takes longer or fails. A query
 * that is still running is awaited again, so that an unresponsive database receives only one.
 */
export function timeLimitedQuery<T>(load: (sql: Sql) => PromiseLike<T>, waitMs: number) {
  return (pool: Sql) => {
    const flight = createSingleFlight<T, Sql>()
    return (): Promise<T | null> =>
      withTimeout(
        flight(pool, async () => load(pool)),
        waitMs,
      )
  }
}
