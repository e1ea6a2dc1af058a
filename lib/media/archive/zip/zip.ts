// ZIP archive reader: random access through the central directory. Synchronous: a pread takes 2 µs, a promise
// 50.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { ArchiveFormat, Container, DataLocation, Entry } from '../container.ts'
import { decodeNames } from '../entry-name.ts'
import type { Limits } from '../limits.ts'
import {
  type ReadSpan,
  readCentralDirectory,
  readTail,
  SMALL_FILE_BYTES,
} from './central-directory.ts'
import { decompress, inflateHead, maxPackedBytes } from './decompress.ts'
import {
  DESCRIPTOR,
  isEncrypted,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  type ZipEntry,
} from './entry.ts'
import { findOffset, type Recovery, recoverEntries, relocateEntries } from './recover.ts'

const STORED = 0
const DEFLATED = 8
// Local extra fields are at most this much longer than central ones (Info-ZIP timestamps, alignment).
const EXTRA_FIELD_SLACK = 32

// Local header, empty archive, split marker, single-segment marker.
const signatures = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', 'PK00PK']

/** Whether a file starts like a ZIP. */
export function isZip(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 6))
  const start = bytes.toString('latin1')
  return signatures.some(signature => start.startsWith(signature))
}

export const zipArchive: ArchiveFormat = {
  open: openZip,
  locate,
  // Encrypted entries may state 0.
  checksum: entry => (isEncrypted(entry as ZipEntry) ? null : (entry as ZipEntry).crc),
}

/**
 * Opens a ZIP, even with a prefix, missing bytes or a damaged directory. Throws Unreadable: `truncated`,
 * `bad_crc`, `not_an_archive`, `encrypted`, `multi_volume`, `too_large`.
 */
