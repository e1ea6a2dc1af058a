// Recovery of ZIP entries without a central directory, or with wrong offsets in it, by walking the local headers (APPNOTE 4.3.7).
//   local      = "PK\3\4" needed:2 flags:2 method:2 time:2 date:2 crc:4 packed:4 bytes:4
//                name-length:2 extra-length:2 name extra
//   descriptor = "PK\7\8"? crc:4 packed:4|8 bytes:4|8      after the data, when flag bit 3 is set
import type { File } from '../../../base/file.ts'
import type { Limits } from '../limits.ts'
import {
  applyExtraField,
  DESCRIPTOR,
  END_RECORD,
  END_RECORD_BYTES,
  isDirectoryHeader,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  nameOf,
  type ZipEntry,
} from './entry.ts'

const HAS_DESCRIPTOR = 8
const CHUNK_BYTES = 256 * 1024
// How far to search for the first header if the file does not begin with one.
const maxPrefixBytes = 16 * 1024 * 1024
const maxNameBytes = 4096
const maxMethod = 99
const maxVersion = 100
// A hostile file may have a signature everywhere.
const minBudgetBytes = 64 * 1024 * 1024
const PROBE_BYTES = LOCAL_HEADER_BYTES + maxNameBytes

/** The file, and how many bytes searches in it may still read. */
type Source = { file: File; budget: number }

/** What a walk over the local headers finds, in file order. */
export type Recovery = {
  /** Entries whose data is in the file, possibly damaged. */
  entries: ZipEntry[]
  /** Ranges of entry data, including that of an incomplete entry at the end of the file. */
  ranges: { from: number; to: number }[]
}

/**
 * Walks the local headers. If a header does not directly follow the previous entry, bytes are missing or were
 * inserted, and the next header is searched for. Headers inside a nested, stored ZIP are data. Reads at most
 * a small multiple of the file size.
 */
export function recoverEntries(file: File, limits: Limits): Recovery {
  const recovery: Recovery = { entries: [], ranges: [] }
  const source: Source = { file, budget: minBudgetBytes + file.size * 4 }
  let at = findHeader(source, 0, maxPrefixBytes)?.local ?? null
  for (let index = 0; at !== null && index < limits.entries; index += 1) {
    const entry = readLocalEntry(file, at, index)
    if (entry === null) break
    const from = at + LOCAL_HEADER_BYTES + entry.trailer
    const next = nextHeader(source, entry, from)
    recovery.ranges.push({ from, to: next?.at ?? file.size })
    if (next === null) break
    if (!entry.name.endsWith('/')) recovery.entries.push(entry)
    at = next.local
  }
  return recovery
}

/** The entry of a local header; null if there is none at this position. */
function readLocalEntry(file: File, at: number, index: number): ZipEntry | null {
  if (at < 0) return null
  const header = file.read(at, LOCAL_HEADER_BYTES)
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER) return null
  const nameLength = header.readUInt16LE(26)
  const extraLength = header.readUInt16LE(28)
  const rest = file.read(at + LOCAL_HEADER_BYTES, nameLength + extraLength)
  const nameBytes = rest.subarray(0, nameLength)
  const flags = header.readUInt16LE(6)
  const entry: ZipEntry = {
    ...nameOf(nameBytes, flags),
    sizeBytes: header.readUInt32LE(22),
    packedBytes: header.readUInt32LE(18),
    index,
    method: header.readUInt16LE(8),
    flags,
    crc: header.readUInt32LE(14),
    offset: at,
    trailer: nameLength + extraLength,
  }
  applyExtraField(entry, rest.subarray(nameLength), nameBytes)
  entry.offset = at
  return entry
}

/** Position of a header; `local` is the same, or null for a central directory header, where the walk ends. */
type Header = { at: number; local: number | null }

/**
 * The header after the data of `entry`, whose sizes are completed from its descriptor; null at the end of the
 * file.
 */
