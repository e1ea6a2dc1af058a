// Local header of a ZIP entry before its data, and the descriptor after it (APPNOTE 4.3.7, 4.3.9).
//   header     = "PK\3\4" needed:2 flags:2 method:2 time:2 date:2 crc:4 packed:4 bytes:4 name-length:2 extra-length:2
//                name extra
//   descriptor = ["PK\7\8"] crc:4 packed:4 bytes:4, when bit 3 of the flags is set; the CRC in the header is 0 then
import { crc32 } from 'node:zlib'
import { DESCRIPTOR, LOCAL_HEADER, LOCAL_HEADER_BYTES } from '../archive/zip/signatures.ts'

const HAS_DESCRIPTOR = 8

/** Bytes of a descriptor up to the end of its CRC. */
export const DESCRIPTOR_BYTES = 8

/** Length of the local header that `bytes` begin with; null when there is none. */
export function localHeaderLength(bytes: Buffer): number | null {
  if (bytes.length < LOCAL_HEADER_BYTES || bytes.readUInt32LE(0) !== LOCAL_HEADER) return null
  return LOCAL_HEADER_BYTES + bytes.readUInt16LE(26) + bytes.readUInt16LE(28)
}

/** Whether the name of the entry, decoded, has that CRC-32. `bytes` are its header. */
export async function hasName(bytes: Buffer, nameCrc: number): Promise<boolean> {
  const name = bytes.subarray(LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + bytes.readUInt16LE(26))
  if (crc32(name) === nameCrc) return true
  // Loading the decoders takes longer than a page.
  const { decodeName } = await import('../archive/entry-name.ts')
  return crc32(decodeName(name)) === nameCrc
}

/** The CRC-32 that an entry declares; `bytes` are its header, data and descriptor. Null if they end before it. */
export function declaredCrc(bytes: Buffer, packedBytes: number): number | null {
  const length = localHeaderLength(bytes)
  if (length === null) return null
  if ((bytes.readUInt16LE(6) & HAS_DESCRIPTOR) === 0) return bytes.readUInt32LE(14)
  const end = length + packedBytes
  if (bytes.length < end + DESCRIPTOR_BYTES) return null
  const first = bytes.readUInt32LE(end)
  return first === DESCRIPTOR ? bytes.readUInt32LE(end + 4) : first
}
