// Unpacks one ZIP entry: deflate and Zstandard natively, the rarer methods through libarchive.
import { constants, inflateRawSync, zstdDecompressSync } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import { openPass } from '../libarchive.ts'
import type { ZipEntry } from './entry.ts'
import { inflate64 } from './inflate64.ts'

type Source = { position: number; chunk: Buffer; maxBytes: number }

// APPNOTE 4.4.5; 20 is the first number Zstandard had.
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
const viaLibarchive = new Set([methods.bzip2, methods.lzma, methods.xz, methods.ppmd])
/** Packed data may be a little longer than what it unpacks to. */
export const mostPacked = (bytes: number) => bytes * 1.01 + 1024
const LZMA_END_MARK = 2
// Deflate cannot shrink more than this (zlib's technical notes).
const DEFLATE_RATIO = 1032
// A first taste of data that claims a high ratio, so that a bomb costs half a megabyte and not four.
const TASTE = 512
const STEEP = 32

/** The whole entry, whose data starts at `position`; `chunk` is that data for deflate. Throws Unreadable. */
export async function unpack(file: File, entry: ZipEntry, source: Source): Promise<Uint8Array> {
  const { position, chunk, maxBytes } = source
  const { method, packed } = entry
  if (entry.bytes > maxBytes || packed > mostPacked(maxBytes))
    throw new Unreadable('The file in the archive is too large', 'too_large')
  if (method === methods.deflate) return inflate(chunk, entry, maxBytes)
  if (method === methods.zstd || method === methods.zstdOld)
    return decode(() =>
      zstdDecompressSync(file.read(position, packed), { maxOutputLength: maxBytes }),
    )
  if (method === methods.deflate64) return inflate64(file.read(position, packed), entry.bytes)
  if (!viaLibarchive.has(method))
    throw new Unreadable(`Compression method ${method} is not supported`, 'unsupported_method')
  const { before, after } = capsule(entry)
  using pass = await openPass(file, [before, { position, length: packed }, after], maxBytes * 2)
  if (!pass.next()) throw new Unreadable('The file in the archive is damaged', 'bad_crc')
  return pass.read(entry.bytes)
}

/** At least `bytes` of a deflated entry, or all of it; `more` gives that many packed bytes from the start. */
export function inflateHead(
  entry: ZipEntry,
  bytes: number,
  more: (length: number) => Buffer,
): Uint8Array {
  const isSteep = entry.bytes > entry.packed * STEEP
  for (let length = isSteep ? TASTE : bytes; ; length *= 2) {
    const chunk = more(Math.min(length, entry.packed))
    const head = decode(() => inflateRawSync(chunk, { finishFlush: constants.Z_SYNC_FLUSH }))
    if (head.length >= bytes || length >= entry.packed || chunk.length < length) return head
  }
}

function inflate(chunk: Buffer, entry: ZipEntry, maxBytes: number): Uint8Array {
  // One chunk of the declared size saves the copying that growing costs.
  const expected = Math.min(entry.bytes, chunk.length * DEFLATE_RATIO, maxBytes)
  return decode(() =>
    inflateRawSync(chunk, { maxOutputLength: maxBytes, chunkSize: Math.max(64, expected + 1) }),
  )
}

function decode(call: () => Uint8Array): Uint8Array {
  try {
    return call()
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code
    if (reason === 'ERR_BUFFER_TOO_LARGE')
      throw new Unreadable('The file in the archive is too large', 'too_large', { cause })
    throw reason === 'Z_BUF_ERROR'
      ? new Unreadable('The data of a file in the archive ends too early', 'truncated', { cause })
      : new Unreadable('The file in the archive is damaged', 'bad_crc', { cause })
  }
}

// An archive of this one entry, so that libarchive needs neither the file nor its directory.
function capsule(entry: ZipEntry): { before: Buffer; after: Buffer } {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(63, 0)
  fields.writeUInt16LE(entry.flags & LZMA_END_MARK, 2)
  fields.writeUInt16LE(entry.method, 4)
  fields.writeUInt32LE(entry.crc ?? 0, 10)
  fields.writeUInt32LE(entry.packed, 14)
  fields.writeUInt32LE(entry.bytes, 18)
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
  end.writeUInt32LE(before.length + entry.packed, 16)
  return { before, after: Buffer.concat([record, end]) }
}
