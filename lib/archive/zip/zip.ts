// ZIP archive reader: random access through the central directory. Reads synchronously: a pread costs 2 µs, a promise 50.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { ArchiveFormat, Container, DataLocation, Entry } from '../container.ts'
import type { Limits } from '../limits.ts'
import {
  type ReadSpan,
  readCentralDirectory,
  readTail,
  SMALL_FILE_BYTES,
} from './central-directory.ts'
import { decompress, inflateHead, maxPackedBytes } from './decompress.ts'
import { isEncrypted, type ZipEntry } from './entry.ts'
import { LOCAL_HEADER, LOCAL_HEADER_BYTES, recoverEntries } from './recover.ts'

const STORED = 0
const DEFLATED = 8
const SPANNED = 0x08074b50
// Local extra fields are at most this much longer than central ones (Info-ZIP timestamps, alignment).
const EXTRA_FIELD_SLACK = 32

// Local header, empty archive, split marker, single-segment marker.
const signatures = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', 'PK00PK']

/** Whether a file begins as a ZIP. */
export function isZip(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 6))
  const start = bytes.toString('latin1')
  return signatures.some(signature => start.startsWith(signature))
}

export const zipArchive: ArchiveFormat = { open: openZip, locate, isSolid: () => false }

/** Opens a ZIP, also with a prefix, a damaged end or a wrong directory. Throws Unreadable: `truncated`, `not_an_archive`, `encrypted`, `multi_volume`, `too_large`. */
export async function openZip(file: File, limits: Limits): Promise<Container> {
  const read = readTail(file)
  const warnings: string[] = []
  const entries = withoutOverlaps(file, listEntries(file, read, limits, warnings), warnings)
  if (entries.length > 0 && entries.every(isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  return {
    entries,
    warnings,
    read: async (entry, maxBytes) => readEntry(file, read, ownEntry(entries, entry), maxBytes),
    head: async (entry, bytes) => readHead(file, read, ownEntry(entries, entry), { bytes, limits }),
    [Symbol.asyncDispose]: async () => {},
  }
}

function listEntries(file: File, read: ReadSpan, limits: Limits, warnings: string[]): ZipEntry[] {
  const directory = readCentralDirectory(file, read, limits)
  const listed = typeof directory === 'string' ? [] : directory.entries
  if (typeof directory !== 'string' && directory.isComplete) return listed
  const start = read(0, 4)
  const signature = start.length < 4 ? 0 : start.readUInt32LE(0)
  if (directory === 'absent' && signature === SPANNED)
    throw new Unreadable('The archive is one of several volumes', 'multi_volume')
  const recovered = recoverEntries(file, limits)
  const isAllEncrypted = recovered.length > 0 && recovered.every(isEncrypted)
  // Other readers reject it too: the end record contradicts the file.
  if (directory === 'lost' && !isAllEncrypted)
    throw new Unreadable('The central directory is not at the declared offset', 'bad_crc')
  warnings.push(
    directory === 'absent'
      ? 'The end of the archive is missing; files were recovered'
      : 'The central directory of the archive is damaged',
  )
  if (recovered.length > listed.length) return recovered
  if (typeof directory !== 'string') return listed
  throw signature === LOCAL_HEADER
    ? new Unreadable('The archive ends too early', 'truncated')
    : new Unreadable('The file is not a ZIP archive', 'not_an_archive')
}

// Overlapping entries let a small file declare terabytes of content.
function withoutOverlaps(file: File, entries: ZipEntry[], warnings: string[]): ZipEntry[] {
  let packed = 0
  for (const entry of entries) packed += entry.packedBytes
  if (packed <= file.size) return entries
  let end = 0
  const distinct = new Set<ZipEntry>()
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset < end) continue
    end = entry.offset + LOCAL_HEADER_BYTES + Math.min(entry.packedBytes, file.size)
    distinct.add(entry)
  }
  if (distinct.size < entries.length)
    warnings.push('Files in the archive overlap; some were skipped')
  return entries.filter(entry => distinct.has(entry))
}

