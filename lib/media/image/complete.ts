// Checks by structure alone, without decoding, whether an image is complete: enough to send a page unchanged. And the end of
// an image in its file: what decoders read, without bytes that follow it.
// png:  valid header, chunks with correct checksums up to IEND, as much data as the pixels can be packed into
// jpeg: segments with their tables, scans up to the end marker
//   DQT: (u4 precision u4 id, 64 or 128 bytes)*; DHT: (u4 class u4 id, 16 counts, values)*
//   SOF: u8 depth, u16 height, u16 width, u8 components, (u8 id, u4 u4 sampling, u8 quantization table)*
//   SOS: u8 components, (u8 id, u4 DC u4 AC Huffman table)*, u8 start, u8 end, u4 u4 approximation
import { crc32 } from 'node:zlib'
import { readBoxes } from './isobmff.ts'
import { matchesAt, u16be, u32be, u32le } from './primitives.ts'

/** Whether the structure is complete; also false for formats whose structure is not conclusive. Never throws. */
export function isComplete(bytes: Uint8Array, mediaType: string): boolean {
  if (mediaType === 'image/jpeg') return isCompleteJpeg(bytes)
  return mediaType === 'image/png' && isCompletePng(bytes)
}

// Bit depths by color type.
const depths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const channelsOf: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
// The highest compression of deflate.
const maxRatio = 1032

function isCompletePng(b: Uint8Array): boolean {
  if (!matchesAt(b, 12, 'IHDR') || u32be(b, 8) !== 13) return false
  const [width, height] = [u32be(b, 16), u32be(b, 20)]
  const [depth, color, compression, filter, interlace] = b.subarray(24, 29)
  const isValid = depths[color!]?.includes(depth!) && compression === 0 && filter === 0
  if (!isValid || interlace! > 1 || width === 0 || height === 0) return false
  let dataBytes = 0
  let hasPalette = false
  for (let at = 8; at + 12 <= b.length; ) {
    const length = u32be(b, at)
    const end = at + 12 + length
    if (end > b.length || crc32(b.subarray(at + 4, end - 4)) !== u32be(b, end - 4)) return false
    if (matchesAt(b, at + 4, 'PLTE')) hasPalette = true
    else if (matchesAt(b, at + 4, 'IDAT')) {
      // CMF and FLG of zlib: deflate, together a multiple of 31.
      if (dataBytes === 0 && ((b[at + 8]! & 15) !== 8 || u16be(b, at + 8) % 31 !== 0)) return false
      dataBytes += length
    } else if (matchesAt(b, at + 4, 'IEND')) {
      const rawBytes = ((width * channelsOf[color!]! * depth!) / 8) * height
      return dataBytes * maxRatio >= rawBytes && dataBytes > 0 && (color !== 3 || hasPalette)
    }
    at = end
  }
  return false
}

type Frame = { isProgressive: boolean; blocks: number; components: Map<number, number> }

type Structure = {
  frame: Frame | null
  /** Ids of the tables defined so far; Huffman tables as class * 16 + id. */
  quantization: Set<number>
  huffman: Set<number>
  dataBytes: number
}

/**
 * Whether the JPEG has everything that decoding needs, with at least one bit per block. Also false for rare
 * kinds (arithmetic or lossless coding). Never throws.
 */
function isCompleteJpeg(bytes: Uint8Array): boolean {
  const b = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const found: Structure = {
    frame: null,
    quantization: new Set(),
    huffman: new Set(),
    dataBytes: 0,
  }
  for (let at = 2; at + 2 <= b.length && b[at] === 0xff; ) {
    const marker = b[at + 1]!
    if (marker === 0xff) at += 1
    else if (marker === 0xd9) return isEnough(found)
    else {
      const end = at + 2 + u16be(b, at + 2)
      if (end > b.length || !addSegment(found, marker, b.subarray(at + 4, end))) return false
      at = end
      if (marker !== 0xda) continue
      at = findMarker(b, end)
      found.dataBytes += at - end
    }
  }
  return false
}

// In a baseline JPEG a block takes at least one bit; progressive scans have codes for runs of blocks.
const isEnough = ({ frame, dataBytes }: Structure) =>
  frame !== null && dataBytes > 0 && (frame.isProgressive || dataBytes * 8 >= frame.blocks)

