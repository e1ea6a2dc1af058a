// EPUB reader (2, 3, and OEB 1.2 in a ZIP).
//
//   epub     = ZIP( mimetype  META-INF/container.xml  [META-INF/encryption.xml]  package  { resource } )
//   mimetype = "application/epub+zip", stored, the first entry; not every program complies
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { headerChecks } from '../../archive/header-checks.ts'
import type { Limits } from '../../archive/limits.ts'
import { openZip, zipArchive } from '../../archive/zip/zip.ts'
import { sniffImage } from '../../image/image.ts'
import type { Metadata } from '../../metadata/metadata.ts'
import type { FormatReader, OpenedBook } from '../contract.ts'
import { createEpubArchive, type EpubArchive } from './archive.ts'
import { readEncryption } from './encryption.ts'
import { type EpubImage, manifestImages, readCovers, spineImages } from './images.ts'
import { type EpubPackage, readPackage } from './package.ts'
import { positionCounts, sum } from './positions.ts'

/** An item of the reading order. `href` is its entry name, `bytes` its uncompressed size. */
export type ReadingItem = { href: string; mediaType: string; bytes: number }

export type OpenedEpub = OpenedBook & {
  readingOrder: readonly ReadingItem[]
  layout: NonNullable<Metadata['layout']>
}

export const epubReader = {
  archive: zipArchive,
  matches(head, extension) {
    if (head[0] !== 0x50 || head[1] !== 0x4b) return false
    if (extension === 'epub') return true
    return !['cbz', 'zip'].includes(extension) && startsWithMimetype(head)
  },
  async open(file: File, limits: Limits): Promise<OpenedEpub> {
    const container = await openZip(file, limits)
    try {
      return await openPackage(createEpubArchive(container, limits))
    } catch (cause) {
      await container[Symbol.asyncDispose]()
      throw cause
    }
  },
} satisfies FormatReader

async function openPackage(archive: EpubArchive): Promise<OpenedEpub> {
  const { container } = archive
  const book = await readPackage(archive)
  const { encrypted, warnings } = await readEncryption(archive)
  const layout = book.metadata.layout ?? 'reflowable'
  const isFixed = layout === 'pre-paginated'
  const images = isFixed ? await spineImages(archive, book, encrypted) : manifestImages(book)
  const readingOrder = readingOrderOf(book, archive.limits)
  return {
    pages: images.map(({ page }) => page),
    imageCount: images.length,
    pageCount: sum(positionCounts(readingOrder, isFixed)),
    readingOrder,
    layout,
    checks: headerChecks(zipArchive, container),
    warnings: [...container.warnings, ...book.warnings, ...warnings],
    page: async index => {
      const image = images[index]
      if (image === undefined) throw new Unreadable('The page does not exist', 'no_pages')
      if (encrypted.has(image.entry)) throw new Unreadable('The book is DRM-protected', 'encrypted')
      return readImage(archive, image)
    },
    covers: () => readCovers(archive, book, encrypted),
    metadata: async () => [
      { source: 'epub', metadata: book.metadata, warnings: book.metadataWarnings },
    ],
    [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
  }
}

function readingOrderOf({ readingOrder }: EpubPackage, limits: Limits): ReadingItem[] {
  return readingOrder.map(({ entry, mediaType }) => ({
    href: entry.name,
    mediaType,
    bytes: Math.min(entry.sizeBytes, limits.entryBytes),
  }))
}

async function readImage({ container, limits }: EpubArchive, { entry }: EpubImage) {
  const bytes = await container.read(entry, limits.entryBytes)
  const mediaType = sniffImage(bytes)
  if (mediaType === null) throw new Unreadable('The file is not an image', 'unsupported_image')
  return { bytes, mediaType }
}

/** The local header of the first entry: method at 8, name length at 26, extra length at 28, name at 30. */
function startsWithMimetype(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (bytes.length < 64 || bytes.readUInt16LE(8) !== 0 || bytes.readUInt16LE(26) !== 8) return false
  const start = 38 + bytes.readUInt16LE(28)
  return (
    bytes.toString('latin1', 30, 38) === 'mimetype' &&
    bytes.toString('latin1', start, start + 20) === 'application/epub+zip'
  )
}
