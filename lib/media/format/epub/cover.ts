// EPUB cover detection by all known conventions, most reliable first.

import type { Entry } from '../../archive/container.ts'
import { sniffImage } from '../../image/image.ts'
import { bytesOrNull, type EpubArchive } from './archive.ts'
import { isImage, manifestImages, referencedImages } from './images.ts'
import type { EpubPackage, Resource } from './package.ts'

const maxAttempts = 24

/** The candidates that are readable images. Throws Unreadable `io`. */
export async function* readCovers(
  archive: EpubArchive,
  book: EpubPackage,
  encrypted: ReadonlyMap<Entry, unknown>,
): AsyncGenerator<Uint8Array> {
  const tried = new Set<Entry>()
  const read = async (entry: Entry) => {
    if (tried.has(entry) || encrypted.has(entry)) return null
    tried.add(entry)
    const bytes = await bytesOrNull(archive.container.read(entry, archive.limits.entryBytes))
    return bytes !== null && bytes.length > 0 && sniffImage(bytes) !== null ? bytes : null
  }
  for (const entry of coverCandidates(archive, book)) {
    if (tried.size >= maxAttempts) break
    if (encrypted.has(entry)) continue
    // An SVG or XHTML cover often just references an image in the archive, which a renderer could not load.
    for (const inner of isRaster(entry, book)
      ? []
      : (await referencedImages(archive, entry)).slice(0, 4)) {
      const bytes = await read(inner)
      if (bytes !== null) yield bytes
    }
    const bytes = await read(entry)
    if (bytes !== null) yield bytes
  }
}

/** Entries that are the cover, or documents that display it. */
function* coverCandidates(archive: EpubArchive, book: EpubPackage): Generator<Entry> {
  const { resources, spine } = book
  const entries = (chosen: Resource[]) => chosen.map(({ entry }) => entry)
  yield* entries(resources.filter(({ properties }) => properties.includes('cover-image')))
  if (book.cover !== null) {
    const named = book.byId.get(book.cover)?.entry ?? archive.resolve(book.path, book.cover)
    if (named !== null) yield named
  }
  for (const { type, href } of book.guide) {
    const entry = /\bcover\b/.test(type) ? archive.resolve(book.path, href) : null
    if (entry !== null) yield entry
  }
  const named = resources.filter(({ id, href }) => /cover|cvi/i.test(id) || /cover/i.test(href))
  yield* entries(named.filter(isImage))
  yield* entries(named.filter(resource => !isImage(resource)))
  yield* entries(spine.slice(0, 3))
  yield* manifestImages(book).map(({ entry }) => entry)
}

function isRaster(entry: Entry, { resources }: EpubPackage): boolean {
  const type = resources.find(resource => resource.entry === entry)?.mediaType ?? ''
  return type.startsWith('image/')
    ? type !== 'image/svg+xml'
    : /\.(?:jpe?g|png|gif|webp)$/i.test(entry.name)
}