function nextHeader(source: Source, entry: ZipEntry, from: number): Header | null {
  const { file } = source
  const isNested = entry.method === 0 && signatureAt(file, from) === LOCAL_HEADER
  if (!hasUnknownSize(entry)) {
    const end = from + entry.packedBytes
    const following = end <= file.size ? headerAfterData(file, entry, end) : null
    if (following !== null) return following
    // The data is complete up to the end of the file: only the directory is missing.
    if (end === file.size) return { at: end, local: null }
    const next = findHeader(source, isNested ? skipNested(source, from) : from)
    if (next !== null || end > file.size) return next
    return { at: end, local: null }
  }
  const next = findDescribedEnd(source, entry, { from, isNested })
  if (next !== null || !isNested) return next
  const header = findHeader(source, skipNested(source, from))
  if (header !== null) entry.packedBytes = header.at - from
  return header
}

const hasUnknownSize = ({ flags, packedBytes }: ZipEntry) =>
  (flags & HAS_DESCRIPTOR) !== 0 && packedBytes === 0

function headerAfterData(file: File, { flags }: ZipEntry, end: number): Header | null {
  const lengths = (flags & HAS_DESCRIPTOR) === 0 ? [0] : [16, 12, 24, 20, 0]
  for (const length of lengths) {
    const header = headerAt(file, end + length)
    if (header !== null) return header
  }
  return null
}

function signatureAt(file: File, at: number): number {
  const bytes = file.read(at, 4)
  return bytes.length < 4 ? 0 : bytes.readUInt32LE(0)
}

/** The header at a position, if plausible: the signature alone also occurs in compressed data. */
function headerAt(file: File, at: number): Header | null {
  const bytes = file.read(at, LOCAL_HEADER_BYTES + maxNameBytes)
  if (bytes.length < 4) return null
  if (isDirectoryHeader(bytes)) return { at, local: null }
  return isLocalHeader(bytes) ? { at, local: at } : null
}

function isLocalHeader(bytes: Buffer): boolean {
  if (bytes.length < LOCAL_HEADER_BYTES || bytes.readUInt32LE(0) !== LOCAL_HEADER) return false
  const nameLength = bytes.readUInt16LE(26)
  const name = bytes.subarray(LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + nameLength)
  return (
    bytes[4]! <= maxVersion &&
    bytes.readUInt16LE(8) <= maxMethod &&
    nameLength > 0 &&
    name.length === Math.min(nameLength, maxNameBytes) &&
    name.every(byte => byte >= 0x20)
  )
}

/** The first plausible header at or after a position; finds nothing if `from` is null. */
function findHeader(source: Source, from: number | null, limit = Number.POSITIVE_INFINITY) {
  for (const at of from === null ? [] : signaturePositions(source, from, limit)) {
    const header = headerAt(source.file, at)
    if (header !== null) return header
  }
  return null
}

function* signaturePositions(source: Source, from: number, limit = Number.POSITIVE_INFINITY) {
  const end = Math.min(source.file.size, from + limit)
  for (let start = from; start < end; start += CHUNK_BYTES) {
    const chunk = source.file.read(start, CHUNK_BYTES + 1)
    source.budget -= chunk.length
    for (let i = chunk.indexOf('PK'); i >= 0; i = chunk.indexOf('PK', i + 1)) {
      source.budget -= PROBE_BYTES
      if (source.budget < 0) return
      if (i < CHUNK_BYTES) yield start + i
    }
  }
}

/** The end of the first complete archive in stored data; null when the file ends before it. */
function skipNested(source: Source, from: number): number | null {
  const { file } = source
  for (const at of signaturePositions(source, from)) {
    const record = file.read(at, END_RECORD_BYTES)
    if (record.length < END_RECORD_BYTES || record.readUInt32LE(0) !== END_RECORD) continue
    const end = at + END_RECORD_BYTES + record.readUInt16LE(20)
    // The record at the end of the file belongs to the outer archive.
    if (end < file.size) return end
  }
  return null
}

/**
 * The header after data of unknown length: one after a descriptor that states exactly the distance walked,
 * otherwise the next one.
 */
