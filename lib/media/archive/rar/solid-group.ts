// Decompression of a solid group of RAR entries: RAR 2 to 4 by our own decoder, RAR 5 by libarchive from an
// archive of only these entries.
import { crc32 } from 'node:zlib'
import { scoped } from '../../../base/async/dispose.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { type ForwardReader, openLibarchive } from '../libarchive.ts'
import type { Limits } from '../limits.ts'
import type { RarEntry } from './blocks.ts'
import { createUnpack20State, unpack20 } from './unpack20.ts'
import { createUnpack29State, unpack29 } from './unpack29.ts'
import { createWindow } from './window.ts'

/** Entries that are compressed as one stream. */
export type SolidGroup = readonly RarEntry[]

export const signature5 = Buffer.from('526172211a070100', 'hex')
const RAR5_VERSION = 50
// RAR 5 compresses in blocks of about 17 KB, and libarchive needs complete blocks.
const probeBytes = { rar4: 4096, rar5: 24 * 1024 }

/** A forward reader of the group. Throws Unreadable. */
export async function openSolidGroup(
  file: File,
  group: SolidGroup,
  limits: Limits,
): Promise<ForwardReader> {
  const [first] = group
  const bytes = group.reduce((sum, entry) => sum + entry.sizeBytes, 0)
  if (bytes > limits.solidBytes)
    throw new Unreadable('The archive is too large to unpack', 'too_large')
  if (group.some(entry => entry.isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  if (first!.version < RAR5_VERSION) return openRar4Reader(file, group, limits)
  const spans = group.map(({ header, packedBytes }) => ({
    position: header.position,
    length: header.length + packedBytes,
  }))
  return openLibarchive(
    file,
    [archiveStart(group.length > 1), ...spans, archiveEnd],
    limits.solidBytes,
  )
}

/**
 * The first `bytes` of an entry, decompressed from a prefix of its packed data; null if the entry depends on
 * others or the prefix is too short.
 */
export async function readHeadAlone(
  file: File,
  entry: RarEntry,
  bytes: number,
): Promise<Uint8Array | null> {
  if (entry.isSolid || bytes * 4 > entry.sizeBytes) return null
  const isRar5 = entry.version >= RAR5_VERSION
  const packed = bytes * 2 + (isRar5 ? probeBytes.rar5 : probeBytes.rar4)
  if (packed * 2 > entry.packedBytes) return null
  const { position, length } = entry.header
  try {
    return await scoped(async use => {
      const reader = use(
        isRar5
          ? await openLibarchive(
              file,
              [archiveStart(false), { position, length: length + packed }],
              packed * 2,
            )
          : openRar4Reader(file, [{ ...entry, sizeBytes: bytes, packedBytes: packed }], {
              entryBytes: packed,
            }),
      )
      return reader.next() ? reader.read(bytes) : null
    })
  } catch (error) {
    if (error instanceof Unreadable && error.code !== 'io') return null
    throw error
  }
}

// libarchive's RAR 5 reader reads past the end of the last packed block.
const archiveEnd = Buffer.concat([Buffer.from('1d77565103050400', 'hex'), Buffer.alloc(64)])

function archiveStart(isSolid: boolean): Buffer {
  const main = Buffer.from([0, 0, 0, 0, 3, 1, 0, isSolid ? 4 : 0])
  main.writeUInt32LE(crc32(main.subarray(4)), 0)
  return Buffer.concat([signature5, main])
}

const FIRST_29 = 29
const FIRST_20 = 20

/** A forward reader of entries that form one compressed stream; libarchive rejects solid RAR 4 archives. */
function openRar4Reader(
  file: File,
  group: readonly RarEntry[],
  limits: Pick<Limits, 'entryBytes'>,
): ForwardReader {
  const window = createWindow()
  let states = { lz20: createUnpack20State(), lz29: createUnpack29State() }
  let current = -1
  let out: Uint8Array | null = null
  let delivered = 0

  const unpack = (isRequested: boolean) => {
    const entry = group[current]!
    if (
      entry.packedBytes > limits.entryBytes ||
      (isRequested && entry.sizeBytes > limits.entryBytes)
    )
      throw new Unreadable('The file in the archive is too large', 'too_large')
    if (!entry.isSolid) states = { lz20: createUnpack20State(), lz29: createUnpack29State() }
    out = isRequested ? new Uint8Array(entry.sizeBytes) : null
    Object.assign(window, { output: out, fileSize: entry.sizeBytes, written: 0 })
    const input = { bytes: file.read(entry.position, entry.packedBytes), position: 0 }
    if (entry.version >= FIRST_29) unpack29(states.lz29, input, window)
    else if (entry.version >= FIRST_20) unpack20(states.lz20, input, window)
    // RAR 1.5 uses another algorithm (before 1996); no comics packed with it are known.
    else throw new Unreadable('RAR 1.5 packing is not supported', 'unsupported_method')
    isUnpacked = true
  }
  let isUnpacked = true
  return {
    next() {
      if (!isUnpacked) unpack(false)
      current += 1
      isUnpacked = false
      out = null
      delivered = 0
      return current < group.length
    },
    read(bytes) {
      if (!isUnpacked) unpack(true)
      delivered += bytes
      return out!.slice(delivered - bytes, delivered)
    },
    [Symbol.dispose]: () => {},
  }
}
