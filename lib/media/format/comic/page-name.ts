// Detects page images and nested books by entry name.
import { byWord } from '../../../base/words.ts'

/** Media types by extension; the signature of the data takes precedence. */
const imageTypes = byWord({
  'image/jpeg': 'jpg, jpeg, jpe, jfif',
  ...{ 'image/png': 'png', 'image/webp': 'webp', 'image/gif': 'gif', 'image/bmp': 'bmp' },
  ...{ 'image/avif': 'avif', 'image/jxl': 'jxl', 'image/svg+xml': 'svg', 'image/jp2': 'jp2' },
  ...{ 'image/tiff': 'tif, tiff', 'image/heic': 'heic', 'image/heif': 'heif' },
})

/** The media type of a page by its extension; null for an entry that is not a page. */
export function pageMediaType(name: string): string | null {
  const type = imageTypes.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
  return type === undefined || isSystemFile(name) ? null : type
}

/** Whether an entry is itself an archive or a book, which is not read. */
export const isBookName = (name: string): boolean =>
  /\.(?:cb[7rtz]|zip|rar|7z|tar|epub|pdf)$/i.test(name) && !isSystemFile(name)

/** Hidden files, and files that macOS and Synology add to archives. */
export const isSystemFile = (name: string): boolean =>
  name.split('/').some(part => /^(\.(?!\.?$)|__macosx$|@eadir$)/i.test(part))
