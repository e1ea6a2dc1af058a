// Comic reader: the images of an archive in natural order, measured from their headers.
import { Unreadable } from '../../../base/errors.ts'
import type { ArchiveFormat, Container, Entry } from '../../archive/container.ts'
import { headerChecks } from '../../archive/header-checks.ts'
import type { Limits } from '../../archive/limits.ts'
import { measuredHeadBytes, measureImage, sniffImage } from '../../image/image.ts'
import { sortByFileName } from '../../name/natural.ts'
import type { FormatReader, OpenedBook, Page } from '../contract.ts'
import { isBookName, pageMediaType } from './page-name.ts'

const MAX_COVER_ATTEMPTS = 5

/** The reader for comics in one archive format. */
export function comicReader(
  matches: FormatReader['matches'],
  archive: ArchiveFormat,
): FormatReader {
  return {
    archive,
    matches,
    open: async (file, limits) => openComic(archive, await archive.open(file, limits), limits),
    async *covers(file, limits) {
      const container = await archive.open(file, limits)
      try {
        yield* readCovers(archive, container, limits)
      } finally {
        await container[Symbol.asyncDispose]()
      }
    },
  }
}

// Imported on first use, because threads that only read pages start without its parsers; and only once,
// because `import` costs as much as reading a small comic.
let metadata: Promise<typeof import('./metadata.ts')> | null = null
function loadMetadata() {
  metadata ??= import('./metadata.ts')
  return metadata
}

type MeasuredPages = { pages: { entry: Entry; page: Page }[]; warnings: string[] }

/**
 * Opens a comic and takes ownership of the container. Throws Unreadable: `no_pages`, or why no page is
 * readable.
 */
