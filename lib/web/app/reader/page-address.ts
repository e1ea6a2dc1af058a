// Addresses of page images at the size of the screen, in few widths so that all browsers share what the server renders.
import { mediaUrl } from '../api/address.ts'
import type { PageInfo } from './page-layout.ts'

const widths = [480, 720, 960, 1280, 1600, 2000, 2560, 3200, 4000]
const displayable = new Set(['jpeg', 'jpg', 'png', 'gif', 'webp', 'avif'])
/** Files above it are rendered again even at their own size. */
const maxOriginalBytes = 4_000_000
/** A file that is slightly larger than the screen costs less than rendering it. */
const tolerance = 1.25

/** Width in pixels to request for a page of that width in CSS pixels; null for the file as it is. */
export function renderedWidth(page: PageInfo, cssWidth: number): number | null {
  const pixels = cssWidth * devicePixelRatio
  const step = widths.find(width => width >= pixels) ?? widths.at(-1)!
  const isOriginal =
    displayable.has(page.format) &&
    (page.format === 'gif' ||
      (page.width !== null && page.width <= step * tolerance && page.bytes <= maxOriginalBytes))
  return isOriginal ? null : step
}

export function pageUrl(bookId: string, page: number, width: number | null): string {
  const query = width === null ? {} : { width, format: 'webp' }
  return mediaUrl(`/books/${bookId}/pages/${page}`, query)
}
