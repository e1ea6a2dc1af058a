// Central directory header of a ZIP entry (APPNOTE 4.3.12).
//   record = "PK\1\2" made-by:2 needed:2 flags:2 method:2 time:2 date:2 crc:4 packed:4 bytes:4
//            name-length:2 extra-length:2 comment-length:2 disk:2 internal:2 external:4 offset:4
//            name extra comment
//   extra  = { id:2 length:2 data }   1 = 64-bit sizes, 7075 = Unicode path, 9901 = AES
import { crc32 } from 'node:zlib'
import type { Entry } from '../container.ts'
import { decodeUtf8, normalizeName } from '../entry-name.ts'

export const LOCAL_HEADER = 0x04034b50
export const LOCAL_HEADER_BYTES = 30
export const DESCRIPTOR = 0x08074b50
export const CENTRAL_HEADER = 0x02014b50
export const CENTRAL_HEADER_BYTES = 46
export const END_RECORD = 0x06054b50
export const END_RECORD_BYTES = 22
export const ZIP64_END = 0x06064b50
export const ZIP64_END_BYTES = 56
export const ZIP64_LOCATOR = 0x07064b50
export const ZIP64_LOCATOR_BYTES = 20

export type ZipEntry = Entry & {
  /** The name as in the header, one character per byte. */
  storedName: string
  /** Whether `name` is still undecoded. */
  isUndecoded: boolean
  method: number
  flags: number
  /** Null if recovered from a local header without one. */
  crc: number | null
  /** Position of the local header in the file. */
  offset: number
  /** Expected bytes of name and extra field after the local header. */
  trailer: number
  /** The local header, once read, has the same `crc`. */
  isCrcInHeader?: boolean
}

const MAX32 = 0xffffffff
const UTF8 = 0x800
const hostSystems = { unix: 3, darwin: 19 }
const AES = 99

/** Flag bit 0 means any encryption (bit 6 strong encryption, bit 13 a masked header); method 99 is AES. */
export const isEncrypted = (entry: ZipEntry) => (entry.flags & 1) !== 0 || entry.method === AES

/** Length of the header at `at`, or 0 when it is incomplete. */
export function centralHeaderLength(bytes: Buffer, at: number): number {
  if (at + CENTRAL_HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== CENTRAL_HEADER)
    return 0
  const length =
    CENTRAL_HEADER_BYTES +
    bytes.readUInt16LE(at + 28) +
    bytes.readUInt16LE(at + 30) +
    bytes.readUInt16LE(at + 32)
  return at + length > bytes.length ? 0 : length
}

/**
 * Whether `bytes` start with a plausible header of the central directory or with a record that follows it.
 */
export function isDirectoryHeader(bytes: Buffer): boolean {
  const signature = bytes.readUInt32LE(0)
  if (signature === END_RECORD || signature === ZIP64_END) return true
  return centralHeaderLength(bytes, 0) > 0 && bytes[6]! <= 100 && bytes.readUInt16LE(28) > 0
}

/** The entry of a complete header, or null when it is a directory, link or device. */
export function readCentralHeader(bytes: Buffer, at: number, index: number): ZipEntry | null {
  const madeBy = bytes[at + 5]!
  const fileType = bytes[at + 41]! >> 4
  if (
    (madeBy === hostSystems.unix || madeBy === hostSystems.darwin) &&
    fileType !== 8 &&
    fileType !== 0
  )
    return null
  const flags = bytes.readUInt16LE(at + 8)
  const nameLength = bytes.readUInt16LE(at + 28)
  const extraLength = bytes.readUInt16LE(at + 30)
  const nameBytes = bytes.subarray(
    at + CENTRAL_HEADER_BYTES,
    at + CENTRAL_HEADER_BYTES + nameLength,
  )
  const entry: ZipEntry = {
    ...nameOf(nameBytes, flags),
    sizeBytes: bytes.readUInt32LE(at + 24),
    packedBytes: bytes.readUInt32LE(at + 20),
    index,
    method: bytes.readUInt16LE(at + 10),
    flags,
    crc: bytes.readUInt32LE(at + 16),
    offset: bytes.readUInt32LE(at + 42),
    trailer: nameLength + extraLength,
  }
  if (extraLength > 0) {
    const from = at + CENTRAL_HEADER_BYTES + nameLength
    applyExtraField(entry, bytes.subarray(from, from + extraLength), nameBytes)
  }
  return entry.name.endsWith('/') ? null : entry
}

/** The name of an entry, which `decodeNames` decodes unless its encoding is declared. */
export function nameOf(bytes: Buffer, flags: number) {
  const storedName = bytes.toString('latin1')
  const unicode = (flags & UTF8) === 0 ? null : decodeUtf8(storedName)
  return { storedName, name: unicode ?? storedName, isUndecoded: unicode === null }
}

/** Applies the ZIP64 sizes and the Unicode path of an extra field to the entry. */
export function applyExtraField(entry: ZipEntry, extra: Buffer, nameBytes: Buffer): void {
  let unicodePath: Buffer | null = null
  for (let at = 0; at + 4 <= extra.length; ) {
    const id = extra.readUInt16LE(at)
    const end = Math.min(extra.length, at + 4 + extra.readUInt16LE(at + 2))
    if (id === 1) applyZip64(entry, extra.subarray(at + 4, end))
    else if (id === 0x7075) unicodePath = extra.subarray(at + 4, end)
    at = end
  }
  // Applied once: a name may be as long as all extra fields, and there may be many of them.
  if (unicodePath && (entry.flags & UTF8) === 0) applyUnicodePath(entry, unicodePath, nameBytes)
}

// Only fields that are saturated in the header are present, in this order.
function applyZip64(entry: ZipEntry, data: Buffer) {
  let at = 0
  const next = (value32: number) => {
    if (value32 !== MAX32 || at + 8 > data.length) return value32
    at += 8
    return Number(data.readBigUInt64LE(at - 8))
  }
  entry.sizeBytes = next(entry.sizeBytes)
  entry.packedBytes = next(entry.packedBytes)
  entry.offset = next(entry.offset)
}

// A wrong checksum means that a tool renamed the entry without updating this field.
function applyUnicodePath(entry: ZipEntry, data: Buffer, nameBytes: Buffer) {
  if (data.length < 6 || data[0] !== 1 || data.readUInt32LE(1) !== crc32(nameBytes)) return
  entry.name = normalizeName(data.toString('utf8', 5))
  entry.isUndecoded = false
}
