// Writes a 7z archive around the packed streams of one folder, for libarchive to read:
//   archive = signature version:2 crc:4 { offset:8 length:8 crc:4 } packed* header
import { crc32 } from 'node:zlib'
import type { Coder } from './header.ts'

export const SIGNATURE = Buffer.from('377abcaf271c', 'hex')
type Packs = readonly { length: number }[]

/** What goes before and after the packed streams; the folder becomes one file. */
export function capsule(
  folder: Buffer,
  packs: Packs,
  sizes: readonly number[],
): { start: Buffer; header: Buffer } {
  const offset = packs.reduce((sum, pack) => sum + pack.length, 0)
  const header = Buffer.concat([
    // Header, its streams, the pack positions from the start.
    Buffer.from([1, 4, 6, 0, packs.length, 9]),
    ...packs.map(pack => number(pack.length)),
    // One folder.
    Buffer.from([0, 7, 11, 1, 0]),
    folder,
    Buffer.from([12]),
    ...sizes.map(number),
    // One file called "x"; libarchive wants the list of substreams even when it is empty.
    Buffer.from([0, 8, 0, 0, 5, 1, 17, 5, 0, 0x78, 0, 0, 0, 0, 0]),
  ])
  const place = Buffer.alloc(20)
  place.writeBigUInt64LE(BigInt(offset), 0)
  place.writeBigUInt64LE(BigInt(header.length), 8)
  place.writeUInt32LE(crc32(header), 16)
  const start = Buffer.alloc(12)
  SIGNATURE.copy(start)
  start[7] = 4
  start.writeUInt32LE(crc32(place), 8)
  return { start: Buffer.concat([start, place]), header }
}

/** A folder of one coder. */
export function simpleFolder(coder: Coder): Buffer {
  const id = Buffer.from(coder.id, 'hex')
  const { properties } = coder
  const flags = id.length | (properties.length > 0 ? 32 : 0)
  const tail = properties.length > 0 ? [number(properties.length), properties] : []
  return Buffer.concat([Buffer.from([1, flags]), id, ...tail])
}

// The longest form is always valid.
function number(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xff)
  bytes.writeBigUInt64LE(BigInt(value), 1)
  return bytes
}
