// Detects page images and nested books by entry name.

/** Media types by extension; the signature of the data takes precedence. */
const imageTypes: Record<string, string> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  jpe: 'image/jpeg',
  jfif: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
  avif: 'image/avif',
  jxl: 'image/jxl',
  svg: 'image/svg+xml',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  heic: 'image/heic',
  heif: 'image/heic',
  jp2: 'image/jp2',
}

/** The media type of a page by its extension; null for an entry that is not a page. */
export function pageMediaType(name: string): string | null {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(imageTypes, extension) && !isSystemFile(name) ? imageTypes[extension]! : null
}

/** Whether an entry is itself an archive or a book, which is not read. */
export const isBookName = (name: string): boolean =>
  /\.(?:cb[7rtz]|zip|rar|7z|tar|epub|pdf)$/i.test(name) && !isSystemFile(name)

/** Hidden files, and files that macOS and Synology add to archives. */
export function isSystemFile(name: string): boolean {
  // Fast path for nearly all names.
  if (!/(^|\/)[._@]/.test(name)) return false
  return name.split('/').some(part => /^(\.(?!\.?$)|__macosx$|@eadir$)/i.test(part))
}