export async function openComic(
  archive: ArchiveFormat,
  container: Container,
  limits: Limits,
): Promise<OpenedBook> {
  try {
    const { pages, warnings } = await measurePages(archive, container, limits)
    const page = async (index: number) => {
      const requested = pages[index]
      if (requested === undefined) throw new RangeError(`Page ${index} does not exist`)
      const bytes = await container.read(requested.entry, limits.entryBytes)
      return { bytes, mediaType: sniffImage(bytes) ?? requested.page.mediaType }
    }
    return {
      pages: pages.map(({ page }) => page),
      imageCount: pages.length,
      pageCount: pages.length,
      checks: headerChecks(archive, container),
      warnings: [...container.warnings, ...warnings],
      page,
      async *covers() {
        const { frontCoverOf } = await loadMetadata()
        const order = coverOrder(pages.length, await frontCoverOf(container, limits))
        yield* readable(order, async index => (await page(index)).bytes)
      },
      metadata: async () => (await loadMetadata()).comicMetadata(container, limits),
      [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
    }
  } catch (error) {
    await container[Symbol.asyncDispose]()
    throw error
  }
}

/** Candidate cover pages, best first. */
function coverOrder(count: number, front: number | null): number[] {
  const first = Array.from({ length: Math.min(count, MAX_COVER_ATTEMPTS) }, (_, index) => index)
  const isMarked = front !== null && front < count
  return isMarked ? [front, ...first.filter(index => index !== front)] : first
}

/**
 * The readable pages. Does not measure all pages, which costs a read each, unless a later page is marked as
 * the cover.
 */
async function* readCovers(
  archive: ArchiveFormat,
  container: Container,
  limits: Limits,
): AsyncGenerator<Uint8Array> {
  const { frontCoverOf } = await loadMetadata()
  const front = await frontCoverOf(container, limits)
  if (front !== null && front > 0) return yield* readMeasured(archive, container, { limits, front })
  const images = container.entries.filter(
    ({ name, sizeBytes: bytes }) =>
      pageMediaType(name) !== null && bytes > 0 && bytes <= limits.entryBytes,
  )
  const candidates = inReadingOrder(images, entry => entry)
  const covers = readable(coverOrder(candidates.length, null), async index => {
    const bytes = await container.read(candidates[index]!, limits.entryBytes)
    // Skips files that are not images, as `measurePages` does.
    if ((await measureImage(async () => bytes)) !== null) return bytes
    throw new Unreadable('The file is not an image', 'unsupported_image')
  })
  let isEmpty = true
  for await (const bytes of covers) {
    isEmpty = false
    yield bytes
  }
  if (!isEmpty) return
  // None of the first files is readable: fall back to the measured pages, which also throws the reason.
  yield* readMeasured(archive, container, { limits, front })
}

async function* readMeasured(
  archive: ArchiveFormat,
  container: Container,
  { limits, front }: { limits: Limits; front: number | null },
): AsyncGenerator<Uint8Array> {
  const { pages } = await measurePages(archive, container, limits)
  yield* readable(coverOrder(pages.length, front), index =>
    container.read(pages[index]!.entry, limits.entryBytes),
  )
}

// In container order, so that a solid archive is decompressed once, front to back.
async function measurePages(
  archive: ArchiveFormat,
  container: Container,
  limits: Limits,
): Promise<MeasuredPages> {
  const pages: MeasuredPages['pages'] = []
  const counts = { empty: 0, foreign: 0, large: 0, damaged: 0 }
  let failure: Unreadable | null = null
  const images = container.entries.filter(({ name }) => pageMediaType(name) !== null)
  await container.preloadHeads?.(images, measuredHeadBytes)
  for (const entry of container.entries) {
    const mediaType = pageMediaType(entry.name)
    if (mediaType === null) continue
    if (entry.sizeBytes === 0) {
      counts.empty += 1
      continue
    }
    if (entry.sizeBytes > limits.entryBytes) {
      counts.large += 1
      failure ??= new Unreadable('The pages are too large', 'too_large')
      continue
    }
    const page = { name: entry.name, bytes: entry.sizeBytes, width: null, height: null }
    try {
      const measured = await measureImage(bytes => container.head(entry, bytes))
      const location = archive.locate(entry)
      if (measured === null) counts.foreign += 1
      else pages.push({ entry, page: { ...page, ...measured, location } })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      failure ??= error
      counts.damaged += 1
      pages.push({ entry, page: { ...page, mediaType, location: null } })
    }
  }
  if (failure !== null && counts.damaged === pages.length) throw failure
  const nested = container.entries.filter(({ name }) => isBookName(name)).length
  if (pages.length === 0) throw container.damage ?? withoutPages(nested)
  const warnings = warningsOf(counts)
  if (nested > 0) warnings.push(`Archives and books inside the archive were skipped: ${nested}`)
  return { pages: inReadingOrder(pages, page => page.entry), warnings }
}

/** By names without extensions, so that `001.jpg` precedes `001.5.jpg`; equal names in archive order. */
const inReadingOrder = <T>(items: readonly T[], entryOf: (item: T) => Entry): T[] =>
  sortByFileName(
    items.toSorted((a, b) => entryOf(a).index - entryOf(b).index),
    item => entryOf(item).name,
  )

function withoutPages(nested: number): Unreadable {
  const message =
    nested > 0
      ? 'The archive contains archives or books, but no images'
      : 'The archive contains no images'
  return new Unreadable(message, 'no_pages')
}

function warningsOf(counts: { empty: number; foreign: number; large: number; damaged: number }) {
  const warnings: string[] = []
  if (counts.empty > 0) warnings.push(`Empty images were skipped: ${counts.empty}`)
  if (counts.foreign > 0) warnings.push(`Files that are not images were skipped: ${counts.foreign}`)
  if (counts.large > 0) warnings.push(`Images that are too large were skipped: ${counts.large}`)
  if (counts.damaged > 0) warnings.push(`Pages that cannot be read: ${counts.damaged}`)
  return warnings
}

/** The pages for which `read` does not throw Unreadable. */
async function* readable(
  order: readonly number[],
  read: (index: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const index of order) {
    try {
      yield await read(index)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
    }
  }
}
