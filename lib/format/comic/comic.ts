// A comic: the images of a container in natural order, measured from their headers.

import type { Container, Entry } from '../../archive/container.ts'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import { measureImage, sniffImage } from '../../image/image.ts'
import { naturalCompare } from '../../name/natural.ts'
import type { Format, FormatName, Limits, Opened, Page } from '../contract.ts'
import { comicMetadata } from './metadata.ts'
import { pageType } from './page-name.ts'

const COVER_TRIES = 5

/** The format of comics in one kind of container. */
export function comicFormat(
  name: FormatName,
  matches: Format['matches'],
  open: (file: File, limits: Limits) => Promise<Container>,
): Format {
  return {
    name,
    matches,
    open: async (file, limits) => openComic(name, await open(file, limits), limits),
    async cover(file, limits) {
      await using container = await open(file, limits)
      return coverOf(container, limits)
    },
  }
}

type Measured = { pages: { entry: Entry; page: Page }[]; warnings: string[] }

/** Makes a book of an archive and owns the container. Throws Unreadable: `no_pages`, or why no page can be read. */
export async function openComic(
  format: FormatName,
  container: Container,
  limits: Limits,
): Promise<Opened> {
  try {
    const { pages, warnings } = await measure(container, limits)
    const page = async (index: number) => {
      const wanted = pages[index]
      if (wanted === undefined) throw new RangeError(`There is no page ${index}`)
      const bytes = await container.read(wanted.entry, limits.entryBytes)
      return { bytes, mediaType: sniffImage(bytes) ?? wanted.page.mediaType }
    }
    return {
      format,
      pages: pages.map(({ page }) => page),
      pageCount: pages.length,
      warnings: [...container.warnings, ...warnings],
      page,
      cover: () => firstReadable(pages.length, page),
      metadata: () => comicMetadata(container, limits),
      [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
    }
  } catch (error) {
    await container[Symbol.asyncDispose]()
    throw error
  }
}

/** The first page alone: measuring all of them would take a read each. */
async function coverOf(container: Container, limits: Limits): Promise<Uint8Array | null> {
  const likely = container.entries
    .filter(({ name, bytes }) => pageType(name) !== null && bytes > 0 && bytes <= limits.entryBytes)
    .sort((a, b) => naturalCompare(a.name, b.name) || a.index - b.index)
  const first = await firstReadable(likely.length, async index => {
    const bytes = await container.read(likely[index]!, limits.entryBytes)
    // As in `measure`: what is no image is no page.
    if ((await measureImage(async () => bytes)) !== null) return { bytes }
    throw new Unreadable('The file is no image', 'unsupported_image')
  })
  if (first !== null) return first
  // Whatever the first files are: the pages decide, and say why there is none.
  const { pages } = await measure(container, limits)
  const read = async (index: number) => ({
    bytes: await container.read(pages[index]!.entry, limits.entryBytes),
  })
  return firstReadable(pages.length, read)
}

// In the order of the container, so that a solid archive is unpacked once from front to back.
async function measure(container: Container, limits: Limits): Promise<Measured> {
  const pages: Measured['pages'] = []
  const left = { empty: 0, foreign: 0, large: 0, damaged: 0 }
  let failure: Unreadable | null = null
  for (const entry of container.entries) {
    const mediaType = pageType(entry.name)
    if (mediaType === null) continue
    if (entry.bytes === 0) {
      left.empty += 1
      continue
    }
    if (entry.bytes > limits.entryBytes) {
      left.large += 1
      failure ??= new Unreadable('The pages are too large', 'too_large')
      continue
    }
    const page = { name: entry.name, bytes: entry.bytes, width: null, height: null }
    try {
      const measured = await measureImage(bytes => container.head(entry, bytes))
      if (measured === null) left.foreign += 1
      else pages.push({ entry, page: { ...page, ...measured } })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      failure ??= error
      left.damaged += 1
      pages.push({ entry, page: { ...page, mediaType } })
    }
  }
  if (failure !== null && left.damaged === pages.length) throw failure
  if (pages.length === 0) throw new Unreadable('The archive holds no images', 'no_pages')
  pages.sort((a, b) => naturalCompare(a.page.name, b.page.name) || a.entry.index - b.entry.index)
  return { pages, warnings: warningsOf(left) }
}

function warningsOf(left: { empty: number; foreign: number; large: number; damaged: number }) {
  const warnings: string[] = []
  if (left.empty > 0) warnings.push(`Images without content were left out: ${left.empty}`)
  if (left.foreign > 0) warnings.push(`Files that are no images were left out: ${left.foreign}`)
  if (left.large > 0) warnings.push(`Images that are too large were left out: ${left.large}`)
  if (left.damaged > 0) warnings.push(`Pages that cannot be read: ${left.damaged}`)
  return warnings
}

async function firstReadable(
  count: number,
  page: (index: number) => Promise<{ bytes: Uint8Array }>,
): Promise<Uint8Array | null> {
  for (let index = 0; index < Math.min(count, COVER_TRIES); index += 1) {
    try {
      return (await page(index)).bytes
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
    }
  }
  return null
}
