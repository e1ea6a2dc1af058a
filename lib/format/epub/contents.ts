// What of an EPUB a reading app fetches: its resources, the order in which they are read, and the
// lists that lead into them.

import type { Entry } from '../../archive/container.ts'
import { openZip } from '../../archive/zip/zip.ts'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../contract.ts'
import { epubArchive } from './archive.ts'
import { type Navigation, readNavigation } from './navigation.ts'
import { type EpubPackage, type Resource, readPackage } from './package.ts'
import { readProtection } from './protection.ts'

export type EpubResource = {
  /** Of its entry. */
  name: string
  /** As the manifest says, in lower case; may be empty. */
  mediaType: string
  /** Declared, and no more than an entry may have. */
  bytes: number
  /** Of the manifest: `nav`, `scripted`. */
  properties: string[]
  /** The algorithm that only a licence undoes; null where there is none. */
  encryption: string | null
}

/** Numbers are places in `resources`. */
export type EpubContents = Navigation & {
  isFixed: boolean
  /** Of the manifest, each once, in its order. */
  resources: EpubResource[]
  /** What is read one after another, each once. Never empty. */
  readingOrder: number[]
}

export type ReadContents = {
  contents: EpubContents
  /** Of each resource; undefined where its bytes are not what is to be sent. */
  entries: (Entry | undefined)[]
}

/** Throws Unreadable: what opening a ZIP throws, `unsupported_format` without a package, `no_pages` without anything to read. */
export async function readContents(file: File, limits: Limits): Promise<ReadContents> {
  await using container = await openZip(file, limits)
  const archive = epubArchive(container, limits)
  const book = await readPackage(archive)
  const protection = await readProtection(archive)
  const listed = resourcesOf(book)
  const places = new Map([...listed.keys()].map((entry, place) => [entry, place]))
  const readingOrder = orderOf(book, places)
  if (readingOrder.length === 0)
    throw new Unreadable('The EPUB says nothing of what is read in it', 'no_pages')
  const isSentAsItIs = (entry: Entry) =>
    !protection.encrypted.has(entry) && !protection.obfuscated.has(entry)
  return {
    contents: {
      isFixed: book.metadata.layout === 'pre-paginated',
      resources: [...listed].map(([entry, { mediaType, properties }]) => ({
        name: entry.name,
        mediaType,
        properties: properties.filter(Boolean).slice(0, 20),
        bytes: Math.min(entry.bytes, limits.entryBytes),
        encryption: protection.encrypted.get(entry) ?? null,
      })),
      readingOrder,
      ...(await readNavigation({ archive, book, places }, readingOrder)),
    },
    entries: [...listed.keys()].map(entry => (isSentAsItIs(entry) ? entry : undefined)),
  }
}

// What the archive says of itself is none of its contents.
const isOfArchive = ({ name }: Entry) => /^(?:mimetype$|meta-inf\/)/i.test(name)

function resourcesOf({ resources }: EpubPackage): Map<Entry, Resource> {
  const listed = new Map<Entry, Resource>()
  for (const resource of resources)
    if (!isOfArchive(resource.entry) && !listed.has(resource.entry))
      listed.set(resource.entry, resource)
  return listed
}

function orderOf({ linear, spine }: EpubPackage, places: Map<Entry, number>): number[] {
  const placed = (items: Resource[]) => [
    ...new Set(items.flatMap(({ entry }) => places.get(entry) ?? [])),
  ]
  const order = placed(linear)
  return order.length > 0 ? order : placed(spine)
}
