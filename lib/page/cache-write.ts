// Where the page cache keeps what, and how a thread writes into it.
import { mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `key` is lower-case hex. */
export type Keep = { folder: string; key: string }
export type Kept = { key: string; bytes: number }

/** Ending of files that are being written; one that is old was left by a process that died. */
export const draftEnding = '.part'

export const keptPath = ({ folder, key }: Keep): string => join(folder, key.slice(0, 2), key)

let drafts = 0

/** Written beside and renamed: what has its name is whole. Null when the disk does not take it. */
export function keepPage(keep: Keep, bytes: Uint8Array): Kept | null {
  const path = keptPath(keep)
  const draft = `${path}.${process.pid}-${performance.timeOrigin}-${(drafts += 1)}${draftEnding}`
  try {
    writeInto(draft, bytes)
    renameSync(draft, path)
    return { key: keep.key, bytes: bytes.length }
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
