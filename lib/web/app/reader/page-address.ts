// Addresses of page images at the size of the screen, in few widths so that all browsers share what the server renders.
import { mediaUrl } from '../api/address.ts'
import type { PageInfo } from './page-layout.ts'

const widths = [480, 720, 960, 1280, 1600, 2000, 2560, 3200, 4000]
const displayable = new Set(['jpeg', 'jpg', 'png', 'gif', 'webp', 'avif'])
/** Files above it are rendered again even at their own size. */
const maxOriginalBytes = 4_000_000
/** A file that is slightly larger than the screen costs less than rendering it. */
const tolerance = 1.25

/** Width in pixels to request for a page of that width in CSS pixels; null for the file as it is. The server sends animations as they are. */
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
  /** Null for the file as it is. */
  width: number | null
  /** The browser does not display the file. */
  isConverted: boolean
}

/** Throws for a connection that is lost. */
export async function fetchPage(
  { bookId, page, width, isConverted }: PageFile,
  signal: AbortSignal,
): Promise<Response> {
  const query = { ...(width !== null && { width }), ...(isConverted && { format: 'webp' }) }
  const headers = { accept: 'image/webp,*/*' }
  return await fetch(mediaUrl(`/books/${bookId}/pages/${page}`, query), { headers, signal })
}
