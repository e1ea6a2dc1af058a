// EPUB archive: resolves hrefs to entries, confined to the archive.
import { Unreadable } from '../../../base/errors.ts'
import { foldName } from '../../../base/path.ts'
import type { Container, Entry } from '../../archive/container.ts'
import type { Limits } from '../../archive/limits.ts'

export type EpubArchive = {
  container: Container
  limits: Limits
  /** The entry at a path; names are matched exactly first, then ignoring case and Unicode normalization. */
  find(path: string): Entry | null
  /** The entry that an href in the document `from` refers to; null for remote, missing or outside targets. */
  resolve(from: string, href: string): Entry | null
  /** The bytes of a metadata document; null when it is missing or damaged. Throws Unreadable `io`. */
  readDocument(entry: Entry | null): Promise<Uint8Array | null>
}

export function createEpubArchive(container: Container, limits: Limits): EpubArchive {
  const exact = new Map<string, Entry>()
  const folded = new Map<string, Entry>()
  for (const entry of container.entries) {
    if (!exact.has(entry.name)) exact.set(entry.name, entry)
    const key = foldName(entry.name)
    if (!folded.has(key)) folded.set(key, entry)
  }
  const find = (path: string) => exact.get(path) ?? folded.get(foldName(path)) ?? null
  return {
    container,
    limits,
    find,
    resolve(from, href) {
      for (const path of candidatePaths(from, href)) {
        const entry = find(path)
        if (entry !== null) return entry
      }
      return null
    },
    readDocument: entry => bytesOrNull(entry && container.read(entry, limits.metadataBytes)),
  }
}

/** The bytes, or null for an entry that is damaged, too large or encrypted. Throws Unreadable `io`. */
export async function bytesOrNull(bytes: Promise<Uint8Array> | null): Promise<Uint8Array | null> {
  try {
    return await bytes
  } catch (cause) {
    if (cause instanceof Unreadable && cause.code !== 'io') return null
    throw cause
  }
}

/** Candidate paths of an href, most likely first: percent-decoded, then literal. */
function candidatePaths(from: string, href: string): string[] {
  const path = href
    .trim()
    .replaceAll('\\', '/')
    .replace(/[?#].*$/s, '')
  if (path === '' || /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(path)) return []
  const folder = from.slice(0, from.lastIndexOf('/') + 1)
  return [decodePercent(path), path].flatMap(candidate =>
    normalizePath(candidate.startsWith('/') ? candidate : folder + candidate),
  )
}

function decodePercent(href: string): string {
  try {
    return decodeURIComponent(href).replaceAll('\\', '/')
  } catch {
    return href
  }
}

/** The path without `.` and `..`; empty when it leaves the archive. */
function normalizePath(path: string): string[] {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return []
  }
  return parts.length > 0 ? [parts.join('/')] : []
}
