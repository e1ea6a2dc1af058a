// Addresses of page images for the screen size, in a few widths so that browsers share rendered pages.
import { mediaUrl } from '../api/address.ts'
import type { PageInfo } from './page-layout.ts'

const widths = [480, 720, 960, 1280, 1600, 2000, 2560, 3200, 4000]
const displayable = new Set(['jpeg', 'jpg', 'png', 'gif', 'webp', 'avif'])
/** Larger files are rendered again even at their own size. */
const maxOriginalBytes = 4_000_000
/** A file that is slightly larger than the screen costs less than rendering it. */
const tolerance = 1.25

/**
 * Width in pixels to request for a page of this width in CSS pixels; null for the original file. Animations are sent
 * as they are.
 */
export function renderedWidth(page: PageInfo, cssWidth: number): number | null {
  const pixels = cssWidth * devicePixelRatio
  const step = widths.find(width => width >= pixels) ?? widths.at(-1)!
  const isOriginal =
    displayable.has(page.format) &&
    page.width !== null &&
    page.width <= step * tolerance &&
    page.bytes <= maxOriginalBytes
  return isOriginal ? null : step
}

type PageFile = {
  bookId: string
  page: number
  /** Null for the original file. */
  width: number | null
  /** Whether the browser cannot display the file. */
  isConverted: boolean
}

/** Throws if the connection is lost. */
export async function fetchPage(
  { bookId, page, width, isConverted }: PageFile,
  signal: AbortSignal,
): Promise<Response> {
  const query = { ...(width !== null && { width }), ...(isConverted && { format: 'webp' }) }
  const headers = { accept: 'image/webp,*/*' }
  return await fetch(mediaUrl(`/books/${bookId}/pages/${page}`, query), { headers, signal })
}
