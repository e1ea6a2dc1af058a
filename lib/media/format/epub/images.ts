// Images of an EPUB: from the manifest, as referenced by a document, and its cover.
import type { Entry } from '../../archive/container.ts'
import { zipArchive } from '../../archive/zip/zip.ts'
import { measuredHeadBytes, measureImage, sniffImage } from '../../image/image.ts'
import { descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { Page } from '../contract.ts'
import { bytesOrNull, type EpubArchive } from './archive.ts'
import type { EpubPackage, Resource } from './package.ts'

// A fixed-layout page references its image in the first lines; 64 KiB suffice even with a text layer.
const maxDocumentBytes = 65_536
const maxDocuments = 10_000

export type EpubImage = { page: Page; entry: Entry }

const isImage = ({ mediaType }: Resource) => mediaType.startsWith('image/')

/** Manifest images in manifest order, unmeasured: a reflowable book may have thousands of ornaments. */
export function manifestImages(book: EpubPackage): EpubImage[] {
  const seen = new Set<Entry>()
  return book.resources.filter(isImage).flatMap(({ entry, mediaType }) => {
    if (seen.has(entry)) return []
    seen.add(entry)
    const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
    const page = {
      name: entry.name,
      mediaType: type,
      bytes: entry.sizeBytes,
      width: null,
      height: null,
      location: zipArchive.locate(entry),
    }
    return [{ page, entry }]
  })
}

/** Manifest images in spine order, measured; unreferenced images come last. */
export async function spineImages(
  archive: EpubArchive,
  book: EpubPackage,
  encrypted: ReadonlyMap<Entry, unknown>,
): Promise<EpubImage[]> {
  const images = new Map(manifestImages(book).map(image => [image.entry, image]))
  const ordered = new Set<EpubImage>()
  const documents = book.spine.slice(0, maxDocuments)
  await archive.container.preloadHeads?.(
    documents.map(({ entry }) => entry),
    maxDocumentBytes,
  )
  for (const resource of documents) {
    const referenced = encrypted.has(resource.entry)
      ? []
      : await referencedImages(archive, resource.entry)
    for (const entry of [resource.entry, ...referenced]) {
      const image = images.get(entry)
      if (image !== undefined) ordered.add(image)
    }
  }
  for (const image of images.values()) ordered.add(image)
  await archive.container.preloadHeads?.(
    [...ordered].map(({ entry }) => entry),
    measuredHeadBytes,
  )
  const measured: EpubImage[] = []
  for (const { page, entry } of ordered) {
    const size = encrypted.has(entry) ? null : await measure(archive, entry)
    // Measuring locates the data of an archive whose offsets are wrong.
    measured.push({ page: { ...page, ...size, location: zipArchive.locate(entry) }, entry })
  }
  return measured
}

async function measure({ container }: EpubArchive, entry: Entry) {
  let isUnreadable = false
  const size = await measureImage(async bytes => {
    const head = await bytesOrNull(container.head(entry, bytes))
    isUnreadable ||= head === null
    return head ?? new Uint8Array()
  })
  return isUnreadable ? null : size
}

/** Entries of the images that an XHTML or SVG document references, in document order; empty for other files. */
async function referencedImages(archive: EpubArchive, entry: Entry): Promise<Entry[]> {
  const bytes = await bytesOrNull(archive.container.head(entry, maxDocumentBytes))
  if (bytes === null || !/^(?:image\/svg\+xml|null)$/.test(`${sniffImage(bytes)}`)) return []
  const { root } = parseXml(bytes.subarray(0, maxDocumentBytes))
  const images: Entry[] = []
  for (const { name, attributes } of root === null ? [] : descendantsOf(root)) {
    const href = name === 'img' ? attributes.get('src') : name === 'image' && attributes.get('href')
    const target = href ? archive.resolve(entry.name, href) : null
    if (target !== null) images.push(target)
  }
  return images
}

const maxAttempts = 24

/** The candidates for the cover, by all known conventions, that are readable images. Throws Unreadable `io`. */
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
