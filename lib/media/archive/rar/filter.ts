// Filters of RAR 2.9 to 4 (RarVM programs). Archivers write only the standard programs, which are identified
// by length and checksum:
//   filter  = flags:1 length code     0x80 program number | 0x40 start + 258 | 0x20 length present
//             | 0x10 registers present | 8 data present; length = (flags & 7) + 1, 7 = byte + 7, 8 = two bytes
//   number  = 2 bits: 4, 8, 16 or 32 bits follow; 8 bits below 16 begin a small negative number
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../../base/errors.ts'
import { type BitReader, damaged, readBits } from './huffman.ts'

type FilterFunction = (bytes: Uint8Array, registers: readonly number[], offset: number) => void
type Program = { run: FilterFunction | null; length: number }
type Pending = { program: Program; start: number; length: number; registers: number[] }
export type FilterState = { programs: Program[]; last: number; pending: Pending[] }

export const createFilterState = (): FilterState => ({ programs: [], last: 0, pending: [] })

const MAX_PROGRAMS = 1024
const standardFilters: Record<string, FilterFunction> = {
  '29:0e06077d': decodeDelta,
  '53:ad576887': (bytes, _, offset) => decodeX86Calls(bytes, offset, 0xe8),
  '57:3cd7e57e': (bytes, _, offset) => decodeX86Calls(bytes, offset, 0xe9),
  '149:1c2c5dc8': decodeRgb,
}

/** Parses a filter that applies from output position `written`. Throws Unreadable. */
export function addFilter(filters: FilterState, next: () => number, written: number): void {
  const flags = next()
  let length = (flags & 7) + 1
  if (length === 7) length = next() + 7
  else if (length === 8) length = next() * 256 + next()
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i += 1) bytes[i] = next()
  const code: BitReader = { bytes, position: 0 }
  const { programs, pending } = filters
  if ((flags & 0x80) !== 0) {
    const number = readVmNumber(code)
    if (number === 0) programs.length = 0
    filters.last = Math.max(0, number - 1)
  }
  if (
    filters.last > programs.length ||
    filters.last > MAX_PROGRAMS ||
    pending.length > MAX_PROGRAMS * 8
  )
    throw damaged()
  const start = written + readVmNumber(code) + ((flags & 0x40) !== 0 ? 258 : 0)
  const previous = programs[filters.last]
  const size = (flags & 0x20) !== 0 ? readVmNumber(code) : (previous?.length ?? 0)
  const registers = [0, 0, 0, 0, size, 0, 0]
  const mask = (flags & 0x10) !== 0 ? readBits(code, 7) : 0
  for (let i = 0; i < 7; i += 1) if ((mask & (1 << i)) !== 0) registers[i] = readVmNumber(code)
  const program = previous ?? readProgram(code)
  program.length = size
  programs[filters.last] = program
  pending.push({ program, start, length: size, registers })
}

function readVmNumber(code: BitReader): number {
  const kind = readBits(code, 2)
  if (kind === 0) return readBits(code, 4)
  if (kind === 2) return readBits(code, 16)
  if (kind === 3) return readBits(code, 16) * 65_536 + readBits(code, 16)
  const value = readBits(code, 8)
  return value >= 16 ? value : (0xffffff00 | (value << 4) | readBits(code, 4)) >>> 0
}

function readProgram(code: BitReader): Program {
  const length = readVmNumber(code)
  if (length === 0 || length > code.bytes.length) throw damaged()
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i += 1) bytes[i] = readBits(code, 8)
  const key = `${length}:${crc32(bytes).toString(16).padStart(8, '0')}`
  return { run: standardFilters[key] ?? null, length: 0 }
}

/** Applies the filters of one file to its output. Throws Unreadable `unsupported_method`. */
export function applyFilters(filters: FilterState, out: Uint8Array): void {
  for (const { program, start, length, registers } of filters.pending) {
    if (program.run === null)
      throw new Unreadable('A filter in the archive is not supported', 'unsupported_method')
    if (start + length > out.length) throw damaged()
    program.run(out.subarray(start, start + length), registers, start)
  }
}

// Delta filter: one channel after another, as differences.
function decodeDelta(bytes: Uint8Array, registers: readonly number[]) {
  const channels = registers[0]!
  if (channels === 0 || channels > MAX_PROGRAMS) throw damaged()
  const source = bytes.slice()
  let at = 0
  for (let channel = 0; channel < channels; channel += 1) {
    let last = 0
    for (let i = channel; i < bytes.length; i += channels) {
      last = (last - source[at++]!) & 0xff
      bytes[i] = last
    }
  }
}

// x86 filter: absolute addresses of calls (E8) and jumps (E9) become relative ones.
function decodeX86Calls(bytes: Uint8Array, offset: number, upTo: number) {
  const size = 0x1000000
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = 0; i + 4 < bytes.length; ) {
    const opcode = bytes[i++]!
    if (opcode < 0xe8 || opcode > upTo) continue
    const at = offset + i
    const address = view.getInt32(i, true)
    if (address < 0) {
      if (address + at >= 0) view.setInt32(i, address + size, true)
    } else if (address < size) view.setInt32(i, address - at, true)
    i += 4
  }
}

// RGB filter: 24-bit pixels predicted from the left, upper and upper left pixel; green is subtracted from red and blue.
function decodeRgb(bytes: Uint8Array, registers: readonly number[]) {
  const width = registers[0]! - 3
  const red = registers[1]!
  if (width < 0 || red > 2) throw damaged()
  const source = bytes.slice()
  let at = 0
  for (let channel = 0; channel < 3; channel += 1) {
    let left = 0
    for (let i = channel; i < bytes.length; i += 3) {
      let guess = left
      if (i - width >= 3) {
        const up = bytes[i - width]!
        const corner = bytes[i - width - 3]!
        const plane = left + up - corner
        const [toLeft, toUp] = [Math.abs(plane - left), Math.abs(plane - up)]
        const toCorner = Math.abs(plane - corner)
        if (toLeft > toUp || toLeft > toCorner) guess = toUp <= toCorner ? up : corner
      }
      left = (guess - source[at++]!) & 0xff
      bytes[i] = left
    }
  }
  for (let i = red; i + 2 < bytes.length; i += 3) {
    bytes[i] = bytes[i]! + bytes[i + 1]!
    bytes[i + 2] = bytes[i + 2]! + bytes[i + 1]!
  }
}