/** Offset of the next marker in entropy-coded data, where FF is followed by 00 or a restart marker. */
function findMarker(b: Buffer, from: number): number {
  for (let at = b.indexOf(0xff, from); at >= 0; at = b.indexOf(0xff, at + 1)) {
    const next = b[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  return b.length
}

function addSegment(found: Structure, marker: number, body: Buffer): boolean {
  if (marker === 0xdb) return addQuantization(found, body)
  if (marker === 0xc4) return addHuffman(found, body)
  if (marker >= 0xc0 && marker <= 0xc2) return addFrame(found, body, marker === 0xc2)
  if (marker === 0xda) return isScan(found, body)
  // Restart interval, APPn, comment.
  return marker === 0xdd || (marker & 0xf0) === 0xe0 || marker === 0xfe
}

function addQuantization({ quantization }: Structure, body: Buffer): boolean {
  let at = 0
  while (at < body.length) {
    const [precision, id] = [body[at]! >> 4, body[at]! & 15]
    if (precision > 1 || id > 3) return false
    quantization.add(id)
    at += 1 + 64 * (precision + 1)
  }
  return at === body.length
}

function addHuffman({ huffman }: Structure, body: Buffer): boolean {
  let at = 0
  while (at < body.length) {
    const [kind, id] = [body[at]! >> 4, body[at]! & 15]
    if (kind > 1 || id > 3) return false
    let [values, code] = [0, 0]
    for (let length = 1; length <= 16; length++) {
      const count = body[at + length] ?? 0
      values += count
      code += count
      // More codes than fit in this length.
      if (code > 2 ** length) return false
      code *= 2
    }
    if (values > 256) return false
    // A DC value is the number of bits of a difference.
    const isDc = kind === 0
    if (isDc && body.subarray(at + 17, at + 17 + values).some(value => value > 15)) return false
    huffman.add(body[at]!)
    at += 17 + values
  }
  return at === body.length
}

function addFrame(found: Structure, body: Buffer, isProgressive: boolean): boolean {
  const [height, width, count] = [u16be(body, 1), u16be(body, 3), body[5] ?? 0]
  const isKnown = [1, 3, 4].includes(count) && body.length === 6 + 3 * count && body[0] === 8
  if (found.frame || !isKnown || width === 0 || height === 0) return false
  const components = new Map<number, number>()
  for (let at = 6; at < body.length; at += 3) {
    const [across, down] = [body[at + 1]! >> 4, body[at + 1]! & 15]
    if (![1, 2, 4].includes(across) || ![1, 2, 4].includes(down)) return false
    components.set(body[at]!, body[at + 2]!)
  }
  if (components.size !== count) return false
  found.frame = { isProgressive, blocks: Math.floor((width * height) / 64), components }
  return true
}

function isScan({ frame, quantization, huffman }: Structure, body: Buffer): boolean {
  const count = body[0] ?? 0
  if (!frame || count === 0 || count > 4 || body.length !== 4 + 2 * count) return false
  const [start, end] = [body[1 + 2 * count]!, body[2 + 2 * count]!]
  if (start > end || end > 63) return false
  if (!frame.isProgressive && (start !== 0 || end !== 63 || body.at(-1) !== 0)) return false
  const [high, low] = [body.at(-1)! >> 4, body.at(-1)! & 15]
  if (low > 13 || (high !== 0 && high !== low + 1)) return false
  // A refinement of DC coefficients has no codes; one of AC coefficients belongs to a single component.
  const needsDc = start === 0 && high === 0
  if (frame.isProgressive && ((start === 0 && end !== 0) || (start > 0 && count > 1))) return false
  for (let at = 1; at < 1 + 2 * count; at += 2) {
    const table = frame.components.get(body[at]!)
    if (table === undefined || !quantization.has(table)) return false
    const [dc, ac] = [body[at + 1]! >> 4, body[at + 1]! & 15]
    if (needsDc && !huffman.has(dc)) return false
    if (end > 0 && !huffman.has(16 + ac)) return false
  }
  return true
}

/**
 * Bytes up to the end of the image; everything if the format has no end marker or the structure is damaged.
 * Never throws.
 */
export function imageEnd(bytes: Uint8Array, mediaType: string): number {
  const end = readers[mediaType]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) ?? 0
  return end > 0 && end < bytes.length ? end : bytes.length
}

/** Null if there is no end. */
const readers: Record<string, (b: Buffer) => number | null> = {
  'image/jpeg': jpegEnd,
  'image/png': pngEnd,
  'image/gif': gifEnd,
  'image/webp': b => 8 + u32le(b, 4) + (u32le(b, 4) & 1),
  'image/avif': boxesEnd,
  'image/heic': boxesEnd,
  'image/jp2': boxesEnd,
  'image/jxl': boxesEnd,
}

function jpegEnd(b: Buffer): number | null {
  for (let at = 2; at + 2 <= b.length; ) {
    const marker = b[at + 1]!
    // Skips stray and fill bytes between segments, as every decoder does.
    if (b[at] !== 0xff || marker === 0xff) at += 1
    else if (marker === 0xd9) return at + 2
    else if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else {
      at += 2 + Math.max(2, u16be(b, at + 2))
      if (marker === 0xda) at = findMarker(b, at)
    }
  }
  return null
}

function pngEnd(b: Buffer): number | null {
  for (let at = 8; at + 12 <= b.length; at += 12 + u32be(b, at))
    if (matchesAt(b, at + 4, 'IEND')) return at + 12
  return null
}

// gif: header, u16 width, u16 height, u8 flags, u8, u8, [palette], block*, 3B; block: 2C u16 × 4, u8 flags,
// [palette], u8, data or 21 u8 data; data: (u8 length, bytes)*, 0; a palette has 3 * 2 ** ((flags & 7) + 1) bytes
function gifEnd(b: Buffer): number | null {
  const palette = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let at = 13 + palette(b[10] ?? 0)
  while (at < b.length) {
    if (b[at] === 0x3b) return at + 1
    if (b[at] === 0x2c) at += 11 + palette(b[at + 9] ?? 0)
    else if (b[at] === 0x21) at += 2
    else return null
    while (at < b.length && b[at] !== 0) at += 1 + b[at]!
    at += 1
  }
  return null
}

const boxTypes = new Set(
  'ftyp meta mdat moov free skip uuid idat Exif xml jp2h jp2c JXL jxlc jxlp jxll jbrd brob jP'.split(
    ' ',
  ),
)

function boxesEnd(b: Buffer): number | null {
  let end = 0
  for (const box of readBoxes(b, 0, b.length)) {
    if (!boxTypes.has(box.type.trim())) break
    end = box.to
  }
  return end
}