export async function openZip(file: File, limits: Limits): Promise<Container> {
  if (file.preload && file.size <= SMALL_FILE_BYTES)
    await file.preload([{ position: 0, length: file.size }])
  const archive = listEntries(file, limits)
  const { read, warnings, damage } = archive
  await decodeNames(archive.entries.filter(entry => entry.isUndecoded))
  const files = archive.entries.filter(entry => !entry.name.endsWith('/'))
  const entries = withoutOverlaps(file.size, files, warnings)
  if (entries.length > 0 && entries.every(isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  const source = { file, read, recovery: archive.recovery, limits }
  return {
    entries,
    warnings,
    damage,
    async read(entry, maxBytes) {
      const own = ownEntry(entries, entry)
      if (file.preload && own.sizeBytes <= maxBytes)
        await file.preload([localRange(own, own.packedBytes)])
      return readEntry(source, own, maxBytes)
    },
    async head(entry, bytes) {
      const own = ownEntry(entries, entry)
      if (file.preload) await file.preload([localRange(own, bytes)])
      return readHead(source, own, bytes)
    },
    preloadHeads: (selected, bytes) =>
      file.preload?.(selected.map(entry => localRange(ownEntry(entries, entry), bytes))),
    [Symbol.asyncDispose]: async () => {},
  }
}

type Source = { file: File; read: ReadSpan; recovery: () => Recovery; limits: Limits }
type Archive = {
  read: ReadSpan
  recovery: () => Recovery
  entries: ZipEntry[]
  warnings: string[]
  damage: Unreadable | null
}

function listEntries(file: File, limits: Limits): Archive {
  const read = readTail(file)
  const recovery = once(() => recoverEntries(file, limits))
  const isNested = (start: number, end: number) =>
    recovery().ranges.some(({ from, to }) => from <= start && end <= to)
  const directory = readCentralDirectory(file.size, read, { limits, isNested })
  const common = { read, recovery }
  const listed = typeof directory === 'string' ? [] : directory.entries
  const isComplete = typeof directory !== 'string' && directory.isComplete
  if (typeof directory !== 'string' && directory.shift !== 0) {
    const { shift } = directory
    const isPrefix = relocateEntries(file, listed, { shift, recovery })
    if (!isPrefix && isComplete) return { ...common, entries: listed, ...damaged(bytesMoved) }
  }
  if (isComplete) return { ...common, entries: listed, warnings: [], damage: null }
  const entries = withRecovered(listed, recovery().entries)
  if (directory !== 'absent') {
    if (entries.length === 0) throw new Unreadable(directoryDamaged, 'bad_crc')
    return { ...common, entries, ...damaged(directoryDamaged) }
  }
  if (entries.length === 0) throw withoutEntries(read)
  const damage = new Unreadable('The archive ends too early', 'truncated')
  const warnings = ['The end of the archive is missing; files were recovered']
  return { ...common, entries, warnings, damage }
}

const bytesMoved =
  'Bytes are missing from the archive or were inserted; files were found by their headers'
const directoryDamaged = 'The central directory of the archive is damaged'

const damaged = (message: string) => ({
  warnings: [message],
  damage: new Unreadable(message, 'bad_crc'),
})

function once<T>(call: () => T): () => T {
  let value: T | undefined
  return () => (value ??= call())
}

/** The entries of the directory, then those missing from it. */
function withRecovered(listed: ZipEntry[], recovered: ZipEntry[]): ZipEntry[] {
  const known = new Set(listed.map(({ offset }) => offset))
  const others = recovered.filter(({ offset }) => !known.has(offset))
  return [...listed, ...others].map((entry, index) => Object.assign(entry, { index }))
}

function withoutEntries(read: ReadSpan): Unreadable {
  const start = read(0, 4)
  const signature = start.length < 4 ? 0 : start.readUInt32LE(0)
  if (signature === DESCRIPTOR)
    return new Unreadable('The archive is one of several volumes', 'multi_volume')
  return signature === LOCAL_HEADER
    ? new Unreadable('The archive ends too early', 'truncated')
    : new Unreadable('The file is not a ZIP archive', 'not_an_archive')
}

const maxDeclaredRatio = 2

// Overlapping entries let a small file declare terabytes of content.
function withoutOverlaps(fileBytes: number, entries: ZipEntry[], warnings: string[]): ZipEntry[] {
  let packed = 0
  for (const entry of entries) packed += entry.packedBytes
  // An archive with missing bytes declares more than it has.
  if (packed <= fileBytes * maxDeclaredRatio) return entries
  let end = 0
  const distinct = new Set<ZipEntry>()
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset < end) continue
    end = entry.offset + LOCAL_HEADER_BYTES + Math.min(entry.packedBytes, fileBytes)
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

/** The local header and the first `bytes` of data. */
const localRange = ({ offset, trailer, packedBytes }: ZipEntry, bytes: number) => ({
  position: offset,
  length: LOCAL_HEADER_BYTES + trailer + EXTRA_FIELD_SLACK + Math.min(bytes, packedBytes),
})

type Located = { position: number; chunk: Buffer }

// Reads the local header and the first `bytes` of data in one call.
function readLocal(source: Source, entry: ZipEntry, bytes: number): Located {
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  const { read } = source
  const { length: readLength } = localRange(entry, bytes)
  let header = entry.offset < 0 ? Buffer.alloc(0) : read(entry.offset, readLength)
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER) {
    entry.offset = findHeaderElsewhere(source, entry)
    header = read(entry.offset, readLength)
  }
  const length = LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  const position = entry.offset + length
  entry.isCrcInHeader = header.readUInt32LE(14) === entry.crc
  const isShort = header.length < length + bytes && header.length === readLength
  const chunk = isShort ? read(position, bytes) : header.subarray(length, length + bytes)
  return { position, chunk }
}

function findHeaderElsewhere({ file, recovery }: Source, entry: ZipEntry): number {
  const found = findOffset(recovery(), entry)
  if (found !== null) return found
  throw entry.offset + LOCAL_HEADER_BYTES > file.size
    ? new Unreadable('The archive is truncated inside the file', 'truncated')
    : new Unreadable('There is no local header at the declared offset', 'bad_crc')
}

function readHead(
  source: Source,
  entry: ZipEntry,
  bytes: number,
): Uint8Array | Promise<Uint8Array> {
  const { file, read, limits } = source
  const { position, chunk } = readLocal(source, entry, Math.min(bytes, entry.packedBytes))
  if (entry.method === STORED) return chunk
  if (entry.method === DEFLATED) {
    const readPacked = (length: number) =>
      length <= chunk.length ? chunk.subarray(0, length) : read(position, length)
    return inflateHead(entry, bytes, readPacked)
  }
  const whole = decompress(file, entry, { position, chunk, maxBytes: limits.entryBytes })
  return whole.then(all => all.subarray(0, bytes))
}

async function readEntry(source: Source, entry: ZipEntry, maxBytes: number): Promise<Uint8Array> {
  const { file } = source
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  if (entry.sizeBytes > maxBytes || entry.packedBytes > maxPackedBytes(maxBytes))
    throw new Unreadable('The file in the archive is too large', 'too_large')
  const { position, chunk } = readLocal(source, entry, isDirect(entry) ? entry.packedBytes : 0)
  if (position + entry.packedBytes > file.size)
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
  const { offset, trailer, method, sizeBytes, packedBytes, isCrcInHeader } = entry as ZipEntry
  const crc = isCrcInHeader ? 'header' : (entry as ZipEntry).crc
  if (offset < 0 || isEncrypted(entry as ZipEntry)) return null
  const headerBytes = LOCAL_HEADER_BYTES + trailer + EXTRA_FIELD_SLACK
  const isStored = method === STORED && packedBytes === sizeBytes
  return isStored || method === DEFLATED ? { offset, headerBytes, packedBytes, method, crc } : null
}

const isDirect = (entry: ZipEntry) => entry.method === STORED || entry.method === DEFLATED
