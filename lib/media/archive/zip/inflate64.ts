// Deflate64 decompressor (Windows uses it for large files): deflate (RFC 1951) with a 64 KiB window, two
// more distance codes and length code 285 = 3 + 16 extra bits.
//   stream = { final:1 type:2 block }   0 stored, 1 fixed codes, 2 dynamic codes
import { Unreadable } from '../../../base/errors.ts'

type BitReader = { bytes: Buffer; position: number; bitBuffer: number; bitCount: number }
/** Canonical Huffman code: `counts[n]` codes have n bits; `symbols` are in code order. */
type HuffmanTable = { counts: Uint16Array; symbols: Uint16Array }

const MAX_CODE_LENGTH = 15
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const lengthExtra = Array.from({ length: 29 }, (_, i) => (i < 8 ? 0 : (i >> 2) - 1))
lengthExtra[28] = 16
const lengthBase = baseValues(lengthExtra, 3)
lengthBase[28] = 3
const distanceExtra = Array.from({ length: 32 }, (_, i) => (i < 4 ? 0 : (i >> 1) - 1))
const distanceBase = baseValues(distanceExtra, 1)
const fixedLengths = createHuffmanTable(
  Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
)
const fixedDistances = createHuffmanTable(new Array<number>(32).fill(5))

function baseValues(extra: readonly number[], start: number): number[] {
  let next = start
  return extra.map(bits => (next += 1 << bits) - (1 << bits))
}

/** Decompresses exactly `size` bytes. Throws Unreadable `truncated`, `bad_crc`. */
export function inflate64(bytes: Buffer, size: number): Uint8Array {
  const input: BitReader = { bytes, position: 0, bitBuffer: 0, bitCount: 0 }
  const out = new Uint8Array(size)
  let at = 0
  for (let isFinal = false; !isFinal && at < size; ) {
    isFinal = readBits(input, 1) === 1
    const type = readBits(input, 2)
    if (type === 0) at = copyStored(input, out, at)
    else if (type === 1)
      at = inflateBlock(input, out, at, { lengths: fixedLengths, distances: fixedDistances })
    else if (type === 2) at = inflateBlock(input, out, at, readDynamicTables(input))
    else throw damaged()
  }
  if (at < size)
    throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
  return out
}

const damaged = () => new Unreadable('The file in the archive is damaged', 'bad_crc')

function readBits(input: BitReader, bits: number): number {
  while (input.bitCount < bits) {
    if (input.position >= input.bytes.length)
      throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
    input.bitBuffer |= input.bytes[input.position]! << input.bitCount
    input.position += 1
    input.bitCount += 8
  }
  const value = input.bitBuffer & ((1 << bits) - 1)
  input.bitBuffer >>>= bits
  input.bitCount -= bits
  return value
}

function createHuffmanTable(lengths: readonly number[]): HuffmanTable {
  const counts = new Uint16Array(MAX_CODE_LENGTH + 1)
  for (const length of lengths) counts[length]! += 1
  counts[0] = 0
  const next = new Uint16Array(MAX_CODE_LENGTH + 2)
  for (let n = 1; n <= MAX_CODE_LENGTH; n += 1) next[n + 1] = next[n]! + counts[n]!
  const symbols = new Uint16Array(lengths.length)
  for (const [symbol, length] of lengths.entries())
    if (length > 0) symbols[next[length]!++] = symbol
  return { counts, symbols }
}

// Increases the code length until the code matches one of that length.
function readSymbol(input: BitReader, { counts, symbols }: HuffmanTable): number {
  let code = 0
  let first = 0
  let index = 0
  for (let n = 1; n <= MAX_CODE_LENGTH; n += 1) {
    code |= readBits(input, 1)
    const count = counts[n]!
    if (code - count < first) return symbols[index + code - first]!
    index += count
    first = (first + count) << 1
    code <<= 1
  }
  throw damaged()
}

function readDynamicTables(input: BitReader): { lengths: HuffmanTable; distances: HuffmanTable } {
  const lengthCount = readBits(input, 5) + 257
  const distanceCount = readBits(input, 5) + 1
  const orderCount = readBits(input, 4) + 4
  const meta = new Array<number>(19).fill(0)
  for (let i = 0; i < orderCount; i += 1) meta[lengthOrder[i]!] = readBits(input, 3)
  const metaCodes = createHuffmanTable(meta)
  const all: number[] = []
  while (all.length < lengthCount + distanceCount) {
    const value = readSymbol(input, metaCodes)
    if (value < 16) {
      all.push(value)
      continue
    }
    if (value === 16 && all.length === 0) throw damaged()
    const [repeated, count] =
      value === 16
        ? [all.at(-1)!, 3 + readBits(input, 2)]
        : [0, value === 17 ? 3 + readBits(input, 3) : 11 + readBits(input, 7)]
    for (let i = 0; i < count; i += 1) all.push(repeated)
  }
  const end = lengthCount + distanceCount
  return {
    lengths: createHuffmanTable(all.slice(0, lengthCount)),
    distances: createHuffmanTable(all.slice(lengthCount, end)),
  }
}

function copyStored(input: BitReader, out: Uint8Array, at: number): number {
  readBits(input, input.bitCount & 7)
  const length = readBits(input, 16)
  if ((readBits(input, 16) ^ 0xffff) !== length) throw damaged()
  for (let i = 0; i < length && at < out.length; i += 1) out[at++] = readBits(input, 8)
  return at
}

function inflateBlock(
  input: BitReader,
  out: Uint8Array,
  at: number,
  { lengths, distances }: { lengths: HuffmanTable; distances: HuffmanTable },
): number {
  while (at <= out.length) {
    const value = readSymbol(input, lengths)
    if (value === 256) return at
    if (value < 256) {
      if (at === out.length) break
      out[at++] = value
      continue
    }
    const extra = lengthExtra[value - 257]
    if (extra === undefined) throw damaged()
    const length = lengthBase[value - 257]! + readBits(input, extra)
    const code = readSymbol(input, distances)
    const distance = distanceBase[code]! + readBits(input, distanceExtra[code]!)
    if (distance > at || at + length > out.length) throw damaged()
    for (let end = at + length; at < end; at += 1) out[at] = out[at - distance]!
  }
  throw damaged()
}
