// Page thread: reads pages and covers from books and renders them. It has neither database nor configuration;
// messages contain all it needs.
import { readFileSync } from 'node:fs'
import { scoped } from '../base/async/dispose.ts'
import { Unreadable } from '../base/errors.ts'
import type { File } from '../base/file.ts'
import type { ArchiveFormat, Container, Entry, EntryLocation } from '../media/archive/container.ts'
import type { Page } from '../media/format/contract.ts'
import { formatNamed, isReflowable, openBook, readCover } from '../media/format/formats.ts'
import { imageEnd } from '../media/image/complete.ts'
import { measureImage, sniffImage } from '../media/image/image.ts'
import { isAnimated } from '../media/image/raster-headers.ts'
import { type CacheTarget, cachePath, writeCacheFile } from './cache-write.ts'
import { createDirectory, entriesOf } from './directory.ts'
import type { BookRef, RenderedImage } from './messages.ts'
import { type StoredPage, unpackPages } from './page-list.ts'
import { type Original, store, task, toError, withFile } from './worker-task.ts'

export * from './text-worker.ts'

// Decoders and parsers are imported by the tasks that use them, which halves the startup of a new thread for
// the first page of a book after a pause.
const resizeImage: typeof import('../media/image/cover.ts').resizeImage = async (...image) =>
  (await import('../media/image/cover.ts')).resizeImage(...image)

export const directory = task<'directory'>(async book => {
  return withFile(book, async (file, use) => {
    const pages = book.packedPages ? unpackPages(book.packedPages) : await listPages(book, file)
    const { archive } = await formatNamed(book.format).load()
    const container = use(await archive?.open(file, book.limits))
    const entries = entriesOf(pages, container?.entries ?? [], entry => locate(archive, entry))
    const located = pages.map((page, i) => ({ ...page, location: locate(archive, entries[i]) }))
    return createDirectory(located, { isCataloged: false, changedMs: file.changedMs })
  })
})

export const page = task<'page'>(async (request, { decode }) => {
  const { book, index, variant, target, cachedOriginal } = request
  return withFile(book, async file => {
    const original = readCachedImage(cachedOriginal) ?? (await readPage(book, file, index))
    if (original === null) return null
    const { bytes } = original
    const isOriginal = variant === null || (variant.keepsAnimation && isAnimated(bytes))
    const image = isOriginal ? original : await decode(bytes, () => resizeImage(bytes, variant))
    return store(image, target)
  })
})

export const verify = task<'verify'>(async ({ book, index, cachedOriginal }, { decode }) => {
  return withFile(book, async file => {
    const original = readCachedImage(cachedOriginal) ?? (await readPage(book, file, index))
    if (original === null) return null
    const { verifyImage } = await import('../media/image/verify.ts')
    const verdict = await decode(original.bytes, () => verifyImage(original.bytes))
    return { verdict, sizeBytes: original.bytes.length }
  })
})

export const bookCover = task<'bookCover'>(async ({ book, variant, target }, { decode }) => {
  return withFile(book, async file => {
    const resize = (bytes: Uint8Array) => decode(bytes, () => resizeImage(bytes, variant))
    const image = await readCover(file, book.extension, resize, book.limits)
    return image && store(image, target)
  })
})

/** Unpacks the pages of a solid archive in archive order, so that nothing is decompressed twice. */
export const unpackRun = task<'unpackRun'>(async ({ book, index, targets }, { tick }) => {
  return withFile(book, async (file, use) => {
    const container = use(await openArchive(book, file))
    const run = container ? await findRun(book, container, index) : []
    if (container === null || run[0] === undefined) {
      const original = await readPage(book, file, index)
      return original && store(original, targets[0] ?? null)
    }
    return readRun(container, run.slice(0, targets.length), { book, targets, tick })
  })
})

export const convert = task<'convert'>(async ({ bytes, variant, target }, { decode }) => {
  try {
    return { value: store(await decode(bytes, () => resizeImage(bytes, variant)), target) }
  } catch (error) {
    return toError(error)
  }
})

export const cover = task<'cover'>(async ({ bytes, ...options }, { decode }) => {
  try {
    const { createCover } = await import('../media/image/cover.ts')
    const made = await decode(bytes, () => createCover(bytes, options))
    const { mediaType, width, height } = (await measureImage(async () => bytes))!
    const originalBytes = imageEnd(bytes, mediaType)
    return { value: { bytes: made.bytes, mediaType, width, height, originalBytes } }
  } catch (error) {
    return toError(error)
  }
})

