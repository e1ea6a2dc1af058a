// Answers of statements that are too dear for every scrape: an older one is given while a newer one
// is fetched behind the scraper's back.
import type { Sql } from 'postgres'

/** Rests this many times as long as the statement took. */
const restFactor = 50

type Kept<T> = { value: T | null; due: number; fetching: Promise<void> | null }

/**
 * `load`, asked at most every `forMs`. Who comes first waits for it, but no longer than `waitMs`, and
 * gets null then; also where it failed.
 */
export function kept<T>(load: (sql: Sql) => Promise<T>, { forMs = 0, waitMs = 1_000 } = {}) {
  const all = new WeakMap<Sql, Kept<T>>()
  return async (sql: Sql): Promise<T | null> => {
    const mine = all.get(sql) ?? { value: null, due: 0, fetching: null }
    all.set(sql, mine)
    const now = performance.now()
    if (now >= mine.due && !mine.fetching) mine.fetching = fetch(mine, () => load(sql), forMs)
    if (mine.value === null && mine.fetching) await within(mine.fetching, waitMs)
    return mine.value
  }
}

async function fetch<T>(mine: Kept<T>, load: () => Promise<T>, forMs: number) {
  const began = performance.now()
  mine.value = await load().catch(() => null)
  const ended = performance.now()
  mine.due = ended + Math.max(forMs, (ended - began) * restFactor)
  mine.fetching = null
}

/** What `promise` gives, or null when that takes longer or fails. */
export function within<T>(promise: PromiseLike<T>, ms: number): Promise<T | null> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(null), ms)
    const end = (value: T | null) => {
      clearTimeout(timer)
      resolve(value)
    }
    promise.then(end, () => end(null))
  })
}

/**
 * `load` for every scrape, at most `waitMs`; null when it takes longer or fails. One that nobody has
 * answered yet is waited for again: a database that hangs is not asked a second time.
 */
export function bounded<T>(load: (sql: Sql) => PromiseLike<T>, waitMs: number) {
  const underWay = new WeakMap<Sql, Promise<T>>()
  return (sql: Sql): Promise<T | null> => {
    const known = underWay.get(sql)
    if (known) return within(known, waitMs)
    const asked = Promise.resolve(load(sql)).finally(() => underWay.delete(sql))
    underWay.set(sql, asked)
    return within(asked, waitMs)
  }
}
