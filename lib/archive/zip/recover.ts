// Recovery of ZIP entries without a central directory, by walking the local headers (APPNOTE 4.3.7).
//   local      = "PK\3\4" needed:2 flags:2 method:2 time:2 date:2 crc:4 packed:4 bytes:4
//                name-length:2 extra-length:2 name extra
//   descriptor = "PK\7\8"? crc:4 packed:4|8 bytes:4|8      after the data, when flag bit 3 is set
import type { File } from '../../file.ts'
import { decodeName } from '../entry-name.ts'
import type { Limits } from '../limits.ts'
import { applyExtraField, type ZipEntry } from './entry.ts'

export const LOCAL_HEADER = 0x04034b50
export const LOCAL_HEADER_BYTES = 30
const HAS_DESCRIPTOR = 8
const CHUNK_BYTES = 256 * 1024
// The first header is searched in this many bytes, to skip a split marker or a small prefix.
const SEARCH_BYTES = 4096

/** Entries whose data is completely in the file, in file order. Reads the file at most once. */
export function recoverEntries(file: File, limits: Limits): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = file.read(0, SEARCH_BYTES).indexOf('PK\x03\x04', 0, 'latin1')
  for (let index = 0; at >= 0 && index < limits.entries; index += 1) {
    const header = file.read(at, LOCAL_HEADER_BYTES)
    if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER) break
    const entry = readLocalHeader(file, header, at, index)
    const from = at + LOCAL_HEADER_BYTES + entry.trailer
    if ((entry.flags & HAS_DESCRIPTOR) !== 0 && entry.packedBytes === 0) {
      const end = findDataEnd(file, from)
      if (end === null) break
      Object.assign(entry, { packedBytes: end.packed, sizeBytes: end.bytes, crc: end.crc })
      at = end.next
    } else {
      at = from + entry.packedBytes
      if (at > file.size) break
      at = skipDescriptor(file, entry, at)
    }
    if (!entry.name.endsWith('/')) entries.push(entry)
  }
  return entries
}

function readLocalHeader(file: File, header: Buffer, at: number, index: number): ZipEntry {
  const nameLength = header.readUInt16LE(26)
  const extraLength = header.readUInt16LE(28)
  const rest = file.read(at + LOCAL_HEADER_BYTES, nameLength + extraLength)
  const nameBytes = rest.subarray(0, nameLength)
  const entry: ZipEntry = {
    name: decodeName(nameBytes),
    sizeBytes: header.readUInt32LE(22),
    packedBytes: header.readUInt32LE(18),
    index,
    method: header.readUInt16LE(8),
    flags: header.readUInt16LE(6),
    crc: header.readUInt32LE(14),
    offset: at,
    trailer: nameLength + extraLength,
  }
  applyExtraField(entry, rest.subarray(nameLength), nameBytes)
  entry.offset = at
  return entry
}

function skipDescriptor(file: File, entry: ZipEntry, at: number): number {
  if ((entry.flags & HAS_DESCRIPTOR) === 0) return at
  const following = file.read(at, 28)
  for (const length of [16, 12, 24, 20, 0])
    if (following.length >= length + 4 && following.readUInt32LE(length) === LOCAL_HEADER)
      return at + length
  return at
}

type DataEnd = { packed: number; bytes: number; crc: number | null; next: number }

// The end of data of unknown length: a data descriptor with exactly the distance walked, or the next header.
function findDataEnd(file: File, from: number): DataEnd | null {
  const overlap = 24
  for (let start = from; start < file.size; start += CHUNK_BYTES) {
    const chunk = file.read(start, CHUNK_BYTES + overlap)
    for (let i = chunk.indexOf('PK'); i >= 0 && i < CHUNK_BYTES; i = chunk.indexOf('PK', i + 1)) {
      const dataEnd = dataEndAt(chunk, i, start + i - from)
      if (dataEnd !== null) return { ...dataEnd, next: start + i + dataEnd.next }
    }
  }
  return null
}

function dataEndAt(chunk: Buffer, i: number, packed: number): DataEnd | null {
  if (i + 4 > chunk.length) return null
  const signature = chunk.readUInt32LE(i)
  if (signature === 0x08074b50 && i + 16 <= chunk.length) {
    if (chunk.readUInt32LE(i + 8) === packed)
      return { packed, bytes: chunk.readUInt32LE(i + 12), crc: chunk.readUInt32LE(i + 4), next: 16 }
    const isZip64 = i + 24 <= chunk.length && chunk.readBigUInt64LE(i + 8) === BigInt(packed)
    if (!isZip64) return null
    const bytes = Number(chunk.readBigUInt64LE(i + 16))
    return { packed, bytes, crc: chunk.readUInt32LE(i + 4), next: 24 }
  }
  // A descriptor without signature directly precedes the next header.
  if ((signature === LOCAL_HEADER || signature === 0x02014b50) && i >= 12) {
    if (chunk.readUInt32LE(i - 8) === packed - 12) {
      const crc = chunk.readUInt32LE(i - 12)
      return { packed: packed - 12, bytes: chunk.readUInt32LE(i - 4), crc, next: 0 }
    }
  }
  return null
}
