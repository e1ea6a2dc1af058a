// Entry of a page thread: opens books, takes pages out, makes images of them. No database and no
// configuration here: values come in, values go out.
import { readFileSync, statSync } from 'node:fs'
import { isMarkedAsUntransferable } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Container, Entry } from '../archive/container.ts'
import type { Order } from '../async/thread-pool.ts'
import { checkInside } from '../download/path-containment.ts'
import { Unreadable } from '../errors.ts'
import { type File, openFile } from '../file.ts'
import type { Page } from '../format/contract.ts'
import { readContents } from '../format/epub/contents.ts'
import { readMember } from '../format/epub/resource.ts'
import { openBook, readCover } from '../format/formats.ts'
import { makeCover, resizeImage } from '../image/cover.ts'
import { measureImage, sniffImage } from '../image/image.ts'
import { type Keep, keepPage, keptPath } from './cache-write.ts'
import { openContainer } from './containers.ts'
import { type Directory, entriesOf, isSolid, makeDirectory } from './directory.ts'
import type {
  Answer,
  ConvertOrder,
  Cover,
  CoverOrder,
  Epub,
  FrontOrder,
  Image,
  Member,
  MemberOrder,
  PageOrder,
  Place,
  RunOrder,
} from './messages.ts'
import { type StoredPage, unpackPages } from './page-list.ts'

export const directory = task(async (place: Place): Promise<Answer<Directory>> => {
  return inBook(place, async file => {
    await checkInside(Buffer.from(place.root, 'latin1'), file.path)
    const pages = place.packed ? unpackPages(place.packed) : await listPages(place, file)
    await using container = await openContainer(place.format, file, place.limits)
    const entries = container?.entries ?? []
    return makeDirectory(pages, entriesOf(pages, entries), isSolid(entries))
  })
})

export const page = task(async ({ place, index, variant, keep, source }: PageOrder) => {
  return inBook(place, async file => {
    const original = readKept(source) ?? (await readPage(place, file, index))
    if (original === null) return null
    return finished(variant ? await resizeImage(original.bytes, variant) : original, keep)
  })
})

export const front = task(async ({ place, variant, keep }: FrontOrder) => {
  return inBook(place, async file => {
    await checkInside(Buffer.from(place.root, 'latin1'), file.path)
    const image = await readCover(file, place.extension, place.limits)
    return image && finished(await resizeImage(image, variant), keep)
  })
})

/** The pages of a solid archive are unpacked in its own order, each of them once. */
export const run = task(async ({ place, index, keeps }: RunOrder, tick) => {
  return inBook(place, async file => {
    await using container = await openContainer(place.format, file, place.limits)
    const wanted = container && place.packed ? findRun(place.packed, container, index) : []
    if (container === null || wanted[0] === undefined) {
      const original = await readPage(place, file, index)
      return original && finished(original, keeps[0] ?? null)
    }
    return readRun(container, wanted.slice(0, keeps.length), { place, keeps, tick })
  })
})

export const convert = task(
  async ({ bytes, variant, keep }: ConvertOrder): Promise<Answer<Image>> => {
    try {
      return { value: finished(await resizeImage(bytes, variant), keep) }
    } catch (error) {
      return failed(error)
    }
  },
)

export const cover = task(async ({ bytes, ...options }: CoverOrder): Promise<Answer<Cover>> => {
  try {
    const made = await makeCover(bytes, options)
    const { mediaType, width, height } = (await measureImage(async () => bytes))!
    return { value: { bytes: made.bytes, mediaType, width, height } }
  } catch (error) {
    return failed(error)
  }
})

export const epub = task(async (place: Place): Promise<Answer<Epub>> => {
  return inBook(place, async file => {
    await checkInside(Buffer.from(place.root, 'latin1'), file.path)
    const { contents, entries } = await readContents(file, place.limits)
    const { resources } = contents
    const pages = resources.map(({ name, bytes }, i) => ({
      ...unmeasured,
      name,
      bytes: entries[i]?.bytes ?? bytes,
    }))
    return { contents, directory: makeDirectory(pages, entries, false) }
  })
})

const unmeasured = { mediaType: '', width: null, height: null, isDouble: false, type: null }

export const member = task(async ({ place, name }: MemberOrder): Promise<Answer<Member>> => {
  return inBook(place, async file => {
    const bytes = await readMember(file, place.limits, name)
    return bytes && { bytes }
  })
})

type Original = { bytes: Uint8Array; mediaType: string }

/** `tick` is a sign of life: what takes long and goes on is not stalled. */
function task<I, O>(work: (item: I, tick: () => void) => Promise<Answer<O>>) {
  return async ({ items, pulse }: Order<I, null>) => {
    const tick = () => {
      Atomics.add(pulse, 1, 1)
    }
    tick()
    return moved([await work(items[0]!, tick)])
  }
}

