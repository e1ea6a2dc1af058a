// Bit reader (MSB first) and canonical Huffman decoder of RAR 2 to 4.
import { Unreadable } from '../../../base/errors.ts'

/** Packed data and a position in bits. Reads past the end return zeros for a few bytes, then throw. */
export type BitReader = { bytes: Uint8Array; position: number }
/** Lookup table for codes of up to `TABLE_BITS` bits; longer codes are searched by length. */
export type HuffmanTable = {
  table: Uint16Array
  limits: Uint32Array
  firstIndexes: Uint16Array
  symbols: Uint16Array
}

const MAX_CODE_LENGTH = 15
const TABLE_BITS = 10
const OVERREAD_BITS = 64

export const damaged = () => new Unreadable('The file in the archive is damaged', 'bad_crc')

/** The next 16 bits, without advancing. */
function peek16(input: BitReader): number {
  const { bytes, position } = input
  const i = position >>> 3
  const three = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
  return (three >>> (8 - (position & 7))) & 0xffff
}

/** The next `count` bits, at most 16. */
export function readBits(input: BitReader, count: number): number {
  const value = peek16(input) >>> (16 - count)
  input.position += count
  if (input.position > input.bytes.length * 8 + OVERREAD_BITS)
    throw new Unreadable('The data of a file in the archive is truncated', 'truncated')
  return value
}

/** Builds the table from code lengths in bits; 0 marks an unused symbol. */
export function createHuffmanTable(lengths: Uint8Array): HuffmanTable {
  const counts = new Uint16Array(MAX_CODE_LENGTH + 2)
  for (const length of lengths) counts[length]! += 1
  counts[0] = 0
  const limits = new Uint32Array(MAX_CODE_LENGTH + 2)
  const firstIndexes = new Uint16Array(MAX_CODE_LENGTH + 2)
  let code = 0
  for (let n = 1; n <= MAX_CODE_LENGTH; n += 1) {
    firstIndexes[n + 1] = firstIndexes[n]! + counts[n]!
    code += counts[n]! << (16 - n)
    limits[n] = code
  }
  const next = firstIndexes.slice()
  const symbols = new Uint16Array(lengths.length)
  for (let symbol = 0; symbol < lengths.length; symbol += 1)
    if (lengths[symbol]! > 0) symbols[next[lengths[symbol]!]!++] = symbol
  const created = { table: new Uint16Array(1 << TABLE_BITS), limits, firstIndexes, symbols }
  fillTable(created)
  return created
}

// An entry is symbol * 16 + length; 0 when the code is longer than `TABLE_BITS`.
function fillTable({ table, limits, firstIndexes, symbols }: HuffmanTable) {
  let from = 0
  for (let n = 1; n <= TABLE_BITS; n += 1) {
    const end = Math.min(limits[n]!, 1 << 16) >>> (16 - TABLE_BITS)
    const step = 1 << (TABLE_BITS - n)
    for (let index = firstIndexes[n]!; from < end; index += 1) {
      table.fill((symbols[index]! << 4) | n, from, from + step)
      from += step
    }
  }
}

/** The next symbol. Throws Unreadable `bad_crc`, `truncated`. */
export function readSymbol(
  input: BitReader,
  { table, limits, firstIndexes, symbols }: HuffmanTable,
): number {
  const next = peek16(input)
  const entry = table[next >>> (16 - TABLE_BITS)]!
  if (entry !== 0) {
    input.position += entry & 15
    if (input.position > input.bytes.length * 8 + OVERREAD_BITS) throw damaged()
    return entry >>> 4
  }
  for (let n = TABLE_BITS + 1; n <= MAX_CODE_LENGTH; n += 1) {
    if (next >= limits[n]!) continue
    const decoded = symbols[firstIndexes[n]! + ((next - limits[n - 1]!) >>> (16 - n))]
    if (decoded === undefined) throw damaged()
    input.position += n
    return decoded
  }
  throw damaged()
}
