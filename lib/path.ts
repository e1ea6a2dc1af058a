// Paths as bytes. File systems store bytes; text is only for people and for parsers of names.

const strict = new TextDecoder('utf-8', { fatal: true })

/** Text of a name or path: UTF-8, else (one byte a character) Latin-1, so that nothing is lost. */
export function pathText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  }
}

/** `a` + `/` + `b`; an empty side is left out. */
export function joinPath(a: Uint8Array, b: Uint8Array): Buffer {
  if (a.length === 0) return Buffer.from(b)
  if (b.length === 0) return Buffer.from(a)
  const slash = a[a.length - 1] === 0x2f ? '' : '/'
  return Buffer.concat([a, Buffer.from(slash), b])
}

/** Names that differ only in case or in Unicode form are the same here: on some disks they are. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase()

/** Lower-case extension without the dot; empty when there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
}

/** `name` inside the folder `path`; `''` is the root. */
export function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}

/** The folder that a relative path lies in; `''` is the root, also for the root itself. */
export function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/** `path` from `root` on, without a slash between; null when they are the same. */
export function relativeTo(root: Uint8Array, path: Buffer): Buffer | null {
  const rest = path.subarray(root.length)
  if (rest.length === 0) return null
  return rest[0] === 0x2f ? rest.subarray(1) : rest
}
