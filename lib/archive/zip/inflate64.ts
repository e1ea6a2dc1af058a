// Deflate64, which Windows uses for large files: deflate (RFC 1951) with a 64 KiB window, two more
// distance codes and length code 285 = 3 + 16 extra bits.
//   stream = { final:1 type:2 block }   0 stored, 1 fixed codes, 2 own codes
import { Unreadable } from '../../errors.ts'

type Input = { bytes: Buffer; at: number; hold: number; held: number }
/** `counts[n]` codes have n bits; `symbols` are in the order of their codes. */
type Codes = { counts: Uint16Array; symbols: Uint16Array }

const LONGEST = 15
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const lengthExtra = Array.from({ length: 29 }, (_, i) => (i < 8 ? 0 : (i >> 2) - 1))
lengthExtra[28] = 16
const lengthFirst = firsts(lengthExtra, 3)
lengthFirst[28] = 3
const distanceExtra = Array.from({ length: 32 }, (_, i) => (i < 4 ? 0 : (i >> 1) - 1))
const distanceFirst = firsts(distanceExtra, 1)
const fixedLengths = codes(
  Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
)
const fixedDistances = codes(new Array<number>(32).fill(5))

function firsts(extra: readonly number[], start: number): number[] {
  let next = start
  return extra.map(bits => (next += 1 << bits) - (1 << bits))
}

/** Unpacks exactly `size` bytes. Throws Unreadable `truncated`, `bad_crc`. */
export function inflate64(bytes: Buffer, size: number): Uint8Array {
  const input: Input = { bytes, at: 0, hold: 0, held: 0 }
  const out = new Uint8Array(size)
  let at = 0
  for (let isFinal = false; !isFinal && at < size; ) {
    isFinal = take(input, 1) === 1
    const type = take(input, 2)
    if (type === 0) at = copyStored(input, out, at)
    else if (type === 1)
      at = block(input, out, at, { lengths: fixedLengths, distances: fixedDistances })
    else if (type === 2) at = block(input, out, at, readCodes(input))
    else throw damaged()
  }
  if (at < size)
    throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
  return out
}

const damaged = () => new Unreadable('The file in the archive is damaged', 'bad_crc')

function take(input: Input, bits: number): number {
  while (input.held < bits) {
    if (input.at >= input.bytes.length)
      throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
    input.hold |= input.bytes[input.at]! << input.held
    input.at += 1
    input.held += 8
  }
  const value = input.hold & ((1 << bits) - 1)
  input.hold >>>= bits
  input.held -= bits
  return value
}

function codes(lengths: readonly number[]): Codes {
  const counts = new Uint16Array(LONGEST + 1)
  for (const length of lengths) counts[length]! += 1
  counts[0] = 0
  const next = new Uint16Array(LONGEST + 2)
  for (let n = 1; n <= LONGEST; n += 1) next[n + 1] = next[n]! + counts[n]!
  const symbols = new Uint16Array(lengths.length)
  for (const [symbol, length] of lengths.entries())
    if (length > 0) symbols[next[length]!++] = symbol
  return { counts, symbols }
}

// Canonical codes: walk the lengths until the code falls among those of its length.
function symbol(input: Input, { counts, symbols }: Codes): number {
  let code = 0
  let first = 0
  let index = 0
  for (let n = 1; n <= LONGEST; n += 1) {
    code |= take(input, 1)
    const count = counts[n]!
    if (code - count < first) return symbols[index + code - first]!
    index += count
    first = (first + count) << 1
    code <<= 1
  }
  throw damaged()
}

function readCodes(input: Input): { lengths: Codes; distances: Codes } {
  const lengthCount = take(input, 5) + 257
  const distanceCount = take(input, 5) + 1
  const orderCount = take(input, 4) + 4
  const meta = new Array<number>(19).fill(0)
  for (let i = 0; i < orderCount; i += 1) meta[lengthOrder[i]!] = take(input, 3)
  const metaCodes = codes(meta)
  const all: number[] = []
  while (all.length < lengthCount + distanceCount) {
    const value = symbol(input, metaCodes)
    if (value < 16) {
      all.push(value)
      continue
    }
    if (value === 16 && all.length === 0) throw damaged()
    const [repeated, count] =
      value === 16
        ? [all.at(-1)!, 3 + take(input, 2)]
        : [0, value === 17 ? 3 + take(input, 3) : 11 + take(input, 7)]
    for (let i = 0; i < count; i += 1) all.push(repeated)
  }
  const end = lengthCount + distanceCount
  return {
    lengths: codes(all.slice(0, lengthCount)),
    distances: codes(all.slice(lengthCount, end)),
  }
}

function copyStored(input: Input, out: Uint8Array, at: number): number {
  take(input, input.held & 7)
  const length = take(input, 16)
  if ((take(input, 16) ^ 0xffff) !== length) throw damaged()
  for (let i = 0; i < length && at < out.length; i += 1) out[at++] = take(input, 8)
  return at
}

function block(
  input: Input,
  out: Uint8Array,
  at: number,
  { lengths, distances }: { lengths: Codes; distances: Codes },
): number {
  while (at <= out.length) {
    const value = symbol(input, lengths)
    if (value === 256) return at
    if (value < 256) {
      if (at === out.length) break
      out[at++] = value
      continue
    }
    const extra = lengthExtra[value - 257]
    if (extra === undefined) throw damaged()
    const length = lengthFirst[value - 257]! + take(input, extra)
    const code = symbol(input, distances)
    const distance = distanceFirst[code]! + take(input, distanceExtra[code]!)
    if (distance > at || at + length > out.length) throw damaged()
    for (let end = at + length; at < end; at += 1) out[at] = out[at - distance]!
  }
  throw damaged()
}
