// Random access to a ZIP through its central directory; synchronous, because one pread costs 2 µs and a promise 50.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import type { Container, Entry } from '../container.ts'
import { type Read, readDirectory, readTail, SMALL } from './directory.ts'
import { isEncrypted, type ZipEntry } from './entry.ts'
import { inflateHead, mostPacked, unpack } from './method.ts'
import { LOCAL, LOCAL_BYTES, recoverEntries } from './recover.ts'

const STORED = 0
const DEFLATED = 8
const SPANNED = 0x08074b50
// Local extra fields are at most this much longer than central ones (Info-ZIP times, alignment).
const SLACK = 32

/** Opens a ZIP, also one with a prefix, a damaged end or a lying directory. Throws Unreadable: `truncated`, `not_an_archive`, `encrypted`, `multi_volume`, `too_large`. */
export async function openZip(file: File, limits: Limits): Promise<Container> {
  const read = readTail(file)
  const warnings: string[] = []
  const entries = withoutOverlaps(file, listEntries(file, read, limits, warnings), warnings)
  if (entries.length > 0 && entries.every(isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  return {
    entries,
    warnings,
    read: async (entry, maxBytes) => readEntry(file, read, own(entries, entry), maxBytes),
    head: async (entry, bytes) => readHead(file, read, own(entries, entry), { bytes, limits }),
    [Symbol.asyncDispose]: async () => {},
  }
}

function listEntries(file: File, read: Read, limits: Limits, warnings: string[]): ZipEntry[] {
  const directory = readDirectory(file, read, limits)
  const found = typeof directory === 'string' ? [] : directory.entries
  if (typeof directory !== 'string' && directory.isWhole) return found
  const start = read(0, 4)
  const signature = start.length < 4 ? 0 : start.readUInt32LE(0)
  if (directory === 'absent' && signature === SPANNED)
    throw new Unreadable('The archive is one of several volumes', 'multi_volume')
  const recovered = recoverEntries(file, limits)
  const isSecret = recovered.length > 0 && recovered.every(isEncrypted)
  // Other readers refuse it too: what the end record says contradicts the file.
  if (directory === 'lost' && !isSecret)
    throw new Unreadable('The list of files is not where the archive says', 'bad_crc')
  warnings.push(
    directory === 'absent'
      ? 'The end of the archive is missing; files were recovered'
      : 'The list of files in the archive is damaged',
  )
  if (recovered.length > found.length) return recovered
  if (typeof directory !== 'string') return found
  throw signature === LOCAL
    ? new Unreadable('The archive ends too early', 'truncated')
    : new Unreadable('The file is no ZIP archive', 'not_an_archive')
}

// Entries that share bytes are how a small file claims to hold terabytes.
function withoutOverlaps(file: File, entries: ZipEntry[], warnings: string[]): ZipEntry[] {
  let packed = 0
  for (const entry of entries) packed += entry.packed
  if (packed <= file.size) return entries
  let end = 0
  const kept = new Set<ZipEntry>()
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset < end) continue
    end = entry.offset + LOCAL_BYTES + Math.min(entry.packed, file.size)
    kept.add(entry)
  }
  if (kept.size < entries.length) warnings.push('Files in the archive overlap; some were left out')
  return entries.filter(entry => kept.has(entry))
}

function own(entries: ZipEntry[], entry: Entry): ZipEntry {
  const known = entry as ZipEntry
  return known.method === undefined ? entries.find(e => e.index === entry.index)! : known
}

type Located = { position: number; chunk: Buffer }

// Reads the local header and the first `bytes` of data in one call.
function locate(read: Read, entry: ZipEntry, bytes: number): Located {
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  const wanted = LOCAL_BYTES + entry.trailer + SLACK + bytes
  const header = entry.offset < 0 ? Buffer.alloc(0) : read(entry.offset, wanted)
  if (header.length < LOCAL_BYTES)
    throw new Unreadable('The archive ends before the file does', 'truncated')
  if (header.readUInt32LE(0) !== LOCAL)
    throw new Unreadable('The archive does not hold the file where it says', 'bad_crc')
  const length = LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  const position = entry.offset + length
  const isShort = header.length < length + bytes && header.length === wanted
  const chunk = isShort ? read(position, bytes) : header.subarray(length, length + bytes)
  return { position, chunk }
}

function readHead(
  file: File,
  read: Read,
  entry: ZipEntry,
  { bytes, limits }: { bytes: number; limits: Limits },
): Uint8Array | Promise<Uint8Array> {
  const { position, chunk } = locate(read, entry, Math.min(bytes, entry.packed))
  if (entry.method === STORED) return chunk
  if (entry.method === DEFLATED) {
    const more = (length: number) =>
      length <= chunk.length ? chunk.subarray(0, length) : read(position, length)
    return inflateHead(entry, bytes, more)
  }
  const whole = unpack(file, entry, { position, chunk, maxBytes: limits.entryBytes })
  return whole.then(all => all.subarray(0, bytes))
}

async function readEntry(
  file: File,
  read: Read,
  entry: ZipEntry,
  maxBytes: number,
): Promise<Uint8Array> {
  if (isEncrypted(entry)) throw new Unreadable('The file in the archive is encrypted', 'encrypted')
  if (entry.bytes > maxBytes || entry.packed > mostPacked(maxBytes))
    throw new Unreadable('The file in the archive is too large', 'too_large')
  if (entry.offset + entry.packed > file.size)
    throw new Unreadable('The archive ends before the file does', 'truncated')
  const { position, chunk } = locate(read, entry, isDirect(entry) ? entry.packed : 0)
  if (isDirect(entry) && chunk.length < entry.packed)
    throw new Unreadable('The archive ends before the file does', 'truncated')
  const bytes =
    entry.method === STORED
      ? owned(chunk)
      : await unpack(file, entry, { position, chunk, maxBytes })
  if (entry.crc !== null && crc32(bytes) !== entry.crc)
    throw new Unreadable('The file in the archive is damaged', 'bad_crc')
  return bytes
}

// Small reads may be views of the tail that later reads need; the caller may transfer what it gets.
const owned = (chunk: Buffer) => (chunk.length <= SMALL ? new Uint8Array(chunk) : chunk)

const isDirect = (entry: ZipEntry) => entry.method === STORED || entry.method === DEFLATED
