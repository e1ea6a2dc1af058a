// Registry of book formats: their properties and lazily loaded readers, detection by content, opening, file extensions.
import { scoped } from '../../base/async/dispose.ts'
import { Unreadable } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'
import { endsOf } from '../../base/file-ranges.ts'
import { defaultLimits, type Limits } from '../archive/limits.ts'
import type { Format, FormatReader, OpenedBook } from './contract.ts'
import { foreignFile } from './foreign.ts'

type ComicFormat<Name extends string> = Pick<Format<Name>, 'name' | 'mediaType' | 'load'> & {
  opdsMediaType: string
  opdsMediaType1?: string
}

function comicFormat<const Name extends string>(format: ComicFormat<Name>): Format<Name> {
  const { name, mediaType, opdsMediaType, opdsMediaType1, load } = format
  const opds = { mediaType: opdsMediaType, mediaType1: opdsMediaType1, profile: 'divina' } as const
  const properties = { extensions: [name], isReflowable: false, isRendered: false }
  return { name, mediaType, opds, ...properties, load }
}

const cbz = comicFormat({
  name: 'cbz',
  mediaType: 'application/zip',
  opdsMediaType: 'application/vnd.comicbook+zip',
  // OPDS 1.2 apps recognize comics in ZIP by this type and the file name.
  opdsMediaType1: 'application/zip',
  async load() {
    const { comicReader } = await import('./comic/comic.ts')
    const { isZip, zipArchive } = await import('../archive/zip/zip.ts')
    return comicReader(isZip, zipArchive)
  },
})

const cbr = comicFormat({
  name: 'cbr',
  mediaType: 'application/x-rar-compressed',
  opdsMediaType: 'application/vnd.comicbook-rar',
  async load() {
    const { comicReader } = await import('./comic/comic.ts')
    const { isRar, rarArchive } = await import('../archive/rar/rar.ts')
    return comicReader(isRar, rarArchive)
  },
})

const cb7 = comicFormat({
  name: 'cb7',
  mediaType: 'application/x-7z-compressed',
  opdsMediaType: 'application/x-cb7',
  async load() {
    const { comicReader } = await import('./comic/comic.ts')
    const { isSevenZip, sevenZipArchive } = await import('../archive/sevenzip/sevenzip.ts')
    return comicReader(isSevenZip, sevenZipArchive)
  },
})

const cbt = comicFormat({
  name: 'cbt',
  mediaType: 'application/x-tar',
  opdsMediaType: 'application/vnd.comicbook+tar',
  async load() {
    const { comicReader } = await import('./comic/comic.ts')
    const { isTarHeader, tarArchive } = await import('../archive/tar.ts')
    return comicReader(isTarHeader, tarArchive)
  },
})

const epub: Format<'epub'> = {
  name: 'epub',
  extensions: ['epub'],
  mediaType: 'application/epub+zip',
  opds: { mediaType: 'application/epub+zip', profile: 'epub' },
  isReflowable: true,
  isRendered: false,
  load: async () => (await import('./epub/epub.ts')).epubReader,
}

const pdf: Format<'pdf'> = {
  name: 'pdf',
  extensions: ['pdf'],
  mediaType: 'application/pdf',
  opds: { mediaType: 'application/pdf', profile: 'pdf' },
  isReflowable: false,
  isRendered: true,
  load: async () => (await import('./pdf/pdf.ts')).pdfReader,
}

/** In the order in which signatures are tried. */
const formats = [epub, pdf, cbr, cb7, cbz, cbt] as const

export type FormatName = (typeof formats)[number]['name']
/** In the order shown to users. */
export const formatNames: readonly FormatName[] = [cbz, cbr, cb7, cbt, epub, pdf].map(
  format => format.name,
)
export const comicFormats: readonly FormatName[] = [cbz, cbr, cb7, cbt].map(format => format.name)
const byName = new Map(formats.map(format => [format.name, format]))

export const formatNamed = (name: FormatName): (typeof formats)[number] => byName.get(name)!

/** False for a book whose format is not known yet. */
export const isReflowable = (name: FormatName | null): boolean =>
  name !== null && formatNamed(name).isReflowable
/** Formats whose books may have a cover without page images. */
export const reflowableFormats: readonly FormatName[] = formatNames.filter(isReflowable)
export const isRendered = (name: FormatName | null): boolean =>
  name !== null && formatNamed(name).isRendered

/** File extensions of the formats, lowercase without the dot. */
export const extensionsOf = (names: readonly FormatName[]): string[] =>
  names.flatMap(name => formatNamed(name).extensions)

// Archives that are not books by name, but may be renamed books or contain books.
const archiveExtensions = ['zip', 'rar', '7z', 'tar']
const bookExtension = new RegExp(
  `\\.(?:${[...extensionsOf(formatNames), ...archiveExtensions].join('|')})$`,
  'i',
)