function ownEntry(entries: ZipEntry[], entry: Entry): ZipEntry {
  const zipEntry = entry as ZipEntry
  return zipEntry.method === undefined ? entries.find(e => e.index === entry.index)! : zipEntry
}

type Located = { position: number; chunk: Buffer }

// Reads the local header and the first `bytes` of data in one call.
function readLocal(read: ReadSpan, entry: ZipEntry, bytes: number): Located {
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  const readLength = LOCAL_HEADER_BYTES + entry.trailer + EXTRA_FIELD_SLACK + bytes
  const header = entry.offset < 0 ? Buffer.alloc(0) : read(entry.offset, readLength)
  if (header.length < LOCAL_HEADER_BYTES)
    throw new Unreadable('The archive is truncated inside the file', 'truncated')
  if (header.readUInt32LE(0) !== LOCAL_HEADER)
    throw new Unreadable('There is no local header at the declared offset', 'bad_crc')
  const length = LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  const position = entry.offset + length
  const isShort = header.length < length + bytes && header.length === readLength
  const chunk = isShort ? read(position, bytes) : header.subarray(length, length + bytes)
  return { position, chunk }
}

function readHead(
  file: File,
  read: ReadSpan,
  entry: ZipEntry,
  { bytes, limits }: { bytes: number; limits: Limits },
): Uint8Array | Promise<Uint8Array> {
  const { position, chunk } = readLocal(read, entry, Math.min(bytes, entry.packedBytes))
  if (entry.method === STORED) return chunk
  if (entry.method === DEFLATED) {
    const readPacked = (length: number) =>
      length <= chunk.length ? chunk.subarray(0, length) : read(position, length)
    return inflateHead(entry, bytes, readPacked)
  }
  const whole = decompress(file, entry, { position, chunk, maxBytes: limits.entryBytes })
  return whole.then(all => all.subarray(0, bytes))
}

async function readEntry(
  file: File,
  read: ReadSpan,
  entry: ZipEntry,
  maxBytes: number,
): Promise<Uint8Array> {
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  if (entry.sizeBytes > maxBytes || entry.packedBytes > maxPackedBytes(maxBytes))
    throw new Unreadable('The file in the archive is too large', 'too_large')
  if (entry.offset + entry.packedBytes > file.size)
    throw new Unreadable('The archive is truncated inside the file', 'truncated')
  const { position, chunk } = readLocal(read, entry, isDirect(entry) ? entry.packedBytes : 0)
  if (isDirect(entry) && chunk.length < entry.packedBytes)
    throw new Unreadable('The archive is truncated inside the file', 'truncated')
  const bytes =
    entry.method === STORED
      ? copyIfShared(chunk)
      : await decompress(file, entry, { position, chunk, maxBytes })
  if (entry.crc !== null && crc32(bytes) !== entry.crc)
    throw new Unreadable('The file in the archive is damaged', 'bad_crc')
  return bytes
}

// Small reads may be views of the buffered tail that later reads need; the caller may transfer the result.
const copyIfShared = (chunk: Buffer) =>
  chunk.length <= SMALL_FILE_BYTES ? new Uint8Array(chunk) : chunk

function locate(entry: Entry): DataLocation | null {
  const { offset, trailer, method, crc, sizeBytes, packedBytes } = entry as ZipEntry
  if (offset < 0 || isEncrypted(entry as ZipEntry)) return null
  const headerBytes = LOCAL_HEADER_BYTES + trailer + EXTRA_FIELD_SLACK
  if (method === DEFLATED) return { offset, headerBytes, method, crc }
  return method === STORED && packedBytes === sizeBytes
    ? { offset, headerBytes, method, crc }
    : null
}

const isDirect = (entry: ZipEntry) => entry.method === STORED || entry.method === DEFLATED