/** Opens the file, if it is still the one that was meant. Null from `work`: there is no such page. */
async function inBook<T>(
  place: Place,
  work: (file: File) => Promise<T | null>,
): Promise<Answer<T>> {
  const path = Buffer.from(place.path, 'latin1')
  try {
    const { size, mtimeMs } = statSync(path)
    const modifiedMs = Math.round(mtimeMs)
    if (size !== place.size || modifiedMs !== place.modifiedMs)
      return { changed: { size, modifiedMs } }
    using file = openFile(path)
    const value = await work(file)
    return value === null ? { absent: true } : { value }
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Answer<never> {
  const code = (error as NodeJS.ErrnoException).code
  if (error instanceof Unreadable) {
    const cause = (error.cause as NodeJS.ErrnoException | undefined)?.code
    return { error: { code: error.code, message: error.message }, gone: isGone(cause) }
  }
  if (!(error instanceof Error) || !('syscall' in error)) throw error
  const message = `The file cannot be read (${code})`
  return { error: { code: 'io', message }, gone: isGone(code) }
}

const isGone = (code: string | undefined) => code === 'ENOENT' || code === 'ENOTDIR'

function readKept(source: Keep | null): Original | null {
  try {
    const bytes = source && readFileSync(keptPath(source))
    const mediaType = bytes && sniffImage(bytes)
    return bytes && mediaType ? { bytes, mediaType } : null
  } catch {
    return null
  }
}

async function listPages({ extension, limits }: Place, file: File): Promise<StoredPage[]> {
  await using book = await openBook(file, extension, limits)
  return book.pages.map((page: Page) => ({ ...page, isDouble: false, type: null }))
}

async function readPage(place: Place, file: File, index: number): Promise<Original | null> {
  const { format, packed, limits, extension } = place
  await using container = packed && (await openContainer(format, file, limits))
  const entry = packed && container ? findRun(packed, container, index)[0] : undefined
  // What an EPUB protects is no image; the book itself says so.
  if (entry && container) {
    const bytes = await container.read(entry.entry, limits.entryBytes)
    const mediaType = sniffImage(bytes) ?? (format === 'epub' ? null : entry.page.mediaType)
    if (mediaType !== null) return { bytes, mediaType }
  }
  await using book = await openBook(file, extension, limits)
  // A PDF lists its pages at a cost, and says by itself which it has not.
  const count = format === 'pdf' ? book.pageCount : book.pages.length
  return index < count ? await book.page(index) : null
}

type Found = { page: StoredPage; entry: Entry }

/** The pages from `index` on that have an entry, up to the first that has none. */
function findRun(packed: Uint8Array, container: Container, index: number): Found[] {
  const pages = unpackPages(packed)
  const entries = entriesOf(pages, container.entries)
  const found: Found[] = []
  for (let i = index; i < pages.length && entries[i]; i++)
    found.push({ page: pages[i]!, entry: entries[i]! })
  return found
}

async function readRun(
  container: Container,
  wanted: Found[],
  { place, keeps, tick }: { place: Place; keeps: Keep[]; tick: () => void },
): Promise<Image> {
  const [first] = wanted
  let image: Image | null = null
  const kept: Image['kept'] = []
  const inOrder = wanted
    .map((found, i) => ({ found, keep: keeps[i]! }))
    .sort((a, b) => a.found.entry.index - b.found.entry.index)
  for (const { found, keep } of inOrder) {
    try {
      const bytes = await container.read(found.entry, place.limits.entryBytes)
      tick()
      const one = keepPage(keep, bytes)
      if (one) kept.push(one)
      const mediaType = sniffImage(bytes) ?? found.page.mediaType
      if (found === first) image = { bytes: one ? null : bytes, mediaType, kept }
    } catch (error) {
      if (!(error instanceof Unreadable) || found === first) throw error
    }
  }
  return image!
}

function finished({ bytes, mediaType }: Original, keep: Keep | null): Image {
  const kept = keep && keepPage(keep, bytes)
  return kept ? { bytes: null, mediaType, kept: [kept] } : { bytes, mediaType, kept: [] }
}

/** Hands the bytes over instead of copying them, where they are alone in their memory. */
function moved<T>(answers: Answer<T>[]): Answer<T>[] {
  const transfer: ArrayBuffer[] = []
  for (const answer of answers) {
    if (!('value' in answer)) continue
    for (const part of Object.values(answer.value as object)) {
      if (!(part instanceof Uint8Array || part instanceof Float64Array)) continue
      const { buffer } = part
      const isAlone = buffer instanceof ArrayBuffer && part.byteLength === buffer.byteLength
      if (isAlone && !isMarkedAsUntransferable(buffer)) transfer.push(buffer as ArrayBuffer)
    }
  }
  if (transfer.length === 0) return answers
  return Piscina.move({
    [Piscina.transferableSymbol]: transfer,
    [Piscina.valueSymbol]: answers,
  } as never) as never
}
