// The ZIP of an EPUB seen through hrefs: references resolved inside the archive and nowhere else.

import type { Container, Entry } from '../../archive/container.ts'
import { Unreadable } from '../../errors.ts'
import { foldedName } from '../../path.ts'
import type { Limits } from '../contract.ts'

export type EpubArchive = {
  container: Container
  limits: Limits
  /** The entry of a path; names are compared exactly first, then without case and Unicode form. */
  find(path: string): Entry | null
  /** The entry an href in the document `from` points to; null for remote, missing or outside. */
  resolve(from: string, href: string): Entry | null
  /** The bytes of a metadata document, null when it is missing or damaged. Throws Unreadable `io`. */
  document(entry: Entry | null): Promise<Uint8Array | null>
}

export function epubArchive(container: Container, limits: Limits): EpubArchive {
  const exact = new Map<string, Entry>()
  const folded = new Map<string, Entry>()
  for (const entry of container.entries) {
    if (!exact.has(entry.name)) exact.set(entry.name, entry)
    const key = foldedName(entry.name)
    if (!folded.has(key)) folded.set(key, entry)
  }
  const find = (path: string) => exact.get(path) ?? folded.get(foldedName(path)) ?? null
  return {
    container,
    limits,
    find,
    resolve(from, href) {
      for (const path of pathsOf(from, href)) {
        const entry = find(path)
        if (entry !== null) return entry
      }
      return null
    },
    document: entry => readable(entry && container.read(entry, limits.metadataBytes)),
  }
}

/** The bytes, or null for an entry that is damaged, too large or encrypted. Throws Unreadable `io`. */
export async function readable(bytes: Promise<Uint8Array> | null): Promise<Uint8Array | null> {
  try {
    return await bytes
  } catch (cause) {
    if (cause instanceof Unreadable && cause.code !== 'io') return null
    throw cause
  }
}

/** What an href may mean, most likely first: percent-decoded, then letter by letter. */
function pathsOf(from: string, href: string): string[] {
  const bare = href
    .trim()
    .replaceAll('\\', '/')
    .replace(/[?#].*$/s, '')
  if (bare === '' || /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(bare)) return []
  const folder = from.slice(0, from.lastIndexOf('/') + 1)
  return [decoded(bare), bare].flatMap(path => inside(path.startsWith('/') ? path : folder + path))
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href).replaceAll('\\', '/')
  } catch {
    return href
  }
}

/** The path without `.` and `..`; none when it climbs out of the archive. */
function inside(path: string): string[] {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return []
  }
  return parts.length > 0 ? [parts.join('/')] : []
}