export const mosaic = task<'mosaic'>(async ({ images, ...options }) => {
  try {
    const { createMosaic } = await import('../media/image/cover.ts')
    return { value: { bytes: await createMosaic(images, options) } }
  } catch (error) {
    return toError(error)
  }
})

export const epub = task<'epub'>(async book => {
  return withFile(book, async file => {
    const { readContents } = await import('../media/format/epub/contents.ts')
    const { contents, entries } = await readContents(file, book.limits)
    const { zipArchive } = await import('../media/archive/zip/zip.ts')
    const resources = contents.resources.map(({ bytes }, i) => ({
      ...unmeasured,
      bytes: entries[i]?.sizeBytes ?? bytes,
      location: locate(zipArchive, entries[i]),
    }))
    const version = { isCataloged: false, changedMs: file.changedMs }
    return { contents, directory: createDirectory(resources, version) }
  })
})

const unmeasured = { mediaType: '', width: null, height: null }

const locate = (archive: ArchiveFormat | null, entry: Entry | undefined): EntryLocation =>
  (entry && archive?.locate(entry)) ?? null

export const resource = task<'resource'>(async ({ book, name }) => {
  return withFile(book, async file => {
    const { readResource } = await import('../media/format/epub/resource.ts')
    const bytes = await readResource(file, book.limits, name)
    return bytes && { bytes }
  })
})

function readCachedImage(source: CacheTarget | null): Original | null {
  try {
    const bytes = source && readFileSync(cachePath(source))
    const mediaType = bytes && sniffImage(bytes)
    return bytes && mediaType ? { bytes, mediaType } : null
  } catch {
    return null
  }
}

function listPages({ extension, limits }: BookRef, file: File): Promise<StoredPage[]> {
  return scoped(async use => {
    const opened = use(await openBook(file, extension, limits))
    return opened.pages.map((page: Page) => ({ ...page, isDouble: false, type: null }))
  })
}

function readPage(book: BookRef, file: File, index: number): Promise<Original | null> {
  const { format, packedPages, limits, extension } = book
  return scoped(async use => {
    const container = packedPages ? use(await openArchive(book, file)) : null
    const item = container ? (await findRun(book, container, index))[0] : undefined
    // An encrypted EPUB resource is not an image; opening the book reports this.
    if (item && container) {
      const bytes = await container.read(item.entry, limits.entryBytes)
      const mediaType = sniffImage(bytes) ?? (isReflowable(format) ? null : item.page.mediaType)
      if (mediaType !== null) return { bytes, mediaType }
    }
    const opened = use(await openBook(file, extension, limits))
    return index < opened.imageCount ? await opened.page(index) : null
  })
}

/** The archive of a book; null for a format without entries. Throws Unreadable. */
async function openArchive({ format, limits }: BookRef, file: File): Promise<Container | null> {
  const { archive } = await formatNamed(format).load()
  return (await archive?.open(file, limits)) ?? null
}

type RunItem = { page: StoredPage; entry: Entry }

/** The pages from `index` that have an entry, up to the first one without. */
async function findRun(
  { format, packedPages }: BookRef,
  container: Container,
  index: number,
): Promise<RunItem[]> {
  const pages = packedPages ? unpackPages(packedPages) : []
  const { archive } = await formatNamed(format).load()
  const entries = entriesOf(pages, container.entries, entry => locate(archive, entry))
  const run: RunItem[] = []
  for (let i = index; i < pages.length && entries[i]; i++)
    run.push({ page: pages[i]!, entry: entries[i]! })
  return run
}

async function readRun(
  container: Container,
  run: RunItem[],
  { book, targets, tick }: { book: BookRef; targets: CacheTarget[]; tick: () => void },
): Promise<RenderedImage> {
  const requested = run[0]
  let image: RenderedImage | null = null
  const written: RenderedImage['written'] = []
  const inArchiveOrder = run
    .map((item, i) => ({ item, target: targets[i]! }))
    .sort((a, b) => a.item.entry.index - b.item.entry.index)
  for (const { item, target } of inArchiveOrder) {
    try {
      const bytes = await container.read(item.entry, book.limits.entryBytes)
      tick()
      const entry = writeCacheFile(target, bytes)
      if (entry) written.push(entry)
      const mediaType = sniffImage(bytes) ?? item.page.mediaType
      if (item === requested) image = { bytes: entry ? null : bytes, mediaType, written }
    } catch (error) {
      if (!(error instanceof Unreadable) || item === requested) throw error
    }
  }
  return image!
}
