// The images of an EPUB: those of the manifest, and those a page shows.

import type { Entry } from '../../archive/container.ts'
import { measureImage, sniffImage } from '../../image/image.ts'
import { descendantsOf, parseXml } from '../../metadata/xml.ts'
import type { Page } from '../contract.ts'
import { type EpubArchive, readable } from './archive.ts'
import type { EpubPackage, Resource } from './package.ts'

// The image of a fixed page stands in the first lines; 64 KiB hold even a page with its text layer.
const documentBytes = 65_536
const mostDocuments = 10_000

export type EpubImage = { page: Page; entry: Entry }

export const isImage = ({ mediaType }: Resource) => mediaType.startsWith('image/')

/** Manifest images in manifest order, unmeasured: a reflowable book has thousands of ornaments nobody pages through. */
export function manifestImages(book: EpubPackage): EpubImage[] {
  const seen = new Set<Entry>()
  return book.resources.filter(isImage).flatMap(({ entry, mediaType }) => {
    if (seen.has(entry)) return []
    seen.add(entry)
    const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
    const page = {
      name: entry.name,
      mediaType: type,
      bytes: entry.bytes,
      width: null,
      height: null,
    }
    return [{ page, entry }]
  })
}

/** The same in the order the spine shows them, measured; what is shown nowhere comes last. */
export async function spineImages(
  archive: EpubArchive,
  book: EpubPackage,
  encrypted: ReadonlyMap<Entry, unknown>,
): Promise<EpubImage[]> {
  const images = new Map(manifestImages(book).map(image => [image.entry, image]))
  const ordered = new Set<EpubImage>()
  for (const resource of book.spine.slice(0, mostDocuments)) {
    const shown = encrypted.has(resource.entry) ? [] : await imagesIn(archive, resource.entry)
    for (const entry of [resource.entry, ...shown]) {
      const image = images.get(entry)
      if (image !== undefined) ordered.add(image)
    }
  }
  for (const image of images.values()) ordered.add(image)
  const measured: EpubImage[] = []
  for (const { page, entry } of ordered) {
    const size = encrypted.has(entry) ? null : await measure(archive, entry)
    measured.push({ page: { ...page, ...size }, entry })
  }
  return measured
}

async function measure({ container }: EpubArchive, entry: Entry) {
  let unreadable = false
  const size = await measureImage(async bytes => {
    const head = await readable(container.head(entry, bytes))
    unreadable ||= head === null
    return head ?? new Uint8Array()
  })
  return unreadable ? null : size
}

/** Entries of the images an XHTML or SVG document refers to, in document order; none for other files. */
export async function imagesIn(archive: EpubArchive, entry: Entry): Promise<Entry[]> {
  const bytes = await readable(archive.container.head(entry, documentBytes))
  if (bytes === null || !/^(?:image\/svg\+xml|null)$/.test(`${sniffImage(bytes)}`)) return []
  const { root } = parseXml(bytes.subarray(0, documentBytes))
  const found: Entry[] = []
  for (const { name, attributes } of root === null ? [] : descendantsOf(root)) {
    const href = name === 'img' ? attributes.get('src') : name === 'image' && attributes.get('href')
    const target = href ? archive.resolve(entry.name, href) : null
    if (target !== null) found.push(target)
  }
  return found
}
