// EPUB contents for reading apps: resources, reading order and navigation.
import { scoped } from '../../../base/async/dispose.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { Container, Entry } from '../../archive/container.ts'
import type { Limits } from '../../archive/limits.ts'
import { openZip } from '../../archive/zip/zip.ts'
import { createEpubArchive } from './archive.ts'
import { readEncryption } from './encryption.ts'
import { type Navigation, readNavigation } from './navigation.ts'
import { byEntry, type Rendition, readPackage } from './package.ts'

export type EpubResource = {
  /** Entry name. */
  name: string
  /** As declared in the manifest, in lowercase; may be empty. */
  mediaType: string
  /** Declared size, at most `Limits.entryBytes`. */
  bytes: number
  /** Manifest properties, e.g. `nav`, `scripted`. */
  properties: string[]
  /** Algorithm of DRM-protected data; null when it is not encrypted. */
  encryption: string | null
}

/** Numbers are indexes into `resources`. */
export type EpubContents = Navigation & {
  isFixedLayout: boolean
  /** Page progression; null if the book does not specify it. */
  direction: 'ltr' | 'rtl' | null
  /** Resources of the manifest, each once, in manifest order. */
  resources: EpubResource[]
  /** Resources of the spine, each once. Never empty. */
  readingOrder: number[]
  /** For each item of the reading order. */
  renditions: Rendition[]
  /** Items of the spine, repeated ones included. */
  spine: number[]
}

export type ContentsResult = {
  contents: EpubContents
  /** Entry of each resource; undefined when its data must be decoded before it is sent. */
  entries: (Entry | undefined)[]
}

/**
 * Throws Unreadable: errors from opening a ZIP, `unsupported_format` without a package, `no_pages` without a
 * reading order.
 */
export function readContents(file: File, limits: Limits): Promise<ContentsResult> {
  return scoped(async use => contentsOf(use(await openZip(file, limits)), limits))
}

async function contentsOf(container: Container, limits: Limits): Promise<ContentsResult> {
  const archive = createEpubArchive(container, limits)
  const book = await readPackage(archive)
  const encryption = await readEncryption(archive)
  const resources = byEntry(book.resources)
  const resourceIndexes = new Map([...resources.keys()].map((entry, index) => [entry, index]))
  const readingOrder = book.readingOrder.map(({ entry }) => resourceIndexes.get(entry)!)
  if (readingOrder.length === 0)
    throw container.damage ?? new Unreadable('The EPUB has no reading order', 'no_pages')
  const { layout, readingDirection } = book.metadata
  const renditions = new Map([...book.renditions].map(([item, value]) => [item.entry, value]))
  const entries = [...resources.keys()]
  const isUnmodified = (entry: Entry) =>
    !encryption.encrypted.has(entry) && !encryption.obfuscated.has(entry)
  return {
    contents: {
      isFixedLayout: layout === 'pre-paginated',
      direction: readingDirection === 'ltr' || readingDirection === 'rtl' ? readingDirection : null,
      resources: [...resources].map(([entry, { mediaType, properties }]) => ({
        name: entry.name,
        mediaType,
        properties: properties.filter(Boolean).slice(0, 20),
        bytes: Math.min(entry.sizeBytes, limits.entryBytes),
        encryption: encryption.encrypted.get(entry) ?? null,
      })),
      readingOrder,
      renditions: readingOrder.map(index => renditions.get(entries[index]!)!),
      spine: book.spine.flatMap(({ entry }) => resourceIndexes.get(entry) ?? []),
      ...(await readNavigation({ archive, book, resourceIndexes }, readingOrder)),
    },
    entries: entries.map(entry => (isUnmodified(entry) ? entry : undefined)),
  }
}
