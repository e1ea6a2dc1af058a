// A scanned page is one JPEG on a sheet: found here and handed out as it is, 200 times faster than
// rendering it and without a second loss.
// page: << /Resources << /XObject << name stream … >> >> >>
// stream: << /Subtype /Image /Width /Height /ColorSpace /Filter /DCTDecode >> jpeg
import type { Device, Image, Matrix, Path, PDFObject, PDFPage } from 'mupdf'
import { readJpegFrame } from '../../image/jpeg.ts'
import type { PdfDocument } from './document.ts'
import { at, type Keep, type Mupdf } from './engine.ts'

type Candidate = { stream: PDFObject; width: number; height: number; components: number }
type Bounds = readonly [number, number, number, number]

// A page with more is a collage, whatever else it is.
const mostImages = 64

/** The bytes of the JPEG that alone makes up `page`, or null. */
export function embeddedJpeg(
  { run, engine }: PdfDocument,
  page: PDFPage,
  options: { bounds: Bounds; mostBytes: number },
): Uint8Array | null {
  return run(keep => {
    const candidates = findJpegs(keep(page.getObject()), keep)
    if (candidates.length === 0) return null
    const drawn = onlyImage(engine.mupdf, page, options.bounds)
    if (drawn === null) return null
    const fitting = candidates.filter(c => c.width === drawn.width && c.height === drawn.height)
    const [found] = fitting
    if (!found || fitting.length > 1) return null
    if (at(keep, found.stream, 'Length').asNumber() > options.mostBytes) return null
    // A view into memory that may move: copied before anything else runs.
    const bytes = Uint8Array.from(keep(found.stream.readRawStream()).asUint8Array())
    return isPlain(bytes, found) ? bytes : null
  })
}

function findJpegs(page: PDFObject, keep: Keep): Candidate[] {
  const objects = at(keep, keep(page.getInheritable('Resources')), 'XObject')
  const found: Candidate[] = []
  if (!objects.isDictionary()) return found
  let seen = 0
  objects.forEach(object => {
    keep(object)
    if (++seen > mostImages || !object.isStream()) return
    const text = (key: string) => at(keep, object, key)
    if (text('Subtype').asName() !== 'Image') return
    // Masks, decoding arrays and parameters change what the JPEG alone would show.
    const changed = ['SMask', 'Mask', 'Decode', 'DecodeParms', 'ImageMask', 'SMaskInData']
    if (changed.some(key => !text(key).isNull())) return
    const components = componentsOf(text('ColorSpace'), keep)
    if (!isDct(text('Filter'), keep) || components === 0) return
    const [width, height] = [text('Width').asNumber(), text('Height').asNumber()]
    found.push({ stream: object, width, height, components })
  })
  return seen > mostImages ? [] : found
}

function isDct(filter: PDFObject, keep: Keep): boolean {
  if (filter.isArray()) return filter.length === 1 && at(keep, filter, 0).asName() === 'DCTDecode'
  return filter.asName() === 'DCTDecode'
}

/** 1 for grey, 3 for RGB, 0 for what a viewer of bare JPEGs would show in other colours. */
function componentsOf(space: PDFObject, keep: Keep): number {
  const name = space.isArray() ? at(keep, space, 0).asName() : space.asName()
  if (name === 'DeviceGray' || name === 'CalGray') return 1
  if (name === 'DeviceRGB' || name === 'CalRGB') return 3
  const count = name === 'ICCBased' ? at(keep, space, 1, 'N').asNumber() : 0
  return count === 1 || count === 3 ? count : 0
}

const upright: Matrix = [1, 0, 0, 1, 0, 0]

/** The size of the one image that fills the page, when the page draws nothing else one could see. */
function onlyImage(mupdf: Mupdf, page: PDFPage, bounds: Bounds) {
  const images: { width: number; height: number }[] = []
  let isAlone = true
  const other = (...made: unknown[]) => {
    drop(...made)
    isAlone = false
    // Nothing more to learn: calls without an answer bring no arguments to destroy.
    for (const name of optional) delete watch[name]
  }
  const watch: Watch = {
    fillImage(made: Image, ctm: Matrix, alpha: number) {
      if (alpha !== 1 || !fills(ctm, bounds)) isAlone = false
      images.push({ width: made.getWidth(), height: made.getHeight() })
      drop(made)
    },
    clipPath(path: Path, _evenOdd: boolean, ctm: Matrix) {
      if (!contains(path.getBounds(null as never, ctm), bounds)) return other(path)
      drop(path)
    },
    // Images and shades come with a reference that is ours in any case.
    fillShade: other,
    fillImageMask: other,
    clipImageMask: other,
    beginTile: () => {
      isAlone = false
      return 0
    },
  }
  for (const name of optional) watch[name] ??= other
  const device = new mupdf.Device(watch)
  try {
    page.run(device, upright)
    device.close()
  } finally {
    device.destroy()
  }
  return isAlone && images.length === 1 ? images[0]! : null
}

type Watch = Partial<Omit<Device, 'pointer' | 'destroy' | 'toString' | 'valueOf' | 'close'>>

// Everything visible but images. Text drawn invisibly is what character recognition leaves behind.
const optional = [
  'fillPath',
  'strokePath',
  'clipPath',
  'clipStrokePath',
  'fillText',
  'strokeText',
  'clipText',
  'clipStrokeText',
  'beginMask',
  'beginGroup',
] as const

function drop(...made: unknown[]): void {
  for (const one of made)
    if (one instanceof Object && 'destroy' in one) (one as { destroy(): void }).destroy()
}

const slack = ([x0, y0, x1, y1]: Bounds) => 0.01 * Math.max(x1 - x0, y1 - y0)

/** Upright and as large as the page; an image larger than the page would be cropped by it. */
function fills([a, b, c, d, e, f]: Matrix, bounds: Bounds): boolean {
  const s = slack(bounds)
  if (a <= 0 || d <= 0 || Math.abs(b) > s || Math.abs(c) > s) return false
  const edges = [e, f, e + a, f + d]
  return edges.every((edge, i) => Math.abs(edge - bounds[i]!) <= s)
}

function contains(outer: Bounds, inner: Bounds): boolean {
  const s = slack(inner)
  return (
    outer[0] <= inner[0] + s &&
    outer[1] <= inner[1] + s &&
    outer[2] >= inner[2] - s &&
    outer[3] >= inner[3] - s
  )
}

/** The JPEG agrees with its dictionary and would not be turned by its EXIF. */
function isPlain(bytes: Uint8Array, wanted: Candidate): boolean {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return false
  const frame = readJpegFrame(bytes)
  if (frame === null || typeof frame === 'number') return false
  const { width, height, components, orientation } = frame
  return (
    width === wanted.width &&
    height === wanted.height &&
    components === wanted.components &&
    orientation === 1
  )
}
