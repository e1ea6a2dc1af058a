// Images in ISO boxes: AVIF, HEIC, JPEG 2000; and the walk over boxes that JPEG XL uses too.
// box:  u32 size, type, [u64 size when size is 1], payload; size 0 reaches to the end
// heif: ftyp meta; meta: u32 version, pitm (primary item), iprp(ipco(property*) ipma)
// ipma: u32 version, u32 items, item*: id, u8 count, (essential bit + property number)*
// ispe: u32 version, u32 width, u32 height; irot: u8 quarter turns; clap: u32 width /, height /, …
// jp2:  jP ftyp jp2h(ihdr: u32 height, u32 width) jp2c(codestream)
import { isAt, u16be, u32be } from './bytes.ts'
import { readJ2k } from './raster.ts'
import { type Answer, displayed, type Size } from './size.ts'

/** `from` and `to` bound the payload; `to` may lie beyond the bytes at hand. */
export type Box = { type: string; from: number; to: number }

// A real file has tens; a hostile one must not keep us.
const maxBoxes = 4096

/** The boxes whose headers lie in `b` between `from` and `to`. */
export function* boxes(b: Uint8Array, from: number, to: number): Generator<Box> {
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

/** The first box of `type`; when it is not whole in `b`, the byte count that must be seen. */
function findWhole(b: Uint8Array, type: string, within: { from: number; to: number }) {
  let end = within.from
  for (const box of boxes(b, within.from, within.to)) {
    if (box.type === type) return box.to > b.length ? box.to : box
    end = box.to
  }
  return end > b.length - 8 && end < within.to ? end + 64 : null
}

export function readHeif(b: Uint8Array): Answer {
  const meta = findWhole(b, 'meta', { from: 0, to: Infinity })
  if (meta === null || typeof meta === 'number') return meta
  const parts = new Map([...boxes(b, meta.from + 4, meta.to)].map(box => [box.type, box]))
  const iprp = parts.get('iprp')
  if (!iprp) return null
  const pitm = parts.get('pitm')
  const primary = pitm ? (b[pitm.from] === 0 ? u16be : u32be)(b, pitm.from + 4) : null
  const inner = [...boxes(b, iprp.from, iprp.to)]
  const ipco = inner.find(box => box.type === 'ipco')
  const ipma = inner.find(box => box.type === 'ipma')
  if (!ipco) return null
  const properties = [...boxes(b, ipco.from, ipco.to)]
  const wanted = ipma && primary !== null ? propertiesOf(b, ipma, primary) : []
  const own = wanted.flatMap(number => properties[number - 1] ?? [])
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
    // A crop is a pair of fractions; libheif rounds them to whole pixels as well.
    if (type !== 'clap') continue
    width = Math.min(width, Math.round(u32be(b, from) / u32be(b, from + 4)) || width)
    height = Math.min(height, Math.round(u32be(b, from + 8) / u32be(b, from + 12)) || height)
  }
  return displayed(width, height)
}

export function readJp2(b: Uint8Array): Answer {
  if (b[0] === 0xff) return readJ2k(b)
  const header = findWhole(b, 'jp2h', { from: 0, to: Infinity })
  if (header === null || typeof header === 'number') return header
  const ihdr = findWhole(b, 'ihdr', header)
  if (ihdr === null || typeof ihdr === 'number') return null
  return displayed(u32be(b, ihdr.from + 4), u32be(b, ihdr.from))
}

const avifBrands = ['avif', 'avis']
const heicBrands = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs']

/** Media type by the brands of a leading `ftyp` box, or null. */
export function sniffBrand(b: Uint8Array): string | null {
  const end = Math.min(u32be(b, 0), b.length, 256)
  // The major brand stands at 8, a version at 12, compatible brands from 16 on.
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) {
    if (avifBrands.some(brand => isAt(b, at, brand))) return 'image/avif'
    if (heicBrands.some(brand => isAt(b, at, brand))) return 'image/heic'
    if (isAt(b, at, 'jp2 ') || isAt(b, at, 'jpx ')) return 'image/jp2'
  }
  return null
}
