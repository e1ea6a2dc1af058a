// Filters of RAR 2.9 to 4. Each is a program for a small machine; every known archiver writes only the
// standard ones, which are told by their checksum:
//   filter  = flags:1 length code     0x80 number of the program | 0x40 start + 258 | 0x20 length given
//             | 0x10 registers given | 8 data given; length = (flags & 7) + 1, 7 = byte + 7, 8 = two bytes
//   number  = 2 bits: 4, 8, 16 or 32 bits follow; 8 bits below 16 begin a small negative number
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import { type Bits, damaged, take } from './bits.ts'

type Undo = (bytes: Uint8Array, registers: readonly number[], offset: number) => void
type Program = { undo: Undo | null; length: number }
type Pending = { program: Program; start: number; length: number; registers: number[] }
export type Filters = { programs: Program[]; last: number; pending: Pending[] }

export const newFilters = (): Filters => ({ programs: [], last: 0, pending: [] })

const MOST = 1024
const known: Record<string, Undo> = {
  '29:0e06077d': delta,
  '53:ad576887': (bytes, _, offset) => calls(bytes, offset, 0xe8),
  '57:3cd7e57e': (bytes, _, offset) => calls(bytes, offset, 0xe9),
  '149:1c2c5dc8': colours,
}

/** Reads a filter that applies from `made` on. Throws Unreadable. */
export function addFilter(filters: Filters, next: () => number, made: number): void {
  const flags = next()
  let length = (flags & 7) + 1
  if (length === 7) length = next() + 7
  else if (length === 8) length = next() * 256 + next()
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i += 1) bytes[i] = next()
  const code: Bits = { bytes, at: 0 }
  const { programs, pending } = filters
  if ((flags & 0x80) !== 0) {
    const at = number(code)
    if (at === 0) programs.length = 0
    filters.last = Math.max(0, at - 1)
  }
  if (filters.last > programs.length || filters.last > MOST || pending.length > MOST * 8)
    throw damaged()
  const start = made + number(code) + ((flags & 0x40) !== 0 ? 258 : 0)
  const known = programs[filters.last]
  const size = (flags & 0x20) !== 0 ? number(code) : (known?.length ?? 0)
  const registers = [0, 0, 0, 0, size, 0, 0]
  const mask = (flags & 0x10) !== 0 ? take(code, 7) : 0
  for (let i = 0; i < 7; i += 1) if ((mask & (1 << i)) !== 0) registers[i] = number(code)
  const program = known ?? readProgram(code)
  program.length = size
  programs[filters.last] = program
  pending.push({ program, start, length: size, registers })
}

function number(code: Bits): number {
  const kind = take(code, 2)
  if (kind === 0) return take(code, 4)
  if (kind === 2) return take(code, 16)
  if (kind === 3) return take(code, 16) * 65_536 + take(code, 16)
  const value = take(code, 8)
  return value >= 16 ? value : (0xffffff00 | (value << 4) | take(code, 4)) >>> 0
}

function readProgram(code: Bits): Program {
  const length = number(code)
  if (length === 0 || length > code.bytes.length) throw damaged()
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i += 1) bytes[i] = take(code, 8)
  const key = `${length}:${crc32(bytes).toString(16).padStart(8, '0')}`
  return { undo: known[key] ?? null, length: 0 }
}

/** Undoes the filters of one file. Throws Unreadable `unsupported_method`. */
export function applyFilters(filters: Filters, out: Uint8Array): void {
  for (const { program, start, length, registers } of filters.pending) {
    if (program.undo === null)
      throw new Unreadable('A filter in the archive is not supported', 'unsupported_method')
    if (start + length > out.length) throw damaged()
    program.undo(out.subarray(start, start + length), registers, start)
  }
}

// Channels one after the other, each as differences.
function delta(bytes: Uint8Array, registers: readonly number[]) {
  const channels = registers[0]!
  if (channels === 0 || channels > MOST) throw damaged()
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

// Absolute addresses of x86 calls (E8) and jumps (E9) back to relative ones.
function calls(bytes: Uint8Array, offset: number, upTo: number) {
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

// Pixels of three bytes, predicted from the left, the upper and the upper left one, green taken off.
function colours(bytes: Uint8Array, registers: readonly number[]) {
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