/**
 * File name without a book extension: `test.vol.1.cbz` → `test.vol.1`. Other names are returned unchanged.
 */
export function stemOf(fileName: string): string {
  return fileName.replace(bookExtension, '') || fileName
}

export type DetectedBook = OpenedBook & { format: FormatName }

/**
 * Opens a book by its content; `extension` (lowercase, no dot) only resolves ambiguities. Does not take
 * ownership of `file`. Throws Unreadable: `truncated` for an empty file, `not_an_archive` for an unknown
 * format, and the format's errors.
 */
export async function openBook(
  file: File,
  extension: string,
  limits: Limits = defaultLimits,
): Promise<DetectedBook> {
  return withFormat(file, extension, async ({ name, reader }) =>
    Object.assign(await reader.open(file, limits), { format: name }),
  )
}

const maxCoverAttempts = 5
// A hostile book makes every attempt take its maximum time.
const maxCoverMs = 5_000

/**
 * Decodes the cover of a book: the result of `decode` for the first candidate for which it does not throw
 * Unreadable. Null if the book has no images. Parameters and errors as for `openBook`, plus the error of the
 * best candidate.
 */
export async function readCover<T>(
  file: File,
  extension: string,
  decode: (bytes: Uint8Array) => Promise<T>,
  limits: Limits = defaultLimits,
): Promise<T | null> {
  return withFormat(file, extension, async ({ reader }) => {
    if (reader.covers) return firstDecoded(reader.covers(file, limits), decode)
    return scoped(async use => {
      const opened = use(await reader.open(file, limits))
      return await firstDecoded(opened.covers(), decode)
    })
  })
}

async function firstDecoded<T>(
  candidates: AsyncIterable<Uint8Array>,
  decode: (bytes: Uint8Array) => Promise<T>,
): Promise<T | null> {
  const end = performance.now() + maxCoverMs
  let failure: Unreadable | null = null
  let attempts = 0
  for await (const bytes of candidates) {
    try {
      return await decode(bytes)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      failure ??= error
    }
    if (++attempts >= maxCoverAttempts || performance.now() > end) break
  }
  if (failure) throw failure
  return null
}

type LoadedFormat = {
  name: FormatName
  extensions: readonly string[]
  reader: FormatReader
  isComic: boolean
}
let loading: Promise<LoadedFormat[]> | null = null

function loadFormats(): Promise<LoadedFormat[]> {
  loading ??= Promise.all(
    formats.map(async ({ name, extensions, opds, load }) => ({
      ...{ name, extensions },
      reader: await load(),
      isComic: opds.profile === 'divina',
    })),
  )
  return loading
}

const HEAD_BYTES = 4096

/**
 * Calls `read` with the format that the signature shows; if it shows none, with each format that the
 * extension allows.
 */
export async function withFormat<T>(
  file: File,
  extension: string,
  read: (format: LoadedFormat) => Promise<T>,
): Promise<T> {
  if (file.size === 0) throw new Unreadable('The file is empty', 'truncated')
  if (file.preload) await file.preload(endsOf(file.size))
  const head = file.read(0, HEAD_BYTES)
  const loaded = await loadFormats()
  const detected = detectFormat(loaded, head, extension)
  // Without a signature, the beginning is damaged, or something precedes it.
  for (const format of detected ? [detected] : possibleFormats(loaded, extension)) {
    try {
      return await read(format)
    } catch (error) {
      if (!(error instanceof Unreadable && error.code === 'not_an_archive')) throw error
    }
  }
  throw foreignFile(head, file.size)
}

function detectFormat(
  loaded: readonly LoadedFormat[],
  head: Buffer,
  extension: string,
): LoadedFormat | null {
  const comics = loaded.filter(({ isComic }) => isComic)
  const hasComicExtension = comics.some(({ extensions }) => extensions.includes(extension))
  const isLikely = ({ name, reader }: LoadedFormat): boolean => {
    // An EPUB renamed to a comic is read page by page.
    if (name === 'epub' && hasComicExtension) return false
    // A PDF stored in an archive also shows its signature in the first kilobyte.
    if (name === 'pdf' && comics.some(comic => comic.reader.matches(head, ''))) return false
    return reader.matches(head, extension)
  }
  return loaded.find(isLikely) ?? null
}

/** The format of the extension; for a comic the others too, because comics often have the wrong extension. */
function possibleFormats(loaded: readonly LoadedFormat[], extension: string): LoadedFormat[] {
  const named = loaded.filter(({ extensions }) => extensions.includes(extension))
  const isArchive = archiveExtensions.includes(extension) || named.some(({ isComic }) => isComic)
  return isArchive ? [...new Set([...named, ...loaded.filter(({ isComic }) => isComic)])] : named
}
