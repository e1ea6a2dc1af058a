// File paths as bytes, as file systems store them; text is for display and name parsing only.
import { sep } from 'node:path'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Text of a name or path: UTF-8, or else Latin-1 so that no byte is lost. */
export function pathText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  }
}

/** `a` + `/` + `b`; without the slash if one of them is empty. */
export function joinPath(a: Uint8Array, b: Uint8Array): Buffer {
  if (a.length === 0) return Buffer.from(b)
  if (b.length === 0) return Buffer.from(a)
  const slash = a[a.length - 1] === 0x2f ? '' : '/'
  return Buffer.concat([a, Buffer.from(slash), b])
}

const slashByte = sep.charCodeAt(0)

/** Whether `path` is the folder itself or below it. Both are absolute, with links resolved. */
export function isWithin(path: Buffer, folder: Buffer): boolean {
  if (!path.subarray(0, folder.length).equals(folder)) return false
  const next = path[folder.length]
  return next === undefined || folder.at(-1) === slashByte || next === slashByte
}

/**
 * Folded name: equal for names that some file systems treat as one, because they differ only in case or
 * Unicode normalization.
 */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase()

/** Lowercase extension without the dot; empty if there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
}

/** Path of `name` in the folder `path`; `''` is the root. */
export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}

/** Folder of a relative path; `''` is the root, which is its own parent. */
export function parentPath(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/** `path` relative to `root`; null when they are equal. */
export function relativeTo(root: Uint8Array, path: Buffer): Buffer | null {
  const relative = path.subarray(root.length)
  if (relative.length === 0) return null
  return relative[0] === 0x2f ? relative.subarray(1) : relative
}
