// A new cover from the bytes of an image and the thumbnail made from it.
import type { UnreadableCode } from '../../base/errors.ts'
import type { ThumbnailFormat } from '../../media/image/thumbnail-path.ts'
import type { NewCover } from './cover.ts'

/** A thumbnail, with the media type, dimensions and length of the image it was made from. */
export type MadeThumbnail = {
  bytes: Uint8Array
  mediaType: string
  width: number | null
  height: number | null
  originalBytes: number
}

export function newCover(
  original: Uint8Array,
  { bytes, mediaType, width, height, originalBytes }: MadeThumbnail,
  format: ThumbnailFormat,
): NewCover {
  return {
    // Bytes after the image are not stored.
    original: original.subarray(0, originalBytes),
    extension: extensions[mediaType]!,
    width,
    height,
    thumbnail: bytes,
    format,
  }
}

const extensions: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'image/jxl': 'jxl',
  'image/heic': 'heic',
  'image/bmp': 'bmp',
  'image/tiff': 'tif',
  'image/jp2': 'jp2',
}

/** Media type of a cover's original. */
export const mediaTypeOf = (extension: string): string =>
  Object.keys(extensions).find(type => extensions[type] === extension) ?? 'application/octet-stream'

/** The thumbnail of an image that is not in a book. */
export type CoverImage = MadeThumbnail | { error: { code: UnreadableCode; message: string } }