function findDescribedEnd(
  source: Source,
  entry: ZipEntry,
  { from, isNested }: { from: number; isNested: boolean },
): Header | null {
  const { file } = source
  for (const at of signaturePositions(source, from)) {
    const end = describedEnd(file, entry, from, at)
    if (end !== null)
      return headerAt(file, end) ?? findHeader(source, end) ?? { at: end, local: null }
    const header = isNested ? null : headerAt(file, at)
    if (header === null) continue
    // For damaged data: the descriptor directly before the next header has the original sizes.
    const signed = Math.max(from, at - 16)
    const isSigned = signatureAt(file, signed) === DESCRIPTOR
    const descriptor = file.read(Math.max(from, at - 12), 12)
    entry.packedBytes = isSigned ? signed - from : Math.max(0, at - 12 - from)
    if (descriptor.length === 12 && at - from >= 12) {
      entry.crc = descriptor.readUInt32LE(0)
      entry.sizeBytes = descriptor.readUInt32LE(8)
    }
    return header
  }
  return null
}

/**
 * Where the data ends if the signature at `at` belongs to its descriptor, or to a header after a descriptor
 * without signature; otherwise null.
 */
function describedEnd(file: File, entry: ZipEntry, from: number, at: number): number | null {
  const lead = Math.min(20, at - from)
  const bytes = file.read(at - lead, lead + 24)
  const read32 = (i: number) => (i >= 0 && i + 4 <= bytes.length ? bytes.readUInt32LE(i) : -1)
  const read64 = (i: number) =>
    i >= 0 && i + 8 <= bytes.length ? Number(bytes.readBigUInt64LE(i)) : -1
  const accept = (packed: number, sizeBytes: number, crc: number) =>
    Object.assign(entry, { packedBytes: packed, sizeBytes, crc })
  const distance = at - from
  if (read32(lead) === DESCRIPTOR) {
    const crc = read32(lead + 4)
    if (read32(lead + 8) === distance) {
      accept(distance, read32(lead + 12), crc)
      return at + 16
    }
    if (read64(lead + 8) !== distance) return null
    accept(distance, read64(lead + 16), crc)
    return at + 24
  }
  if (read32(lead - 8) === distance - 12 && headerAt(file, at) !== null)
    accept(distance - 12, read32(lead - 4), read32(lead - 12))
  else if (read64(lead - 16) === distance - 20 && headerAt(file, at) !== null)
    accept(distance - 20, read64(lead - 8), read32(lead - 20))
  else return null
  return at
}

/**
 * Corrects offsets, in place, when bytes precede the archive, are missing or were inserted. Returns whether all entries moved
 * with the directory, as after a prefix.
 */
export function relocateEntries(
  file: File,
  entries: readonly ZipEntry[],
  { shift, recovery }: { shift: number; recovery: () => Recovery },
): boolean {
  // A prefix shifts the entries too; a wrong offset in the end record affects only the directory.
  const deltas = [shift, 0]
  let isPrefix = true
  for (const entry of entries) {
    const delta = deltas.find(delta => isAt(file, entry, entry.offset + delta))
    isPrefix &&= delta === shift
    if (delta !== undefined) entry.offset += delta
    else entry.offset = findOffset(recovery(), entry, shift) ?? entry.offset + shift
  }
  return isPrefix
}

function isAt(file: File, entry: ZipEntry, offset: number): boolean {
  const local = readLocalEntry(file, offset, 0)
  return local !== null && isSame(local, entry)
}

// Names may differ in encoding, and checksums may be left to the descriptor.
const isSame = (local: ZipEntry, entry: ZipEntry) =>
  local.storedName === entry.storedName || (local.crc === entry.crc && local.crc !== 0)

/** Where an entry's local header was found: the one nearest to the stated offset, at most `shift` away. */
export function findOffset(recovery: Recovery, entry: ZipEntry, shift = 0): number | null {
  let nearest: number | null = null
  const distance = (offset: number) => Math.abs(offset - entry.offset - shift / 2)
  for (const local of byName(recovery).get(entry.storedName) ?? [])
    if (nearest === null || distance(local.offset) < distance(nearest)) nearest = local.offset
  return nearest
}

const indexes = new WeakMap<Recovery, Map<string, ZipEntry[]>>()

function byName(recovery: Recovery): Map<string, ZipEntry[]> {
  const known = indexes.get(recovery)
  if (known !== undefined) return known
  const index = Map.groupBy(recovery.entries, entry => entry.storedName)
  indexes.set(recovery, index)
  return index
}
