// What is asked of a page, and whether its own bytes will do.
import type { ImageFormat } from '../image/cover.ts'

/** Pixels from 1 on; the image is made to fit inside, never enlarged. */
export type Asked = { width?: number; height?: number; format?: ImageFormat }

/** Something that has to be made. */
export type Variant = Asked & { format: ImageFormat }

const written: Record<string, ImageFormat> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
}
// Browsers show these as they are.
const shown = new Set([...Object.keys(written), 'image/gif', 'image/avif', 'image/svg+xml'])

/** What to make of a page of that type and size (0: not known), or null when its original bytes answer the question. */
export function variantOf(
  { width, height, format }: Asked,
  page: { mediaType: string; width: number; height: number },
): Variant | null {
  const isSized = width !== undefined || height !== undefined
  if (!isSized && format === undefined) return null
  const isMeasured = page.width > 0 && page.height > 0
  const fits =
    !isSized ||
    (isMeasured && page.width <= (width ?? page.width) && page.height <= (height ?? page.height))
  const own = written[page.mediaType]
  const isRight =
    format === undefined ? shown.has(page.mediaType) : page.mediaType === `image/${format}`
  if (fits && isRight) return null
  return { width, height, format: format ?? own ?? 'jpeg' }
}
