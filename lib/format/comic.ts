// A comic: the images of a container in natural order, measured from their headers.
import { Unreadable } from '../errors.ts'
import { measureImage, sniffImage } from '../image.ts'
import { naturalCompare } from '../name/natural.ts'
import { comicMetadata } from './comic-metadata.ts'
import type { Container, Entry } from './container.ts'
import type { FormatName, Limits, Opened, Page } from './contract.ts'
import { pageType } from './page-name.ts'

const COVER_TRIES = 5

type Measured = { pages: { entry: Entry; page: Page }[]; warnings: string[] }

/** Makes a book of an archive and owns the container. Throws Unreadable: `no_pages`, or why no page can be read. */
export async function openComic(
  format: FormatName,
  container: Container,
  limits: Limits,
): Promise<Opened> {
  try {
    const { pages, warnings } = await measure(container, limits)
    pages.sort((a, b) => naturalCompare(a.page.name, b.page.name) || a.entry.index - b.entry.index)
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
