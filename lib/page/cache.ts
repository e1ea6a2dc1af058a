// Page cache on disk: an LRU cache of rendered and unpacked images, bounded in bytes. The files are the
// source of truth: a process also uses files written by others.
import { unlink } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { NotResponding } from '../base/errors.ts'
import { discardBody, type FileBody, readWholeFile } from '../download/file-body.ts'
import { cacheHealth, mountKey } from '../store/mount/mount-health.ts'
import { type CacheEntry, type CacheTarget, cachePath, draftSuffix } from './cache-write.ts'

export type PageCache = ReturnType<typeof openPageCache>

// File systems allocate whole blocks.
const blockBytes = 4096
const staleDraftMs = 600_000
const keyPattern = /^[0-9a-f]{32}$/

/**
 * `maxBytes` 0 disables the cache and deletes its files. `ready` resolves once existing files are indexed.
 */
export function openPageCache(
  folder: string,
  maxBytes: number,
  canStore: () => boolean = () => true,
) {
  const index = new LRUCache<string, number>({
    // The library requires a positive bound; a disabled cache is never written to anyway.
    maxSize: Math.max(maxBytes, 1),
    sizeCalculation: sizeBytes => Math.ceil(Math.max(sizeBytes, 1) / blockBytes) * blockBytes,
    dispose: (_sizeBytes, key, reason) => {
      if (reason === 'evict') deleteFile(key)
    },
  })
  const deleteFile = (key: string) => unlink(cachePath({ folder, key }), () => {})
  const add = ({ key, sizeBytes }: CacheEntry) => {
    index.set(key, sizeBytes)
    if (!index.has(key)) deleteFile(key)
  }
  let isClosed = false
  const root = mountKey(Buffer.from(folder))
  /** The result of work on the cache's disk; null if it does not respond. */
  async function whenResponding<T>(work: () => Promise<T>, discard?: (value: T) => void) {
    try {
      return await cacheHealth.run(root, work, { discard })
    } catch (error) {
      if (error instanceof NotResponding) return null
      throw error
    }
  }
  const isUsable = () => maxBytes > 0 && canStore() && !cacheHealth.isHung(root)
  return {
    whenResponding,
    get isEnabled() {
      return isUsable()
    },
    maxBytes,
    /** Whether this process has the key in its index. */
    has: (key: string): boolean => index.has(key),
    /**
     * Where to write the image of `key`; null if the cache is disabled or its disk is nearly full or not
     * responding.
     */
    target: (key: string): CacheTarget | null => (isUsable() ? { folder, key } : null),
    /** Adds files written by a thread to the index. */
    addWritten: (entries: readonly CacheEntry[]) => entries.forEach(add),
    async read(key: string): Promise<FileBody | null> {
      if (maxBytes === 0) return null
      const read = () => readWholeFile(cachePath({ folder, key }))
      const file = await whenResponding(read, file => file && discardBody(file))
      if (file === null) index.delete(key)
      else if (index.get(key) === undefined) add({ key, sizeBytes: file.length })
      return file
    },
    /** Size on disk of the indexed files. */
    get bytes() {
      return index.calculatedSize
    },
    ready: indexExistingFiles(folder, { isClosed: () => isClosed, index, add }),
    close() {
      isClosed = true
    },
  }
}

type ExistingFile = CacheEntry & { usedMs: number }
type Indexing = {
  isClosed: () => boolean
  index: LRUCache<string, number>
  add: (entry: CacheEntry) => void
}

/** Adds the folder's files, least recently used first; deletes abandoned drafts. */
async function indexExistingFiles(folder: string, { isClosed, index, add }: Indexing) {
  const existing: ExistingFile[] = []
  for (const subfolder of await listNames(folder)) {
    for (const name of await listNames(join(folder, subfolder))) {
      if (isClosed()) return
      const path = join(folder, subfolder, name)
      const stats = await stat(path).catch(() => null)
      if (stats === null) continue
      if (name.endsWith(draftSuffix) && Date.now() - stats.mtimeMs > staleDraftMs)
        unlink(path, () => {})
      const usedMs = Math.max(stats.atimeMs, stats.mtimeMs)
      if (keyPattern.test(name)) existing.push({ key: name, sizeBytes: stats.size, usedMs })
    }
  }
  // What has been requested since the start is more recent than all of these.
  const recent = [...index.entries()].reverse()
  index.clear()
  const recentKeys = new Set(recent.map(([key]) => key))
  for (const file of existing.sort((a, b) => a.usedMs - b.usedMs))
    if (!recentKeys.has(file.key)) add(file)
  for (const [key, sizeBytes] of recent) add({ key, sizeBytes })
}

const listNames = (folder: string) => readdir(folder).catch(() => [] as string[])
