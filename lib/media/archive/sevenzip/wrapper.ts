// 7z writer for an archive of one folder, so that libarchive can decompress its pack streams.
//   archive = signature version:2 crc:4 { offset:8 length:8 crc:4 } packed* header
import { crc32 } from 'node:zlib'
import type { Coder } from './folder.ts'

export const SIGNATURE = Buffer.from('377abcaf271c', 'hex')
type PackStreams = readonly { length: number }[]

/** The bytes before and after the pack streams; the content of the folder becomes one file. */
export function wrapFolder(
  folder: Buffer,
  packs: PackStreams,
  sizes: readonly number[],
): { start: Buffer; header: Buffer } {
  const offset = packs.reduce((sum, pack) => sum + pack.length, 0)
  const header = Buffer.concat([
    // Header, MainStreamsInfo, PackInfo.
    Buffer.from([1, 4, 6, 0, packs.length, 9]),
    ...packs.map(pack => encodeNumber(pack.length)),
    // One folder.
    Buffer.from([0, 7, 11, 1, 0]),
    folder,
    Buffer.from([12]),
    ...sizes.map(encodeNumber),
    // One file named "x"; libarchive requires SubStreamsInfo even when it is empty.
    Buffer.from([0, 8, 0, 0, 5, 1, 17, 5, 0, 0x78, 0, 0, 0, 0, 0]),
  ])
  const startHeader = Buffer.alloc(20)
  startHeader.writeBigUInt64LE(BigInt(offset), 0)
  startHeader.writeBigUInt64LE(BigInt(header.length), 8)
  startHeader.writeUInt32LE(crc32(header), 16)
  const start = Buffer.alloc(12)
  SIGNATURE.copy(start)
  start[7] = 4
  start.writeUInt32LE(crc32(startHeader), 8)
  return { start: Buffer.concat([start, startHeader]), header }
}

/** A serialized folder with one coder. */
export function singleCoderFolder(coder: Coder): Buffer {
  const id = Buffer.from(coder.id, 'hex')
  const { properties } = coder
  const flags = id.length | (properties.length > 0 ? 32 : 0)
  const tail = properties.length > 0 ? [encodeNumber(properties.length), properties] : []
  return Buffer.concat([Buffer.from([1, flags]), id, ...tail])
}

// The longest encoding of a number is always valid.
function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xff)
  bytes.writeBigUInt64LE(BigInt(value), 1)
  return bytes
}
