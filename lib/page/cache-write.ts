// Paths of the page cache, and atomic writes to it from page threads.
import { mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `key` is lowercase hex. */
export type CacheTarget = { folder: string; key: string }
export type CacheEntry = { key: string; sizeBytes: number }

/** Suffix of files being written; an old one was left behind by a dead process. */
export const draftSuffix = '.part'

export const cachePath = ({ folder, key }: CacheTarget): string =>
  join(folder, key.slice(0, 2), key)

let draftCount = 0

/**
 * Writes a draft and renames it, so that a file with its final name is always complete. Null if the disk
 * refuses it.
 */
export function writeCacheFile(target: CacheTarget, bytes: Uint8Array): CacheEntry | null {
  const path = cachePath(target)
  const draft = `${path}.${process.pid}-${performance.timeOrigin}-${(draftCount += 1)}${draftSuffix}`
  try {
    writeInto(draft, bytes)
    renameSync(draft, path)
    return { key: target.key, sizeBytes: bytes.length }
  } catch {
    try {
      unlinkSync(draft)
    } catch {}
    return null
  }
}

function writeInto(draft: string, bytes: Uint8Array) {
  try {
    writeFileSync(draft, bytes)
  } catch {
    mkdirSync(dirname(draft), { recursive: true })
    writeFileSync(draft, bytes)
  }
}
