// Decompresses one ZIP entry: deflate and Zstandard natively, rarer methods with libarchive.
import { constants, inflateRawSync } from 'node:zlib'
import { scoped } from '../../../base/async/dispose.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { openLibarchive } from '../libarchive.ts'
import { unpackZstd } from '../zstd.ts'
import type { ZipEntry } from './entry.ts'
import { inflate64 } from './inflate64.ts'

// APPNOTE 4.4.5; 20 is the deprecated number of Zstandard.
const methods = {
  deflate: 8,
  deflate64: 9,
  bzip2: 12,
  lzma: 14,
  zstdOld: 20,
  zstd: 93,
  xz: 95,
  ppmd: 98,
}
const libarchiveMethods = new Set([methods.bzip2, methods.lzma, methods.xz, methods.ppmd])
/** Compressed data may be slightly longer than the original. */
export const maxPackedBytes = (bytes: number) => bytes * 1.01 + 1024
const LZMA_END_MARK = 2
// Deflate cannot exceed this ratio (zlib technical notes).
const MAX_DEFLATE_RATIO = 1032
// First chunk of data with a high declared ratio, so that a bomb costs half a megabyte instead of four.
const PROBE_BYTES = 512
const HIGH_RATIO = 32

/**
 * The whole entry. `position` is the offset of its data; for deflate, `chunk` is the data itself. Throws
 * Unreadable.
 */
export async function decompress(
  file: File,
  entry: ZipEntry,
  source: { position: number; chunk: Buffer; maxBytes: number },
): Promise<Uint8Array> {
  const { position, chunk, maxBytes } = source
  const { method, packedBytes } = entry
  if (entry.sizeBytes > maxBytes || packedBytes > maxPackedBytes(maxBytes))
    throw new Unreadable('The file in the archive is too large', 'too_large')
  if (method === methods.deflate) return inflate(chunk, entry, maxBytes)
  if (method === methods.zstd || method === methods.zstdOld)
    return runDecoder(() => unpackZstd(file.read(position, packedBytes), maxBytes))
  if (method === methods.deflate64)
    return inflate64(file.read(position, packedBytes), entry.sizeBytes)
  if (!libarchiveMethods.has(method))
    throw new Unreadable(`Compression method ${method} is not supported`, 'unsupported_method')
  const { before, after } = singleEntryArchive(entry)
  const spans = [before, { position, length: packedBytes }, after]
  return scoped(async use => {
    const reader = use(await openLibarchive(file, spans, maxBytes * 2))
    if (!reader.next()) throw new Unreadable('The file in the archive is damaged', 'bad_crc')
    return reader.read(entry.sizeBytes)
  })
}

/** At least `bytes` of a deflated entry, or all of it; `readPacked` returns the first `length` compressed bytes. */
export function inflateHead(
  entry: ZipEntry,
  bytes: number,
  readPacked: (length: number) => Buffer,
): Uint8Array {
  const hasHighRatio = entry.sizeBytes > entry.packedBytes * HIGH_RATIO
  for (let length = hasHighRatio ? PROBE_BYTES : bytes; ; length *= 2) {
    const chunk = readPacked(Math.min(length, entry.packedBytes))
    const head = runDecoder(() => inflateRawSync(chunk, { finishFlush: constants.Z_SYNC_FLUSH }))
    if (head.length >= bytes || length >= entry.packedBytes || chunk.length < length) return head
  }
}

function inflate(chunk: Buffer, entry: ZipEntry, maxBytes: number): Uint8Array {
  // Output chunks of the declared size avoid copying on growth.
  const expected = Math.min(entry.sizeBytes, chunk.length * MAX_DEFLATE_RATIO, maxBytes)
  return runDecoder(() =>
    inflateRawSync(chunk, { maxOutputLength: maxBytes, chunkSize: Math.max(64, expected + 1) }),
  )
}

function runDecoder(call: () => Uint8Array): Uint8Array {
  try {
    return call()
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code
    if (reason === 'ERR_BUFFER_TOO_LARGE')
      throw new Unreadable('The file in the archive is too large', 'too_large', { cause })
    throw reason === 'Z_BUF_ERROR'
      ? new Unreadable('The data of a file in the archive is truncated', 'truncated', { cause })
      : new Unreadable('The file in the archive is damaged', 'bad_crc', { cause })
  }
}

// Headers of an archive with just this entry, so that libarchive does not need the whole file.
function singleEntryArchive(entry: ZipEntry): { before: Buffer; after: Buffer } {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(63, 0)
  fields.writeUInt16LE(entry.flags & LZMA_END_MARK, 2)
  fields.writeUInt16LE(entry.method, 4)
  fields.writeUInt32LE(entry.crc ?? 0, 10)
  fields.writeUInt32LE(entry.packedBytes, 14)
  fields.writeUInt32LE(entry.sizeBytes, 18)
  fields.writeUInt16LE(1, 22)
  const before = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from('x')])
  const record = Buffer.alloc(47)
  record.write('PK\x01\x02\x3f', 'latin1')
  fields.copy(record, 6)
  record.write('x', 46)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(record.length, 12)
  end.writeUInt32LE(before.length + entry.packedBytes, 16)
  return { before, after: Buffer.concat([record, end]) }
}
