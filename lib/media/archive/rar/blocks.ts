// Blocks of a RAR archive and the entries that they describe, common to RAR 1.5-4 and RAR 5: walks from header to header.
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { Entry } from '../container.ts'
import type { Limits } from '../limits.ts'

export type RarEntry = Entry & {
  /** Location of the file header, which precedes the packed data. */
  header: { position: number; length: number }
  /** Offset of the packed data. */
  position: number
  /** CRC-32; null when the archive uses another checksum. */
  crc: number | null
  /** Compression method; 0 is stored. */
  method: number
  /** Version of the compression algorithm: 15, 20, 26, 29, 36 in RAR 1.5 to 4; 50 and 70 later. */
  version: number
  /** Decompression continues the state of the previous entry. */
  isSolid: boolean
  isEncrypted: boolean
  /** The entry that contains the data, when this one is a hard link or file copy. */
  copyOf: RarEntry | null
}

export type Listing = { entries: RarEntry[]; damage: Unreadable | null }

export const truncated = () => new Unreadable('The archive ends too early', 'truncated')
export const damaged = () =>
  new Unreadable('The archive is damaged; files after the damage were skipped', 'bad_crc')

const chunkBytes = 256 * 1024
/** Longest file header to search for; allowing longer ones would make searching a whole file expensive. */
export const maxSearchedHeaderBytes = 4096
// Read in advance of every block on a slow disk: the header, and what measuring an image needs.
const preloadedBytes = 16 * 1024
// How far to search for the first header in a file without a signature.
const maxPrefixBytes = 16 * 1024 * 1024

type Blocks<Block> = {
  /** Fewer bytes at the end of the file are no block. */
  minBytes: number
  /** Whether a file header with a valid checksum begins at `i`. */
  isFileHeader(bytes: Buffer, i: number): boolean
  /** The block, or why it cannot be read. */
  read(file: File, position: number): Block | Unreadable
  /** Whether it is the last block. Throws Unreadable for an archive that is not read. */
  isEnd(block: Block): boolean
  visit(block: Block): void
}

/**
 * Visits the blocks from `from` (null: from the first file header found), skipping data by offset, and returns the first
 * damage. Throws Unreadable `too_large`, and what `isEnd` throws.
 */
export async function walkBlocks<Block extends { headerBytes: number; dataBytes: number }>(
  file: File,
  { limits, from }: { limits: Limits; from: number | null },
  { minBytes, isFileHeader, read, isEnd, visit }: Blocks<Block>,
): Promise<Unreadable | null> {
  const find = (position: number, maxBytes?: number) =>
    findFileHeader(file, position, { isFileHeader, maxBytes })
  let damage: Unreadable | null = null
  let at = from ?? find(0, maxPrefixBytes) ?? file.size
  let dataAt = at
  for (let count = 0; at + minBytes <= file.size; count += 1) {
    if (count > limits.entries * 2)
      throw new Unreadable('The archive contains too many files', 'too_large')
    if (file.preload) await file.preload([{ position: at, length: preloadedBytes }])
    const block = read(file, at)
    const isRead = !(block instanceof Unreadable)
    if (isRead) {
      if (isEnd(block)) break
      dataAt = at + block.headerBytes
      at = dataAt + block.dataBytes
    }
    if (!isRead || at > file.size) {
      damage ??= isRead ? truncated() : block
      // Other files may follow damage, and data that is cut short.
      const next = find(dataAt)
      if (next === null) break
      at = next
      if (!isRead) dataAt = next + 1
    }
    if (isRead) visit(block)
  }
  return damage
}

type Search = Pick<Blocks<never>, 'isFileHeader'> & { maxBytes?: number | undefined }

/** The position of the first file header at or after `from`; null if there is none. Reads the file once. */
function findFileHeader(
  file: File,
  from: number,
  { isFileHeader, maxBytes = Number.POSITIVE_INFINITY }: Search,
): number | null {
  for (let start = from; start < Math.min(file.size, from + maxBytes); start += chunkBytes) {
    const chunk = file.read(start, chunkBytes + maxSearchedHeaderBytes)
    const end = Math.min(chunkBytes, chunk.length)
    for (let i = 0; i < end; i += 1) if (isFileHeader(chunk, i)) return start + i
  }
  return null
}
