// Which entries of an archive are pages, by name.

/** Media types by extension; what the bytes say goes first. */
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

/** The media type that a page's extension promises; null when the entry is no page. */
export function pageType(name: string): string | null {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(imageTypes, extension) && !isLeftover(name) ? imageTypes[extension]! : null
}

/** Hidden files, and what macOS and Synology leave in archives. */
export function isLeftover(name: string): boolean {
  // Nearly all names end here.
  if (!/(^|\/)[._@]/.test(name)) return false
  return name.split('/').some(part => /^(\.(?!\.?$)|__macosx$|@eadir$)/i.test(part))
}
