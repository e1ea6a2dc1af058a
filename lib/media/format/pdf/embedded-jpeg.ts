// Extracts the JPEG of a scanned PDF page: 200 times faster than rendering, and lossless.
// page: << /Resources << /XObject << name stream … >> >> >>
// stream: << /Subtype /Image /Width /Height /ColorSpace /Filter /DCTDecode >> jpeg
import type { Device, Image, Matrix, Path, PDFObject, PDFPage } from 'mupdf'
import { words } from '../../../base/words.ts'
import { isComplete } from '../../image/complete.ts'
import { readJpegFrame } from '../../image/jpeg.ts'
import type { PdfDocument } from './document.ts'
import { getPath, type Mupdf, type Track } from './engine.ts'

type Candidate = { stream: PDFObject; width: number; height: number; components: number }
type Bounds = readonly [number, number, number, number]

// A page with more images is not a scan.
const maxImages = 64

/** The bytes of the JPEG if it is the only visible content of `page`, otherwise null. */
export function embeddedJpeg(
  { run, engine }: PdfDocument,
  page: PDFPage,
  options: { bounds: Bounds; maxBytes: number },
): Uint8Array | null {
  return run(track => {
    const candidates = findJpegs(track(page.getObject()), track)
    if (candidates.length === 0) return null
    const drawn = findOnlyImage(engine.mupdf, page, options.bounds)
    if (drawn === null) return null
    const fitting = candidates.filter(c => c.width === drawn.width && c.height === drawn.height)
    const [jpeg] = fitting
    if (!jpeg || fitting.length > 1) return null
    if (getPath(track, jpeg.stream, 'Length').asNumber() > options.maxBytes) return null
    // A view of WASM memory that may move: copied before any other call.
    const bytes = Uint8Array.from(track(jpeg.stream.readRawStream()).asUint8Array())
    return matchesDictionary(bytes, jpeg) ? bytes : null
  })
}

function findJpegs(page: PDFObject, track: Track): Candidate[] {
  const objects = getPath(track, track(page.getInheritable('Resources')), 'XObject')
  const candidates: Candidate[] = []
  if (!objects.isDictionary()) return candidates
  let count = 0
  objects.forEach(object => {
    track(object)
    if (++count > maxImages || !object.isStream()) return
    const value = (key: string) => getPath(track, object, key)
    if (value('Subtype').asName() !== 'Image') return
    // With masks, decode arrays or parameters the bare JPEG would look different.
    const changed = ['SMask', 'Mask', 'Decode', 'DecodeParms', 'ImageMask', 'SMaskInData']
    if (changed.some(key => !value(key).isNull())) return
    const components = componentsOf(value('ColorSpace'), track)
    if (!isDct(value('Filter'), track) || components === 0) return
    const [width, height] = [value('Width').asNumber(), value('Height').asNumber()]
    candidates.push({ stream: object, width, height, components })
  })
  return count > maxImages ? [] : candidates
}

function isDct(filter: PDFObject, track: Track): boolean {
  if (filter.isArray())
    return filter.length === 1 && getPath(track, filter, 0).asName() === 'DCTDecode'
  return filter.asName() === 'DCTDecode'
}

/** 1 for gray, 3 for RGB, 0 for color spaces that a JPEG decoder would interpret differently. */
function componentsOf(space: PDFObject, track: Track): number {
  const name = space.isArray() ? getPath(track, space, 0).asName() : space.asName()
  if (name === 'DeviceGray' || name === 'CalGray') return 1
  if (name === 'DeviceRGB' || name === 'CalRGB') return 3
  const count = name === 'ICCBased' ? getPath(track, space, 1, 'N').asNumber() : 0
  return count === 1 || count === 3 ? count : 0
}

const identity: Matrix = [1, 0, 0, 1, 0, 0]

/** The size of the image that fills the page, if nothing else is visible on it. */
function findOnlyImage(mupdf: Mupdf, page: PDFPage, bounds: Bounds) {
  const images: { width: number; height: number }[] = []
  let isAlone = true
  const other = (...objects: unknown[]) => {
    destroyAll(...objects)
    isAlone = false
    // The result is known; without a callback MuPDF passes no arguments that must be destroyed.
    for (const name of visibleOperations) delete callbacks[name]
  }
  const callbacks: DeviceCallbacks = {
    fillImage(image: Image, ctm: Matrix, alpha: number) {
      if (alpha !== 1 || !fillsPage(ctm, bounds)) isAlone = false
      images.push({ width: image.getWidth(), height: image.getHeight() })
      destroyAll(image)
    },
    clipPath(path: Path, _evenOdd: boolean, ctm: Matrix) {
      if (!contains(path.getBounds(null as never, ctm), bounds)) return other(path)
      destroyAll(path)
    },
    // Images and shades are passed with a reference that must always be released.
    fillShade: other,
    fillImageMask: other,
    clipImageMask: other,
    beginTile: () => {
      isAlone = false
      return 0
    },
  }
  for (const name of visibleOperations) callbacks[name] ??= other
  const device = new mupdf.Device(callbacks)
  try {
    page.run(device, identity)
    device.close()
  } finally {
    device.destroy()
  }
  return isAlone && images.length === 1 ? images[0]! : null
}

type DeviceCallbacks = Partial<
  Omit<Device, 'pointer' | 'destroy' | 'toString' | 'valueOf' | 'close'>
>

// All visible operations except images. Excludes invisible text, which is the result of OCR.
const visibleOperations = [
  ...words('fillPath strokePath clipPath clipStrokePath fillText strokeText clipText'),
  ...words('clipStrokeText beginMask beginGroup'),
] as const

function destroyAll(...objects: unknown[]): void {
  for (const object of objects)
    if (object instanceof Object && 'destroy' in object) (object as { destroy(): void }).destroy()
}

const tolerance = ([x0, y0, x1, y1]: Bounds) => 0.01 * Math.max(x1 - x0, y1 - y0)

/** Whether the image is upright and exactly as large as the page; a larger one would be cropped. */
function fillsPage([a, b, c, d, e, f]: Matrix, bounds: Bounds): boolean {
  const s = tolerance(bounds)
  if (a <= 0 || d <= 0 || Math.abs(b) > s || Math.abs(c) > s) return false
  const edges = [e, f, e + a, f + d]
  return edges.every((edge, i) => Math.abs(edge - bounds[i]!) <= s)
}

function contains(outer: Bounds, inner: Bounds): boolean {
  const s = tolerance(inner)
  return (
    outer[0] <= inner[0] + s &&
    outer[1] <= inner[1] + s &&
    outer[2] >= inner[2] - s &&
    outer[3] >= inner[3] - s
  )
}

/** Whether the JPEG is complete, matches its dictionary and has no EXIF rotation. */
function matchesDictionary(bytes: Uint8Array, candidate: Candidate): boolean {
  if (!isComplete(bytes, 'image/jpeg')) return false
  const frame = readJpegFrame(bytes)
  if (frame === null || typeof frame === 'number') return false
  const { width, height, components, orientation } = frame
  return (
    width === candidate.width &&
    height === candidate.height &&
    components === candidate.components &&
    orientation === 1
  )
}
