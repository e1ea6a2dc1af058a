// Registry of book formats: detection by content, opening, file extensions.

import { defaultLimits, type Limits } from '../archive/limits.ts'
import { Unreadable } from '../errors.ts'
import type { File } from '../file.ts'
import { cb7, cbr, cbt, cbz } from './comic/formats.ts'
import type { FormatReader, OpenedBook } from './contract.ts'
import { epub } from './epub/format.ts'
import { pdf } from './pdf/format.ts'

/** In the order in which signatures are tried. */
const formats = [epub, pdf, cbr, cb7, cbz, cbt] as const

export type FormatName = (typeof formats)[number]['name']
/** In the order of lists for users. */
export const formatNames: readonly FormatName[] = [cbz, cbr, cb7, cbt, epub, pdf].map(
  format => format.name,
)
const byName = new Map(formats.map(format => [format.name, format]))

export const formatNamed = (name: FormatName): (typeof formats)[number] => byName.get(name)!

/** False for a book whose format is not known yet. */
export const isReflowable = (name: FormatName | null): boolean =>
  name !== null && formatNamed(name).isReflowable
/** Formats whose books may have a cover without page images. */
export const reflowableFormats: readonly FormatName[] = formatNames.filter(isReflowable)
export const isRendered = (name: FormatName | null): boolean =>
  name !== null && formatNamed(name).isRendered

/** File extensions of the formats, lower case without the dot. */
export const extensionsOf = (names: readonly FormatName[]): string[] =>
  names.flatMap(name => formatNamed(name).extensions)

// Archives that are not books by name, but are renamed or contain them.
const archiveExtensions = ['zip', 'rar', '7z', 'tar']
const bookExtension = new RegExp(
  `\\.(?:${[...extensionsOf(formatNames), ...archiveExtensions].join('|')})$`,
  'i',
)

/** File name without the extension of a book: `test.vol.1.cbz` → `test.vol.1`. Other names are returned unchanged. */
export function stemOf(fileName: string): string {
  return fileName.replace(bookExtension, '') || fileName
}

export type DetectedBook = OpenedBook & { format: FormatName }

/**
 * Opens a book by its content; `extension` (lower case, no dot) only resolves ambiguities.
 * Does not take ownership of `file`. Throws Unreadable: `truncated` for an empty file,
 * `not_an_archive` for an unknown format, and the errors of the format.
 */
export async function openBook(
  file: File,
  extension: string,
  limits: Limits = defaultLimits,
): Promise<DetectedBook> {
  const { name, reader } = await detectFormat(file, extension)
  return Object.assign(await reader.open(file, limits), { format: name })
}

/** The bytes of a book's cover, or null when there is none. Parameters and errors as `openBook`. */
export async function readCover(
  file: File,
  extension: string,
  limits: Limits = defaultLimits,
): Promise<Uint8Array | null> {
  const { reader } = await detectFormat(file, extension)
  if (reader.cover) return reader.cover(file, limits)
  await using opened = await reader.open(file, limits)
  return await opened.cover()
}

type LoadedFormat = { name: FormatName; reader: FormatReader; isComic: boolean }
let loading: Promise<LoadedFormat[]> | null = null

function loadFormats(): Promise<LoadedFormat[]> {
  loading ??= Promise.all(
    formats.map(async ({ name, opds, load }) => ({
      name,
      reader: await load(),
      isComic: opds.profile === 'divina',
    })),
  )
  return loading
}

const HEAD_BYTES = 4096

async function detectFormat(file: File, extension: string): Promise<LoadedFormat> {
  if (file.size === 0) throw new Unreadable('The file is empty', 'truncated')
  const head = file.read(0, HEAD_BYTES)
  const loaded = await loadFormats()
  const comics = loaded.filter(({ isComic }) => isComic)
  const hasComicExtension = comics.some(({ name }) => extensionsOf([name]).includes(extension))
  const isLikely = ({ name, reader }: LoadedFormat): boolean => {
    // An EPUB renamed to a comic is read page by page.
    if (name === 'epub' && hasComicExtension) return false
    // A PDF stored in an archive shows its signature in the first kilobyte too.
    if (name === 'pdf' && comics.some(comic => comic.reader.matches(head, ''))) return false
    return reader.matches(head, extension)
  }
  const format = loaded.find(isLikely)
  if (format === undefined) throw new Unreadable('Unknown file format', 'not_an_archive')
  return format
}
