// Generators of small archives and PNG images, written byte by byte.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { type File, openFile } from '../../../lib/base/file.ts'

export const openPath = (path: string): File => openFile(Buffer.from(path))

/** Writes bytes to a file in `folder` and opens it. */
export function openBytes(folder: string, bytes: Uint8Array, name = 'archive'): File {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return openPath(path)
}

type ZipEntry = {
  name: string | Buffer
  bytes: Uint8Array
  deflate?: boolean
  /** General purpose bit flags. */
  flags?: number
  /** External attributes of Unix. */
  external?: number
  /** Sizes only in a descriptor after the data, with or without signature. */
  descriptor?: 'signed' | 'plain'
  /** Sizes of 64 bits, in an extra field. */
  zip64?: boolean
}

/** A ZIP with these entries, stored or deflated; `directoryAt` is where the central directory begins. */
export function zipWithDirectory(entries: readonly ZipEntry[]): {
  bytes: Buffer
  directoryAt: number
} {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, deflate, flags, external, descriptor, zip64 } of entries) {
    const nameBytes = Buffer.from(name as string)
    const packed = deflate ? deflateRawSync(bytes) : Buffer.from(bytes)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE((flags ?? 0) | (descriptor ? 8 : 0), 6)
    local.writeUInt16LE(deflate ? 8 : 0, 8)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(zip64 ? 0xffffffff : packed.length, 18)
    local.writeUInt32LE(zip64 ? 0xffffffff : bytes.length, 22)
    local.writeUInt16LE(nameBytes.length, 26)
    const extra = Buffer.alloc(zip64 ? 20 : 0)
    if (zip64) {
      extra.writeUInt16LE(1, 0)
      extra.writeUInt16LE(16, 2)
      extra.writeBigUInt64LE(BigInt(bytes.length), 4)
      extra.writeBigUInt64LE(BigInt(packed.length), 12)
    }
    local.writeUInt16LE(extra.length, 28)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record[5] = external === undefined ? 0 : 3
    local.copy(record, 6, 4, 30)
    record.writeUInt32LE(((external ?? 0) << 16) >>> 0, 38)
    record.writeUInt32LE(offset, 42)
    const trailer = descriptor ? descriptorOf(local, descriptor) : Buffer.alloc(0)
    if (descriptor) local.fill(0, 14, 26)
    const written = [local, nameBytes, extra, packed, trailer]
    parts.push(...written)
    directory.push(record, nameBytes, extra)
    offset += written.reduce((sum, part) => sum + part.length, 0)
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  // Without ZIP64 the count wraps around.
  end.writeUInt16LE(entries.length & 0xffff, 8)
  end.writeUInt16LE(entries.length & 0xffff, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return { bytes: Buffer.concat([...parts, list, end]), directoryAt: offset }
}

function descriptorOf(local: Buffer, kind: 'signed' | 'plain'): Buffer {
  const signature = Buffer.from(kind === 'signed' ? 'PK\x07\x08' : '')
  return Buffer.concat([signature, local.subarray(14, 26)])
}

export const zip = (entries: readonly ZipEntry[]): Buffer => zipWithDirectory(entries).bytes

/** A ZIP of stored files by name. */
export const zipOfFiles = (files: Record<string, string | Uint8Array>): Buffer =>
  zip(
    Object.entries(files).map(([name, content]) => ({
      name,
      bytes: Buffer.from(content as string),
    })),
  )

/** A tar entry: header, content and padding. A tar is its entries and `tarEnd`. */
export function tarEntry(name: string, bytes: Uint8Array, type = '0'): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512)
  return Buffer.concat([header, bytes, padding])
}

export const tarEnd = Buffer.alloc(1024)

/** A black PNG, one pixel high. */
export function png(width: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(1, 4)
  header[8] = 8
  const row = deflateSync(Buffer.alloc(width + 1))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', row),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A chunk with its checksum. */
export function pngChunk(type: string, body: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), body])
  const chunk = Buffer.alloc(content.length + 8)
  chunk.writeUInt32BE(body.length, 0)
  content.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(content), content.length + 4)
  return chunk
}
