// Database queries of metrics that never delay a scrape: cached results with background refresh, timeouts.
import type { Sql } from 'postgres'
import { createSingleFlight } from '../../base/async/single-flight.ts'

/** A result is not refreshed for this multiple of the duration of its query. */
const minAgeFactor = 50

type CacheEntry<T> = { value: T | null; expiresAt: number }

/**
 * A service. Caches the result of `load` for at least `minAgeMs`; an expired one is returned while it is refreshed
 * in the background. The first call waits, at most `waitMs`. Returns null when there is no result yet.
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

/** The value of `promise`, or null when it takes longer or fails. */
export function withTimeout<T>(promise: PromiseLike<T>, ms: number): Promise<T | null> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(null), ms)
    const finish = (value: T | null) => {
      clearTimeout(timer)
      resolve(value)
    }
    promise.then(finish, () => finish(null))
  })
}

/**
 * A service. Runs `load` for every scrape and waits at most `waitMs`; null when it takes longer or fails. A query that
 * is still running is awaited again, so that an unresponsive database gets only one.
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
