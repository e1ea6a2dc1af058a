// Identity cache: results of credential checks, bounded in number and invalidated per account. Concurrent
// checks of one credential are shared (single-flight).
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../base/async/cache-size.ts'
import { createSingleFlight } from '../base/async/single-flight.ts'
import type { Identity } from './identity.ts'

/** Valid `until`, in ms since 1970, and until one of the accounts is invalidated. */
export type CachedIdentity = { until: number; accountIds: readonly string[] } & (
  | { identity: Identity }
  | { identity: null; message: string }
)

const maxEntries = 5000

/** Keys are digests of credentials, never the credentials themselves. */
export function createIdentityCache() {
  const digestsByAccount = new Map<string, Set<string>>()
  const entries = new LRUCache<string, CachedIdentity>({
    ...entriesUpTo(maxEntries),
    dispose: ({ accountIds }, digest) => {
      for (const accountId of accountIds) {
        const digests = digestsByAccount.get(accountId)
        digests?.delete(digest)
        if (digests?.size === 0) digestsByAccount.delete(accountId)
      }
    },
  })
  const flight = createSingleFlight<CachedIdentity>()
  // Incremented by every invalidation: results of loads that began earlier may be outdated.
  let generation = 0

  function store(digest: string, entry: CachedIdentity) {
    entries.set(digest, entry)
    for (const accountId of entry.accountIds) {
      const digests = digestsByAccount.get(accountId)
      if (digests) digests.add(digest)
      else digestsByAccount.set(accountId, new Set([digest]))
    }
  }

  return {
    /** The valid entry, if any. */
    get(digest: string): CachedIdentity | undefined {
      const entry = entries.get(digest)
      return entry && entry.until > Date.now() ? entry : undefined
    },
    /** Loads and stores an entry; concurrent loads of the same digest share the result. */
    load(digest: string, check: () => Promise<CachedIdentity>): Promise<CachedIdentity> {
      const startGeneration = generation
      return flight(`${generation} ${digest}`, async () => {
        const entry = await check()
        if (startGeneration === generation && entry.until > Date.now()) store(digest, entry)
        return entry
      })
    },
    invalidate(accountId: string) {
      generation += 1
      for (const digest of [...(digestsByAccount.get(accountId) ?? [])]) entries.delete(digest)
    },
    clear() {
      generation += 1
      entries.clear()
    },
  }
}
