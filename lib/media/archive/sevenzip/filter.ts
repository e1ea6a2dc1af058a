// Branch and delta filters of 7z (BCJ x86, ARM, PowerPC, SPARC, RISC-V; delta; swap), applied in place to a
// whole stream. Algorithms from the LZMA SDK (Bra.c, Delta.c), public domain.
import type { Coder } from './header-reader.ts'

/** By coder id. */
export const filters: Readonly<Record<string, (bytes: Buffer, properties: Buffer) => void>> = {
  '03': delta,
  '020302': bytes => bytes.subarray(0, bytes.length & ~1).swap16(),
  '020304': bytes => bytes.subarray(0, bytes.length & ~3).swap32(),
  '03030103': x86,
  '03030205': powerPc,
  '03030501': arm,
  '03030701': armThumb,
  '03030805': sparc,
  '04': x86,
  '05': powerPc,
  '07': arm,
  '08': armThumb,
  '09': sparc,
  '0a': arm64,
  '0b': riscV,
}

export const isFilter = (coder: Coder) => Object.hasOwn(filters, coder.id)

function delta(bytes: Buffer, properties: Buffer) {
  const distance = (properties[0] ?? 0) + 1
  for (let i = distance; i < bytes.length; i += 1) bytes[i] = bytes[i]! + bytes[i - distance]!
}

function arm(bytes: Buffer) {
  for (let i = 0; i + 4 <= bytes.length; i += 4)
    if (bytes[i + 3] === 0xeb)
      bytes.writeUIntLE((bytes.readUIntLE(i, 3) - ((i + 8) >>> 2)) & 0xffffff, i, 3)
}

function armThumb(bytes: Buffer) {
  for (let i = 0; i + 4 <= bytes.length; i += 2) {
    const high = bytes.readUInt16LE(i)
    const low = bytes.readUInt16LE(i + 2)
    if (high >> 11 !== 0x1e || low >> 11 !== 0x1f) continue
    const target = (((high & 0x7ff) << 11) | (low & 0x7ff)) - ((i + 4) >>> 1)
    bytes.writeUInt16LE(0xf000 | ((target >> 11) & 0x7ff), i)
    bytes.writeUInt16LE(0xf800 | (target & 0x7ff), i + 2)
    i += 2
  }
}

function powerPc(bytes: Buffer) {
  for (let i = 0; i + 4 <= bytes.length; i += 4) {
    const word = bytes.readUInt32BE(i)
    if (word >>> 26 !== 0x12 || (word & 3) !== 1) continue
    bytes.writeUInt32BE((0x48000001 | ((word - i) & 0x03fffffc)) >>> 0, i)
  }
}

function sparc(bytes: Buffer) {
  for (let i = 0; i + 4 <= bytes.length; i += 4) {
    const word = bytes.readUInt32BE(i)
    if (word >>> 22 !== 0x100 && word >>> 22 !== 0x1ff) continue
    const target = ((word << 2) - i) >>> 2
    const sign = (target & 0x400000) !== 0 ? 0x3fc00000 : 0
    bytes.writeUInt32BE((0x40000000 | sign | (target & 0x3fffff)) >>> 0, i)
  }
}

function arm64(bytes: Buffer, properties: Buffer) {
  const base = properties.length >= 4 ? properties.readUInt32LE(0) : 0
  for (let i = 0; i + 4 <= bytes.length; i += 4) {
    const word = bytes.readUInt32LE(i)
    const at = base + i
    if (word >>> 26 === 0x25) {
      bytes.writeUInt32LE((0x94000000 | ((word - (at >>> 2)) & 0x3ffffff)) >>> 0, i)
    } else if ((word & 0x9f000000) >>> 0 === 0x90000000) {
      const page = ((word >>> 29) & 3) | ((word >>> 3) & 0x1ffffc)
      if (((page + 0x20000) & 0x1c0000) !== 0) continue
      const target = page - (at >>> 12)
      const sign = (target & 0x20000) !== 0 ? 0xe00000 : 0
      const moved = ((target & 3) << 29) | ((target & 0x3fffc) << 3) | sign
      bytes.writeUInt32LE(((word & 0x9000001f) | moved) >>> 0, i)
    }
  }
}

/**
 * Calls, and AUIPC paired with the next instruction; in filtered data addresses are absolute and big-endian.
 */
