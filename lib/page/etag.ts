// ETags of pages and EPUB resources, and the keys of the page cache.
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { contentVersion, type FileVersion, strongEtag, versionKey } from '../download/range.ts'
import type { ImageOptions, Variant } from './variant.ts'

/** `pages` is the packed page list, if known. */
export type PagesVersion = FileVersion & { pages?: Uint8Array | null }

/**
 * Changes with the file, and when a deep scan finds other pages or another file with the same size and time.
 */
export const pagesKey = (version: PagesVersion): string =>
  version.pages ? `${versionKey(version)} ${crc32(version.pages)}` : versionKey(version)

/** Strong ETag, with its quotes, of page `index` with these options. */
export function pageEtag(version: PagesVersion, index: number, options: ImageOptions = {}): string {
  const { width = 0, height = 0 } = options
  const format = options.format ?? (options.preferredFormat ? `~${options.preferredFormat}` : '')
  return strongEtag(`page ${pagesKey(version)} ${index} ${width} ${height} ${format}`)
}

/** ETag, with its quotes, of an EPUB resource; weak, because text may be sent compressed. */
export const resourceEtag = (version: FileVersion, name: string): string =>
  `W/${strongEtag(`member ${versionKey(version)} ${name}`)}`

/** Key, in the page cache, of a failure of the work `name` on a book's file. */
export const failureKey = (version: PagesVersion, name: string): string =>
  hash('sha256', `failure ${pagesKey(version)} ${name}`, 'hex').slice(0, 32)

/** File name of a page in the page cache: lowercase hex, because some file systems ignore case. */
export function pageCacheKey(
  version: PagesVersion,
  index: number,
  variant: (Omit<Variant, 'format'> & { format?: Variant['format'] }) | null,
): string {
  const { width = 0, height = 0, format = 'original', keepsAnimation = false } = variant ?? {}
  const kind = keepsAnimation ? `~${format}` : format
  const text = `${contentVersion} ${pagesKey(version)} ${index} ${width} ${height} ${kind}`
  return hash('sha256', text, 'hex').slice(0, 32)
}
