// The list of formats; a file is what its bytes say, whatever it is called.
import { Unreadable } from '../errors.ts'
import type { File } from '../file.ts'
import { cb7 } from './comic/cb7.ts'
import { cbr } from './comic/cbr.ts'
import { cbt } from './comic/cbt.ts'
import { cbz } from './comic/cbz.ts'
import { defaultLimits, type Format, type Limits, type Opened } from './contract.ts'
import { epub } from './epub/epub.ts'
import { pdf } from './pdf/pdf.ts'

export const formats: readonly Format[] = [epub, pdf, cbr, cb7, cbz, cbt]

const HEAD_BYTES = 4096
const comicExtensions = ['cbz', 'cbr', 'cb7', 'cbt']

/**
 * Opens a book by its content; `extension` (lower case, no dot) only tells like from like.
 * Takes no ownership of `file`. Throws Unreadable: `truncated` for an empty file, `not_an_archive`
 * for bytes of no known format, and what the format says.
 */
export async function openBook(
  file: File,
  extension: string,
  limits: Limits = defaultLimits,
): Promise<Opened> {
  return formatOf(file, extension).open(file, limits)
}

/** The bytes of a book's cover, or null when there is none. Arguments and errors as `openBook`. */
export async function readCover(
  file: File,
  extension: string,
  limits: Limits = defaultLimits,
): Promise<Uint8Array | null> {
  const format = formatOf(file, extension)
  if (format.cover) return format.cover(file, limits)
  await using opened = await format.open(file, limits)
  return await opened.cover()
}

function formatOf(file: File, extension: string): Format {
  if (file.size === 0) throw new Unreadable('The file is empty', 'truncated')
  const head = file.read(0, HEAD_BYTES)
  const format = formats.find(format => isLikely(format, head, extension))
  if (format === undefined) throw new Unreadable('The file is of no known format', 'not_an_archive')
  return format
}

function isLikely(format: Format, head: Uint8Array, extension: string): boolean {
  // An EPUB that someone named as a comic is read page by page like one.
  if (format === epub && comicExtensions.includes(extension)) return false
  // A PDF stored in an archive shows its signature in the first kilobyte too.
  if (format === pdf && isArchive(head)) return false
  return format.matches(head, extension)
}

const isArchive = (head: Uint8Array) => [cbr, cb7, cbz, cbt].some(comic => comic.matches(head, ''))
