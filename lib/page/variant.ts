// Image variants: which size and format to render a page in, and when its original bytes are sufficient.
import type { ImageFormat } from '../media/image/cover.ts'

/** Pixels from 1; the image is scaled to fit inside, never enlarged. */
export type ImageOptions = {
  width?: number
  height?: number
  /** Also applies to an image that is not scaled. */
  format?: ImageFormat
  /** Format for an image that has to be rendered anyway; an animation is left unchanged. */
  preferredFormat?: ImageFormat
}

/** An image that has to be rendered. */
export type Variant = Omit<ImageOptions, 'preferredFormat'> & {
  format: ImageFormat
  /** Rendering would only preserve the first frame of an animation. */
  keepsAnimation?: boolean
}

const encodable: Record<string, ImageFormat> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
}
/** Types that every browser displays. */
const displayable = new Set([...Object.keys(encodable), 'image/gif', 'image/avif', 'image/svg+xml'])

/**
 * The variant to render of a page with that type and size (0: unknown), or null if its original bytes satisfy
 * the request.
 */
export function chooseVariant(
  { width, height, format, preferredFormat }: ImageOptions,
  page: { mediaType: string; width: number; height: number },
): Variant | null {
  const hasSize = width !== undefined || height !== undefined
  if (!hasSize && format === undefined) return null
  const isMeasured = page.width > 0
  const fits =
    !hasSize ||
    (isMeasured && page.width <= (width ?? page.width) && page.height <= (height ?? page.height))
  const hasFormat =
    format === undefined ? displayable.has(page.mediaType) : page.mediaType === `image/${format}`
  if (fits && hasFormat) return null
  if (format === undefined && preferredFormat !== undefined)
    return { width, height, format: preferredFormat, keepsAnimation: true }
  return { width, height, format: format ?? encodable[page.mediaType] ?? 'jpeg' }
}

const thumbnailPixels = 320

/** Whether an image is too small for reading: a strip of thumbnails must not delay the next page. */
export const isThumbnail = ({ width = Infinity, height = Infinity }: ImageOptions): boolean =>
  Math.min(width, height) <= thumbnailPixels
