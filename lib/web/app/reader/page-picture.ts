// Files of page images for the screen size, and pictures of them, whose memory can be released.
import { mediaUrl } from '../api/address.ts'
import type { PageInfo } from './page-layout.ts'

/** `width` and `height`: size of the whole image in pixels. `drawnWidth`: maximum display width; Infinity for any. */
type Picture = { element: HTMLElement; width: number; height: number; drawnWidth: number }

// Limit of all browsers and graphics cards; iOS has the smallest area.
const maxCanvasArea = 2 ** 24
const maxCanvasSide = 8_192
/** Slightly larger images are shown as they are. */
const tolerance = 1.15
const headBytes = 4_096

/**
 * Decodes an image and scales it down to `width`. Browsers retain the decoded pixels of `<img>`
 * elements long after their removal (Chromium up to 512 MB), so only animated and very large images use them.
 * Throws for images the browser cannot display.
 */
export async function pictureOf(blob: Blob, width: number): Promise<Picture> {
  if (await isAnimated(blob)) return await imageElement(blob)
  const whole = await createImageBitmap(blob)
  const { width: fullWidth, height: fullHeight } = whole
  const isSmaller = fullWidth > width * tolerance
  const scale = isSmaller ? width / fullWidth : 1
  const size = { width: Math.round(fullWidth * scale), height: Math.round(fullHeight * scale) }
  if (
    Math.max(size.width, size.height) > maxCanvasSide ||
    size.width * size.height > maxCanvasArea
  ) {
    whole.close()
    return await imageElement(blob)
  }
  const bitmap = isSmaller ? await resized(whole, size) : whole
  const element = document.createElement('canvas')
  element.width = bitmap.width
  element.height = bitmap.height
  element.getContext('bitmaprenderer')!.transferFromImageBitmap(bitmap)
  const drawnWidth = isSmaller ? width : Number.POSITIVE_INFINITY
  return { element, width: fullWidth, height: fullHeight, drawnWidth }
}

async function resized(whole: ImageBitmap, { width, height }: { width: number; height: number }) {
  try {
    return await createImageBitmap(whole, {
      resizeWidth: Math.max(1, width),
      resizeHeight: Math.max(1, height),
      resizeQuality: 'high',
    })
  } finally {
    whole.close()
  }
}

/** Releases the pixels immediately, not at the next garbage collection. */
export function releasePicture(element: HTMLElement | null) {
  if (!element) return
  element.remove()
  if (element instanceof HTMLCanvasElement) element.width = element.height = 0
  else if (element instanceof HTMLImageElement) URL.revokeObjectURL(element.src)
}

/** A copy of the left or right half. */
export function halfOf(element: HTMLElement, half: 'left' | 'right'): HTMLCanvasElement {
  const source = element as HTMLCanvasElement | HTMLImageElement
  const [whole, height] =
    source instanceof HTMLImageElement
      ? [source.naturalWidth, source.naturalHeight]
      : [source.width, source.height]
  const width = Math.ceil(whole / 2)
  const copy = document.createElement('canvas')
  Object.assign(copy, { width, height })
  copy.getContext('2d')!.drawImage(source, half === 'left' ? 0 : width - whole, 0)
  return copy
}

async function imageElement(blob: Blob): Promise<Picture> {
  const element = new Image()
  element.alt = ''
  element.draggable = false
  element.decoding = 'sync'
  element.src = URL.createObjectURL(blob)
  // Chromium never releases images loaded outside the document.
  element.hidden = true
  document.body.append(element)
  try {
    await element.decode()
  } catch (error) {
    releasePicture(element)
    throw error
  }
  element.remove()
  element.hidden = false
  const { naturalWidth: width, naturalHeight: height } = element
  return { element, width, height, drawnWidth: Number.POSITIVE_INFINITY }
}

/** GIF, and PNG, WebP and AVIF with more than one frame. */
async function isAnimated(blob: Blob): Promise<boolean> {
  const head = await blob.slice(0, headBytes).arrayBuffer()
  const text = new TextDecoder('latin1').decode(head)
  return /^GIF8|^.PNG.*acTL|^RIFF.{4}WEBPVP8X.{0,60}ANIM|^.{4}ftyp.{0,60}avis/s.test(text)
}

/** A few, so that browsers share rendered pages. */
const widths = [480, 720, 960, 1280, 1600, 2000, 2560, 3200, 4000]
const displayable = new Set(['jpeg', 'jpg', 'png', 'gif', 'webp', 'avif'])
/** Larger files are rendered again even at their own size. */
const maxOriginalBytes = 4_000_000
/** A file that is slightly larger than the screen costs less than rendering it. */
const fileTolerance = 1.25

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
    page.width <= step * fileTolerance &&
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