function riscV(bytes: Buffer, properties: Buffer) {
  const base = properties.length >= 4 ? properties.readUInt32LE(0) & ~1 : 0
  for (let i = 0; i + 8 <= bytes.length; ) {
    if (bytes[i] === 0xef) i += decodeRiscVCall(bytes, i, base + i)
    else if ((bytes[i]! & 0x7f) === 0x17) i += decodeRiscVPair(bytes, i, base + i)
    else i += 2
  }
}

// JAL with the return address in x1 or x5. The immediate holds bits 20 | 10-1 | 11 | 19-12 of the distance.
function decodeRiscVCall(bytes: Buffer, i: number, pc: number): number {
  const register = bytes[i + 1]! & 0x0f
  if ((register & 0x0d) !== 0) return 2
  const target = ((bytes[i + 1]! & 0xf0) << 13) | (bytes[i + 2]! << 9) | (bytes[i + 3]! << 1)
  const distance = target - pc
  const bits = (from: number, count: number) => (distance >> from) & ((1 << count) - 1)
  const immediate = (bits(20, 1) << 19) | (bits(1, 10) << 9) | (bits(11, 1) << 8) | bits(12, 8)
  bytes.writeUInt32LE(((immediate << 12) | (register << 8) | 0xef) >>> 0, i)
  return 4
}

const riscVRegister = (instruction: number, shift: number) => (instruction >>> shift) & 31
const isWide = (instruction: number) => (instruction & 3) === 3
const stackPointer = 2

// A filtered pair has x2 as its register, then the low 20 bits of the second instruction; its address
// follows. A pair that already looked like this is stored the other way around.
function decodeRiscVPair(bytes: Buffer, i: number, pc: number): number {
  const first = bytes.readUInt32LE(i)
  const second = bytes.readUInt32LE(i + 4)
  const register = riscVRegister(first, 7)
  if (register !== 0 && register !== stackPointer) {
    if (riscVRegister(second, 15) !== register || !isWide(second)) return 6
    bytes.writeUInt32LE(((second << 12) | (stackPointer << 7) | 0x17) >>> 0, i)
    bytes.writeUInt32LE(((first & 0xfffff000) + (second >>> 20)) >>> 0, i + 4)
    return 8
  }
  const base = first >>> 27
  const isFiltered = register === stackPointer && isWide(first >>> 12)
  if (!isFiltered || base === 0 || base === stackPointer) return 4
  const distance = (bytes.readUInt32BE(i + 4) - pc) | 0
  bytes.writeUInt32LE((((distance + 0x800) & 0xfffff000) | (base << 7) | 0x17) >>> 0, i)
  bytes.writeUInt32LE(((first >>> 12) | (distance << 20)) >>> 0, i + 4)
  return 8
}

const isSignByte = (byte: number) => byte === 0 || byte === 0xff

// `mask` records which of the last bytes could be opcodes, to distinguish addresses from other data.
function x86(bytes: Buffer) {
  let mask = 0
  let last = -5
  for (let i = 0; i + 5 <= bytes.length; ) {
    if ((bytes[i]! & 0xfe) !== 0xe8) {
      i += 1
      continue
    }
    const gap = i - last
    last = i
    mask = gap > 5 ? 0 : shiftMask(mask, gap)
    const top = bytes[i + 4]!
    const isAllowed = [0, 1, 2, 4].includes((mask >> 1) & 7) && mask >> 1 < 16
    if (isSignByte(top) && isAllowed) {
      bytes.writeUInt32LE(convertX86Address(bytes.readUInt32LE(i + 1), i + 5, mask), i + 1)
      i += 5
      mask = 0
    } else {
      i += 1
      mask |= isSignByte(top) ? 0x11 : 1
    }
  }
}

function shiftMask(mask: number, gap: number): number {
  for (let i = 0; i < gap; i += 1) mask = (mask & 0x77) << 1
  return mask
}

function convertX86Address(source: number, next: number, mask: number): number {
  let target = source - next
  while (mask !== 0) {
    const bit = [0, 1, 2, 2, 3, 3, 3, 3][mask >> 1]!
    if (!isSignByte((target >>> (24 - bit * 8)) & 0xff)) break
    target = (target ^ (2 ** (32 - bit * 8) - 1)) - next
  }
  return (((target & 0x1ffffff) << 7) >> 7) >>> 0
}
