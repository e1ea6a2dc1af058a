// Bits, highest first, and canonical prefix codes of RAR 2 to 4.
import { Unreadable } from '../../errors.ts'

/** Packed bytes; reads behind the end give zeros up to a few bytes, then throw. */
export type Bits = { bytes: Uint8Array; at: number }
/** A table of the next `width` bits: symbol and length, or a walk for the longer codes. */
export type Codes = {
  table: Uint16Array
  limits: Uint32Array
  firsts: Uint16Array
  symbols: Uint16Array
}

const LONGEST = 15
const WIDTH = 10
const OVERREAD = 64

export const damaged = () => new Unreadable('The file in the archive is damaged', 'bad_crc')

/** The next 16 bits without moving on; `at` counts bits. */
function peek16(input: Bits): number {
  const { bytes, at } = input
  const i = at >>> 3
  const three = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
  return (three >>> (8 - (at & 7))) & 0xffff
}

/** The next `count` bits, at most 16. */
export function take(input: Bits, count: number): number {
  const value = peek16(input) >>> (16 - count)
  input.at += count
  if (input.at > input.bytes.length * 8 + OVERREAD)
    throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
  return value
}

/** Codes from their lengths in bits; zero is unused. */
export function codes(lengths: Uint8Array): Codes {
  const counts = new Uint16Array(LONGEST + 2)
  for (const length of lengths) counts[length]! += 1
  counts[0] = 0
  const limits = new Uint32Array(LONGEST + 2)
  const firsts = new Uint16Array(LONGEST + 2)
  let code = 0
  for (let n = 1; n <= LONGEST; n += 1) {
    firsts[n + 1] = firsts[n]! + counts[n]!
    code += counts[n]! << (16 - n)
    limits[n] = code
  }
  const next = firsts.slice()
  const symbols = new Uint16Array(lengths.length)
  for (let symbol = 0; symbol < lengths.length; symbol += 1)
    if (lengths[symbol]! > 0) symbols[next[lengths[symbol]!]!++] = symbol
  const made = { table: new Uint16Array(1 << WIDTH), limits, firsts, symbols }
  fillTable(made)
  return made
}

// An entry is symbol * 16 + length; zero when the code is longer than the table.
function fillTable({ table, limits, firsts, symbols }: Codes) {
  let from = 0
  for (let n = 1; n <= WIDTH; n += 1) {
    const end = Math.min(limits[n]!, 1 << 16) >>> (16 - WIDTH)
    const step = 1 << (WIDTH - n)
    for (let index = firsts[n]!; from < end; index += 1) {
      table.fill((symbols[index]! << 4) | n, from, from + step)
      from += step
    }
  }
}

/** The next symbol. Throws Unreadable `bad_crc`, `truncated`. */
export function symbol(input: Bits, { table, limits, firsts, symbols }: Codes): number {
  const next = peek16(input)
  const entry = table[next >>> (16 - WIDTH)]!
  if (entry !== 0) {
    input.at += entry & 15
    if (input.at > input.bytes.length * 8 + OVERREAD) throw damaged()
    return entry >>> 4
  }
  for (let n = WIDTH + 1; n <= LONGEST; n += 1) {
    if (next >= limits[n]!) continue
    const found = symbols[firsts[n]! + ((next - limits[n - 1]!) >>> (16 - n))]
    if (found === undefined) throw damaged()
    input.at += n
    return found
  }
  throw damaged()
}
