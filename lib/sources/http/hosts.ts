// Request rate, daily quota and backoff per host: one request at a time with a pause, and none while a host wants no
// requests.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { SourceFailure } from '../failure.ts'

const maxHosts = 1000
const baseBackoffMs = 60_000
const maxMultiplier = 16
const dayMs = 24 * 3_600_000
/** A host that is not called for this long counts as new. */
const forgetMs = dayMs
/** More waiting requests than this fail at once. */
const maxQueueMs = 120_000

/** Requests that a service allows. */
export type HostLimits = { perMinute?: number; perDay?: number }

type HostState = {
  nextAt: number
  multiplier: number
  blockedUntil: number
  /** Requests since `dayStart`. */
  count: number
  dayStart: number
}

export function createHosts({ intervalMs = 1_000, now = Date.now } = {}) {
  const hosts = new LRUCache<string, HostState>({ max: maxHosts, ttl: forgetMs })
  const stateOf = (host: string): HostState => {
    const known = hosts.get(host)
    const fresh = { nextAt: 0, multiplier: 0, blockedUntil: 0, count: 0, dayStart: now() }
    const state = known ?? fresh
    hosts.set(host, state)
    return state
  }
  return {
    /** Waits for the request's turn. Throws SourceFailure `limited` while the host must not be called. */
    async admit(
      host: string,
      { signal, limits }: { signal: AbortSignal; limits?: HostLimits | undefined },
    ): Promise<void> {
      const state = stateOf(host)
      const assertOpen = () => {
        if (state.blockedUntil > now()) throw limited(host, new Date(state.blockedUntil))
      }
      assertOpen()
      const at = Math.max(now(), state.nextAt)
      if (at - now() > maxQueueMs) throw limited(host, new Date(at))
      countRequest(host, state, { perDay: limits?.perDay ?? Number.POSITIVE_INFINITY, now: now() })
      state.nextAt = at + (limits?.perMinute ? 60_000 / limits.perMinute : intervalMs)
      if (at > now()) await sleep(at - now(), undefined, { signal })
      assertOpen()
    },
    /** After a response that was not a rejection. */
    succeeded(host: string) {
      stateOf(host).multiplier = 0
    },
    /** After 429 or 503: a failure with the time of the next request. `retryAfter` is the header. */
    limited(host: string, retryAfter: string | undefined): SourceFailure {
      const state = stateOf(host)
      state.multiplier = Math.min(maxMultiplier, Math.max(1, state.multiplier * 2))
      const ms = parseRetryAfter(retryAfter, now()) ?? baseBackoffMs * state.multiplier
      state.blockedUntil = now() + Math.min(ms, forgetMs)
      return limited(host, new Date(state.blockedUntil))
    },
  }
}

function countRequest(
  host: string,
  state: HostState,
  { perDay, now }: { perDay: number; now: number },
): void {
  if (now - state.dayStart >= dayMs) Object.assign(state, { count: 0, dayStart: now })
  if (state.count >= perDay) throw limited(host, new Date(state.dayStart + dayMs))
  state.count += 1
}

function limited(host: string, retryAt: Date): SourceFailure {
  const time = retryAt.toISOString().replace(/\.\d+Z$/, 'Z')
  return new SourceFailure(`${host} accepts no requests until ${time}`, 'limited', { retryAt })
}

/** Milliseconds from seconds or a date; null if it is neither. */
function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
