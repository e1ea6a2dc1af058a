// Recovers the entries of a ZIP without a directory by walking its local headers (APPNOTE 4.3.7):
//   local      = "PK\3\4" needed:2 flags:2 method:2 time:2 date:2 crc:4 packed:4 bytes:4
//                name-length:2 extra-length:2 name extra
//   descriptor = "PK\7\8"? crc:4 packed:4|8 bytes:4|8      after the data, when flag bit 3 is set
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import { decodeName } from '../entry-name.ts'
import { readExtra, type ZipEntry } from './entry.ts'

export const LOCAL = 0x04034b50
export const LOCAL_BYTES = 30
const HAS_DESCRIPTOR = 8
const CHUNK = 256 * 1024
// A header is looked for this far at the beginning, to pass a split marker or a small prefix.
const SEARCH_START = 4096

/** Entries whose data is wholly in the file, in file order. Reads the file up to once. */
export function recoverEntries(file: File, limits: Limits): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = file.read(0, SEARCH_START).indexOf('PK\x03\x04', 0, 'latin1')
  for (let index = 0; at >= 0 && index < limits.entries; index += 1) {
    const header = file.read(at, LOCAL_BYTES)
    if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL) break
    const entry = readLocal(file, header, at, index)
    const from = at + LOCAL_BYTES + entry.trailer
    if ((entry.flags & HAS_DESCRIPTOR) !== 0 && entry.packed === 0) {
      const found = findEnd(file, from)
      if (found === null) break
      Object.assign(entry, { packed: found.packed, bytes: found.bytes, crc: found.crc })
      at = found.next
    } else {
      at = from + entry.packed
      if (at > file.size) break
      at = skipDescriptor(file, entry, at)
    }
    if (!entry.name.endsWith('/')) entries.push(entry)
  }
  return entries
}

function readLocal(file: File, header: Buffer, at: number, index: number): ZipEntry {
  const nameLength = header.readUInt16LE(26)
  const extraLength = header.readUInt16LE(28)
  const rest = file.read(at + LOCAL_BYTES, nameLength + extraLength)
  const nameBytes = rest.subarray(0, nameLength)
  const entry: ZipEntry = {
    name: decodeName(nameBytes),
    bytes: header.readUInt32LE(22),
    packed: header.readUInt32LE(18),
    index,
    method: header.readUInt16LE(8),
    flags: header.readUInt16LE(6),
    crc: header.readUInt32LE(14),
    offset: at,
    trailer: nameLength + extraLength,
  }
  readExtra(entry, rest.subarray(nameLength), nameBytes)
  entry.offset = at
  return entry
}

function skipDescriptor(file: File, entry: ZipEntry, at: number): number {
  if ((entry.flags & HAS_DESCRIPTOR) === 0) return at
  const near = file.read(at, 28)
  for (const length of [16, 12, 24, 20, 0])
    if (near.length >= length + 4 && near.readUInt32LE(length) === LOCAL) return at + length
  return at
}

type Found = { packed: number; bytes: number; crc: number | null; next: number }

// The end of data of unknown length: a descriptor that states exactly the distance walked, or the next header.
function findEnd(file: File, from: number): Found | null {
  const overlap = 24
  for (let start = from; start < file.size; start += CHUNK) {
    const chunk = file.read(start, CHUNK + overlap)
    for (let i = chunk.indexOf('PK'); i >= 0 && i < CHUNK; i = chunk.indexOf('PK', i + 1)) {
      const found = endAt(chunk, i, start + i - from)
      if (found !== null) return { ...found, next: start + i + found.next }
    }
  }
  return null
}

function endAt(chunk: Buffer, i: number, packed: number): Found | null {
  if (i + 4 > chunk.length) return null
  const signature = chunk.readUInt32LE(i)
  if (signature === 0x08074b50 && i + 16 <= chunk.length) {
    if (chunk.readUInt32LE(i + 8) === packed)
      return { packed, bytes: chunk.readUInt32LE(i + 12), crc: chunk.readUInt32LE(i + 4), next: 16 }
    const isWide = i + 24 <= chunk.length && chunk.readBigUInt64LE(i + 8) === BigInt(packed)
    if (!isWide) return null
    const bytes = Number(chunk.readBigUInt64LE(i + 16))
    return { packed, bytes, crc: chunk.readUInt32LE(i + 4), next: 24 }
  }
  // A descriptor without signature stands before the next header.
  if ((signature === LOCAL || signature === 0x02014b50) && i >= 12) {
    if (chunk.readUInt32LE(i - 8) === packed - 12) {
      const crc = chunk.readUInt32LE(i - 12)
      return { packed: packed - 12, bytes: chunk.readUInt32LE(i - 4), crc, next: 0 }
    }
  }
  return null
}
