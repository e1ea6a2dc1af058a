// API keys: how they are made and checked, and when they were last used.
import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sql } from '../postgres/db.ts'
import { keyWord } from './credential.ts'

const form = /^(stackroom_[0-9a-f]{16})_([0-9a-f]{32,128})$/

/** A new key: the whole is shown once, prefix and digest are kept. */
export function newKey(): { key: string; prefix: string; digest: Buffer } {
  const prefix = `${keyWord}${randomBytes(8).toString('hex')}`
  const secret = randomBytes(20).toString('hex')
  return { key: `${prefix}_${secret}`, prefix, digest: digestOfSecret(secret) }
}

/** The parts of a key, or null when it has not the form of one. */
export function splitKey(key: string): { prefix: string; secret: string } | null {
  const [, prefix, secret] = form.exec(key) ?? []
  return prefix && secret ? { prefix, secret } : null
}

// The secret is 160 random bits: nobody guesses it, so nothing slower is needed.
export function digestOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

export type KeyUses = { note(keyId: string): void; close(): Promise<void> }

const soonMs = 2000
const againMs = 60_000

/** Writes when keys were used, in batches; a key at most once a minute. */
export function keyUses(sql: Sql, onFailure: (error: unknown) => void): KeyUses {
  const written = new LRUCache<string, true>({ max: 10_000, ttl: againMs })
  const fresh = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null

  async function write() {
    timer = null
    const ids = [...fresh.keys()]
    const times = [...fresh.values()]
    fresh.clear()
    // A lost time of use harms nobody; the next use writes it.
    await sql`
      update api_key k set last_used_at = u.at
      from unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at)
      where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`.catch(onFailure)
  }

  return {
    note(keyId) {
      if (written.has(keyId)) return
      written.set(keyId, true)
      fresh.set(keyId, new Date().toISOString())
      timer ??= setTimeout(write, soonMs).unref()
    },
    async close() {
      if (timer) clearTimeout(timer)
      if (fresh.size > 0) await write()
    },
  }
}
