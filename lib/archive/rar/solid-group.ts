// Unpacks the entries of a RAR that are one stream: RAR 2 to 4 here, RAR 5 by libarchive as an archive of
// those entries alone.
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import { openPass, type Pass } from '../libarchive.ts'
import type { RarEntry } from './entry.ts'
import { unpackRar4 } from './unpack.ts'

/** Entries that are unpacked as one stream. */
export type Group = readonly RarEntry[]

export const signature5 = Buffer.from('526172211a070100', 'hex')
const MODERN = 50
// RAR 5 packs pages in blocks of about 17 KB, and libarchive takes whole blocks.
const taste = { classic: 4096, modern: 24 * 1024 }

/** A forward pass over the group. Throws Unreadable. */
export async function openGroup(file: File, group: Group, limits: Limits): Promise<Pass> {
  const [first] = group
  const bytes = group.reduce((sum, entry) => sum + entry.bytes, 0)
  if (bytes > limits.solidBytes)
    throw new Unreadable('The archive is too large to unpack', 'too_large')
  if (group.some(entry => entry.isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  if (first!.version < MODERN) return unpackRar4(file, group, limits)
  const spans = group.map(({ header, packed }) => ({
    position: header.position,
    length: header.length + packed,
  }))
  return openPass(file, [start(group.length > 1), ...spans, end], limits.solidBytes)
}

/** The first `bytes` of an entry that depends on no other, from the first of its packed bytes; null when those are too few. */
export async function quickHead(
  file: File,
  entry: RarEntry,
  bytes: number,
): Promise<Uint8Array | null> {
  if (entry.isSolid || bytes * 4 > entry.bytes) return null
  const isModern = entry.version >= MODERN
  const packed = bytes * 2 + (isModern ? taste.modern : taste.classic)
  if (packed * 2 > entry.packed) return null
  const { position, length } = entry.header
  try {
    using pass = isModern
      ? await openPass(file, [start(false), { position, length: length + packed }], packed * 2)
      : unpackRar4(file, [{ ...entry, bytes, packed }], { entryBytes: packed })
    return pass.next() ? pass.read(bytes) : null
  } catch (error) {
    if (error instanceof Unreadable && error.code !== 'io') return null
    throw error
  }
}

// The RAR 5 reader of libarchive looks past the end of the last packed block.
const end = Buffer.concat([Buffer.from('1d77565103050400', 'hex'), Buffer.alloc(64)])

function start(isSolid: boolean): Buffer {
  const main = Buffer.from([0, 0, 0, 0, 3, 1, 0, isSolid ? 4 : 0])
  main.writeUInt32LE(crc32(main.subarray(4)), 0)
  return Buffer.concat([signature5, main])
}
