// ISO base media file format boxes: image sizes of AVIF, HEIC and JPEG 2000, and iteration over boxes.
// box:  u32 size, type, [u64 size when size is 1], payload; size 0 reaches to the end
// heif: ftyp meta; meta: u32 version, pitm (primary item), iprp(ipco(property*) ipma)
// ipma: u32 version, u32 items, item*: id, u8 count, (essential bit + property number)*
// ispe: u32 version, u32 width, u32 height; irot: u8 rotation in steps of 90 degrees; clap: u32 width /, height /, …
// jp2:  jP ftyp jp2h(ihdr: u32 height, u32 width) jp2c(codestream)
import { displaySize, type HeaderResult, matchesAt, type Size, u16be, u32be } from './primitives.ts'

/** `from` and `to` delimit the payload; `to` may be beyond the available bytes. */
export type Box = { type: string; from: number; to: number }

// Real files have tens of boxes; the limit is for hostile ones.
const maxBoxes = 4096

/** The boxes with a header in `b` between `from` and `to`. */
export function* readBoxes(b: Uint8Array, from: number, to: number): Generator<Box> {
  const end = Math.min(to, b.length)
  for (let at = from, n = 0; at + 8 <= end && n < maxBoxes; n++) {
    const short = u32be(b, at)
    const start = short === 1 ? 16 : 8
    const size =
      short === 0 ? to - at : short === 1 ? u32be(b, at + 8) * 2 ** 32 + u32be(b, at + 12) : short
    if (size < start) return
    const type = String.fromCharCode(b[at + 4]!, b[at + 5]!, b[at + 6]!, b[at + 7]!)
    yield { type, from: at + start, to: Math.min(at + size, to) }
    at += size
  }
}

/** The first box of `type`, or the number of bytes needed if it is not completely in `b`. */
function findBox(b: Uint8Array, type: string, within: { from: number; to: number }) {
  let end = within.from
  for (const box of readBoxes(b, within.from, within.to)) {
    if (box.type === type) return box.to > b.length ? box.to : box
    end = box.to
  }
  return end > b.length - 8 && end < within.to ? end + 64 : null
}

export function readHeif(b: Uint8Array): HeaderResult {
  const meta = findBox(b, 'meta', { from: 0, to: Infinity })
  if (meta === null || typeof meta === 'number') return meta
  const parts = new Map([...readBoxes(b, meta.from + 4, meta.to)].map(box => [box.type, box]))
  const iprp = parts.get('iprp')
  if (!iprp) return null
  const pitm = parts.get('pitm')
  const primary = pitm ? (b[pitm.from] === 0 ? u16be : u32be)(b, pitm.from + 4) : null
  const inner = [...readBoxes(b, iprp.from, iprp.to)]
  const ipco = inner.find(box => box.type === 'ipco')
  const ipma = inner.find(box => box.type === 'ipma')
  if (!ipco) return null
  const properties = [...readBoxes(b, ipco.from, ipco.to)]
  const numbers = ipma && primary !== null ? propertiesOf(b, ipma, primary) : []
  const own = numbers.flatMap(number => properties[number - 1] ?? [])
  return sizeOf(b, own.length > 0 ? own : properties)
}

function propertiesOf(b: Uint8Array, ipma: Box, item: number): number[] {
  const isLongId = b[ipma.from]! > 0
  const isLongNumber = ((b[ipma.from + 3] ?? 0) & 1) === 1
  let at = ipma.from + 8
  for (let left = u32be(b, ipma.from + 4); left > 0 && at < ipma.to; left--) {
    const id = isLongId ? u32be(b, at) : u16be(b, at)
    at += isLongId ? 4 : 2
    const count = b[at] ?? 0
    at++
    const step = isLongNumber ? 2 : 1
    if (id === item)
      return Array.from({ length: count }, (_, i) =>
        isLongNumber ? u16be(b, at + 2 * i) & 0x7fff : (b[at + i] ?? 0) & 0x7f,
      )
    at += count * step
  }
  return []
}

function sizeOf(b: Uint8Array, properties: Box[]): Size | null {
  const extent = properties.find(box => box.type === 'ispe')
  if (!extent) return null
  let [width, height] = [u32be(b, extent.from + 4), u32be(b, extent.from + 8)]
  for (const { type, from } of properties) {
    if (type === 'irot' && ((b[from] ?? 0) & 1) === 1) [width, height] = [height, width]
    // A crop size is a pair of fractions, rounded to whole pixels as in libheif.
    if (type !== 'clap') continue
    width = Math.min(width, Math.round(u32be(b, from) / u32be(b, from + 4)) || width)
    height = Math.min(height, Math.round(u32be(b, from + 8) / u32be(b, from + 12)) || height)
  }
  return displaySize(width, height)
}

/** JPEG 2000 codestream: FF4F FF51 u16 u16 capabilities, u32 x, y, x offset, y offset. */
const readJ2k = (b: Uint8Array): HeaderResult =>
  displaySize(u32be(b, 8) - u32be(b, 16), u32be(b, 12) - u32be(b, 20))

export function readJp2(b: Uint8Array): HeaderResult {
  if (b[0] === 0xff) return readJ2k(b)
  const header = findBox(b, 'jp2h', { from: 0, to: Infinity })
  if (header === null || typeof header === 'number') return header
  const ihdr = findBox(b, 'ihdr', header)
  if (ihdr === null || typeof ihdr === 'number') return null
  return displaySize(u32be(b, ihdr.from + 4), u32be(b, ihdr.from))
}

const avifBrands = ['avif', 'avis']
const heicBrands = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs']

/** Media type according to the brands of a leading `ftyp` box, or null. */
export function sniffBrand(b: Uint8Array): string | null {
  const end = Math.min(u32be(b, 0), b.length, 256)
  // Major brand at 8, version at 12, compatible brands from 16 on.
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) {
    if (avifBrands.some(brand => matchesAt(b, at, brand))) return 'image/avif'
    if (heicBrands.some(brand => matchesAt(b, at, brand))) return 'image/heic'
    if (matchesAt(b, at, 'jp2 ') || matchesAt(b, at, 'jpx ')) return 'image/jp2'
  }
  return null
}
