// Failures of page images, remembered so that a page that once took the maximum time fails immediately. In
// memory; slow ones also in the page cache, where other threads and the next process find them.
import { hash, randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../base/async/cache-size.ts'
import { Unreadable, type UnreadableCode } from '../base/errors.ts'
import { sniffImage } from '../media/image/image.ts'
import type { PageCache } from './cache.ts'
import { type CacheTarget, cachePath, draftSuffix, writeCacheFile } from './cache-write.ts'

type Failure = { code: UnreadableCode; message: string }

/** Codes of failures that are properties of the image. */
const lasting = new Set<UnreadableCode>(['unsupported_image', 'too_large', 'timeout', 'memory'])
/** These may be caused by a busy machine, so they are tried again; the others fail quickly. */
const slow = new Set<UnreadableCode>(['timeout', 'memory'])
const slowFailureMs = 6 * 3600 * 1000

export type Failures = ReturnType<typeof createFailures>

type Store = Pick<PageCache, 'target' | 'whenResponding'>

/** Failures by key, in memory and in the page cache. */
export function createFailures({ target, whenResponding }: Store) {
  const failures = new LRUCache<string, Failure>({ ...entriesUpTo(10_000), ttl: slowFailureMs })
  return {
    /** Folder for `decodeUnlessFailed`. */
    get folder() {
      return target('')?.folder ?? null
    },
    /** Throws the Unreadable from an earlier call of `remember`. */
    async check(key: string): Promise<void> {
      const stored = failures.has(key) ? null : target(key)
      const failure = stored ? await whenResponding(() => readStored(stored)) : failures.get(key)
      if (failure) throw new Unreadable(failure.message, failure.code)
    },
    /** Resolves once it is stored. */
    async remember(key: string, { code, message }: Unreadable): Promise<void> {
      if (!lasting.has(code)) return
      failures.set(key, { code, message })
      const stored = target(key)
      if (stored && slow.has(code))
        await whenResponding(() => writeStored(stored, { code, message }))
    },
  }
}

/** Types whose decoders may take the maximum time. */
const slowTypes = new Set(['image/svg+xml', 'image/jxl', 'image/heic'])

/**
 * Runs `decode` unless the same bytes have failed before, in any book or upload. Throws what `decode` throws.
 */
export async function decodeUnlessFailed<T>(
  bytes: Uint8Array,
  folder: string | null,
  decode: () => Promise<T>,
): Promise<T> {
  if (folder === null || !slowTypes.has(sniffImage(bytes) ?? '')) return decode()
  const target = { folder, key: hash('sha256', bytes, 'hex').slice(0, 32) }
  const failure = readFailure(target)
  if (failure) throw new Unreadable(failure.message, failure.code)
  try {
    return await decode()
  } catch (error) {
    if (error instanceof Unreadable) writeFailure(target, error)
    throw error
  }
}

async function readStored(target: CacheTarget): Promise<Failure | null> {
  try {
    const path = cachePath(target)
    const { mtimeMs } = await stat(path)
    return Date.now() - mtimeMs > slowFailureMs ? null : JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return null
  }
}

async function writeStored(target: CacheTarget, failure: Failure): Promise<void> {
  const path = cachePath(target)
  const draft = `${path}.${randomUUID()}${draftSuffix}`
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(draft, JSON.stringify(failure))
    await rename(draft, path)
  } catch {
    await unlink(draft).catch(() => {})
  }
}

// For threads, which may wait for the disk.
function writeFailure(target: CacheTarget | null, { code, message }: Failure) {
  if (target && slow.has(code))
    writeCacheFile(target, Buffer.from(JSON.stringify({ code, message })))
}

function readFailure(target: CacheTarget | null): Failure | null {
  if (target === null) return null
  try {
    const path = cachePath(target)
    if (Date.now() - statSync(path).mtimeMs > slowFailureMs) return null
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
