// The page cache on disk: what had to be made once is sent from a file the next time. Bounded in
// bytes; what was not asked for longest goes first. The files are the truth: what a process finds there
// is used, whoever made it.
import { unlink } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { type Body, wholeFile } from '../download/file-body.ts'
import { draftEnding, type Keep, type Kept, keptPath } from './cache-write.ts'

export type PageCache = ReturnType<typeof openPageCache>

// File systems give files whole blocks.
const block = 4096
const oldDraftMs = 600_000
const keyShape = /^[0-9a-f]{32}$/

/** `mostBytes` 0 keeps nothing, and removes what was kept. `ready` resolves when what was there before is known. */
export function openPageCache(folder: string, mostBytes: number) {
  const known = new LRUCache<string, number>({
    // It cannot be without a bound, and without one it keeps nothing anyway.
    maxSize: Math.max(mostBytes, 1),
    sizeCalculation: bytes => Math.ceil(Math.max(bytes, 1) / block) * block,
    dispose: (_bytes, key, reason) => {
      if (reason === 'evict') forget(key)
    },
  })
  const forget = (key: string) => unlink(keptPath({ folder, key }), () => {})
  const add = ({ key, bytes }: Kept) => {
    known.set(key, bytes)
    if (!known.has(key)) forget(key)
  }
  let isClosed = false
  return {
    isOn: mostBytes > 0,
    mostBytes,
    /** Whether this process knows it to be there. */
    has: (key: string): boolean => known.has(key),
    /** Where to keep something under `key`; null when nothing is kept. */
    place: (key: string): Keep | null => (mostBytes > 0 ? { folder, key } : null),
    /** Takes note of what a thread has written. */
    took: (kept: readonly Kept[]) => kept.forEach(add),
    async read(key: string): Promise<Body | null> {
      if (mostBytes === 0) return null
      const found = await wholeFile(keptPath({ folder, key }))
      if (found === null) known.delete(key)
      else if (known.get(key) === undefined) add({ key, bytes: found.length })
      return found
    },
    /** Bytes it takes as far as this process knows. */
    get bytes() {
      return known.calculatedSize
    },
    ready: takeStock(folder, { isClosed: () => isClosed, known, add }),
    close() {
      isClosed = true
    },
  }
}

type Old = Kept & { usedMs: number }
type Into = {
  isClosed: () => boolean
  known: LRUCache<string, number>
  add: (kept: Kept) => void
}

/** Adds what lies in the folder, the longest unused first; drafts that nobody writes any more are removed. */
async function takeStock(folder: string, { isClosed, known, add }: Into) {
  const found: Old[] = []
  for (const name of await names(folder)) {
    for (const file of await names(join(folder, name))) {
      if (isClosed()) return
      const path = join(folder, name, file)
      const one = await stat(path).catch(() => null)
      if (one === null) continue
      if (file.endsWith(draftEnding) && Date.now() - one.mtimeMs > oldDraftMs)
        unlink(path, () => {})
      const usedMs = Math.max(one.atimeMs, one.mtimeMs)
      if (keyShape.test(file)) found.push({ key: file, bytes: one.size, usedMs })
    }
  }
  // What was asked for since the start is newer than all of it.
  const recent = [...known.entries()].reverse()
  known.clear()
  const since = new Set(recent.map(([key]) => key))
  for (const old of found.sort((a, b) => a.usedMs - b.usedMs)) if (!since.has(old.key)) add(old)
  for (const [key, bytes] of recent) add({ key, bytes })
}

const names = (folder: string) => readdir(folder).catch(() => [] as string[])
