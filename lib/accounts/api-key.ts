// API keys: generation, parsing, batched recording of their last use.
import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../base/async/cache-size.ts'
import type { Sql } from '../store/postgres/db.ts'
import { apiKeyPrefix } from './credential.ts'
import { hashSecret } from './secret.ts'

const keyPattern = /^(stackroom_[0-9a-f]{16})_([0-9a-f]{32,128})$/

/**
 * A new key. The whole key is shown once; only its prefix and digests are stored. KOReader sends the MD5 of
 * a password, so the second digest is of the key's MD5.
 */
export function generateKey(): {
  key: string
  prefix: string
  digest: Buffer
  koreaderDigest: Buffer
} {
  const prefix = `${apiKeyPrefix}${randomBytes(8).toString('hex')}`
  const secret = randomBytes(20).toString('hex')
  const key = `${prefix}_${secret}`
  const koreaderDigest = hashSecret(hash('md5', key, 'hex'))
  return { key, prefix, digest: hashSecret(secret), koreaderDigest }
}

/** The parts of a key; null when it is malformed. */
export function parseKey(key: string): { prefix: string; secret: string } | null {
  const [, prefix, secret] = keyPattern.exec(key) ?? []
  return prefix && secret ? { prefix, secret } : null
}

const writeDelayMs = 2000
const writeIntervalMs = 60_000

/** Records when keys were last used, in batches; each key at most once a minute. */
export function createKeyUsageLog(sql: Sql, onError: (error: unknown) => void) {
  const recent = new LRUCache<string, true>({ ...entriesUpTo(10_000), ttl: writeIntervalMs })
  const unwritten = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null

  async function write() {
    timer = null
    const ids = [...unwritten.keys()]
    const times = [...unwritten.values()]
    unwritten.clear()
    // A failure only loses timestamps; the next use is recorded again.
    await sql`
      update api_key k set last_used_at = u.at
      from unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at)
      where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`.catch(onError)
  }

  return {
    record(keyId: string) {
      if (recent.has(keyId)) return
      recent.set(keyId, true)
      unwritten.set(keyId, new Date().toISOString())
      timer ??= setTimeout(write, writeDelayMs).unref()
    },
    async close() {
      if (timer) clearTimeout(timer)
      if (unwritten.size > 0) await write()
    },
  }
}
