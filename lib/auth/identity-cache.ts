// What was found out about credentials, bounded, by account, so that one account can be forgotten.
import { LRUCache } from 'lru-cache'
import type { Identity } from './identity.ts'

/** Good `until`, in ms since 1970. */
export type Recollection =
  | { identity: Identity; until: number; accountId: string }
  | { identity: null; refusal: string; until: number; accountId: string | null }

const most = 5000

/** Keys are digests of credentials, never the credentials. */
export function recollection() {
  const byAccount = new Map<string, Set<string>>()
  const kept = new LRUCache<string, Recollection>({
    max: most,
    dispose: ({ accountId }, digest) => {
      const digests = accountId === null ? undefined : byAccount.get(accountId)
      digests?.delete(digest)
      if (accountId !== null && digests?.size === 0) byAccount.delete(accountId)
    },
  })
  const asked = new Map<string, { answer: Promise<Recollection>; era: number }>()
  // Moved by every change: what was being read while it happened may be old already.
  let era = 0

  function keep(digest: string, found: Recollection) {
    kept.set(digest, found)
    if (found.accountId === null) return
    const digests = byAccount.get(found.accountId)
    if (digests) digests.add(digest)
    else byAccount.set(found.accountId, new Set([digest]))
  }

  return {
    /** What is known and still good. */
    recall(digest: string): Recollection | undefined {
      const found = kept.get(digest)
      return found && found.until > Date.now() ? found : undefined
    },
    /** Asks; those who ask the same meanwhile share the answer. */
    async learn(digest: string, ask: () => Promise<Recollection>): Promise<Recollection> {
      const same = asked.get(digest)
      if (same && same.era === era) return same.answer
      const mine = { answer: ask(), era }
      asked.set(digest, mine)
      try {
        const found = await mine.answer
        if (mine.era === era && found.until > Date.now()) keep(digest, found)
        return found
      } finally {
        if (asked.get(digest) === mine) asked.delete(digest)
      }
    },
    drop(accountId: string) {
      era += 1
      for (const digest of [...(byAccount.get(accountId) ?? [])]) kept.delete(digest)
    },
    dropAll() {
      era += 1
      kept.clear()
    },
  }
}
