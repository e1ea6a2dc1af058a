// Parser for the block headers of RAR 1.5 to 4 (technote.txt of RAR 4):
//   archive = "Rar!" 1A 07 00 block*
//   block   = crc:2 type:1 flags:2 length:2 more data?
//   main    = type 73 reserved:6        flags 1 volume, 2 comment, 80 packed names, 100 first volume
//   file    = type 74 packed:4 bytes:4 host:1 crc:4 time:4 version:1 method:1 name-length:2 attributes:4
//             (packed-high:4 bytes-high:4)? name salt? times?
//             flags 1 continued from, 2 continued in another volume, 4 encrypted, 10 solid, E0 directory,
//             100 large, 200 Unicode name
//   end     = type 7B                   flags 1 another volume follows
//   name    = plain (0 high:1 { four times 2 bits : code* })?
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { decodeNames, normalizeName } from '../entry-name.ts'
import type { Limits } from '../limits.ts'
import {
  damaged,
  type Listing,
  maxSearchedHeaderBytes,
  type RarEntry,
  truncated,
  walkBlocks,
} from './blocks.ts'

const types = { mark: 0x72, main: 0x73, file: 0x74, service: 0x7a, end: 0x7b }
const flag = {
  split: 3,
  encrypted: 4,
  comment: 8,
  solid: 0x10,
  folder: 0xe0,
  large: 0x100,
  unicode: 0x200,
  data: 0x8000,
}
const main = { volume: 1, comment: 2, encrypted: 0x80, firstVolume: 0x100 }
const BLOCK_HEADER_BYTES = 7
const FILE_HEADER_BYTES = 32
const HOST_UNIX = 3
const DOS_DIRECTORY = 0x10
const HEADER_READ_BYTES = 512
const MAX_NAME_UNITS = 4096

type Block = {
  type: number
  flags: number
  bytes: Buffer
  position: number
  headerBytes: number
  dataBytes: number
}

/**
 * Lists the files by walking the headers from `from` (null: from the first file header found), skipping data
 * by offset. Throws Unreadable `encrypted`, `multi_volume`, `too_large`.
 */
export async function listRar4(file: File, limits: Limits, from: number | null): Promise<Listing> {
  const entries: RarEntry[] = []
  const undecoded: RarEntry[] = []
  let isVolume = false
  let isEnded = false
  const damage = await walkBlocks<Block>(
    file,
    { limits, from },
    {
      ...{ minBytes: BLOCK_HEADER_BYTES, isFileHeader, read: readBlock },
      isEnd(block) {
        if (block.type === types.main) isVolume = checkMain(block)
        const hasNextVolume = block.type === types.end && isVolume && (block.flags & 1) !== 0
        const isSplit = block.type === types.file && (block.flags & flag.split) !== 0
        if (hasNextVolume || isSplit)
          throw new Unreadable('The archive is one of several volumes', 'multi_volume')
        isEnded = block.type === types.end
        return isEnded
      },
      visit(block) {
        const entry = block.type === types.file ? readFileHeader(block, entries.length) : null
        if (entry === null) return
        entries.push(entry)
        if (!hasUnicodeName(block)) undecoded.push(entry)
      },
    },
  )
  await decodeNames(undecoded)
  // Archives before RAR 3 have no end block, but they contain files.
  const isCut = !isEnded && entries.length === 0
  return { entries, damage: damage ?? (isCut ? truncated() : null) }
}

function isFileHeader(bytes: Buffer, i: number): boolean {
  if (bytes[i + 2] !== types.file || i + FILE_HEADER_BYTES > bytes.length) return false
  const length = bytes.readUInt16LE(i + 5)
  const [version, method] = [bytes[i + 24]!, bytes[i + 25]!]
  if (length < FILE_HEADER_BYTES || length > maxSearchedHeaderBytes || version > 36) return false
  if (method < 0x30 || method > 0x35 || i + length > bytes.length) return false
  return (crc32(bytes.subarray(i + 2, i + length)) & 0xffff) === bytes.readUInt16LE(i)
}

/** The block, or why it cannot be read. */
function readBlock(file: File, position: number): Block | Unreadable {
  const buffered = file.read(position, HEADER_READ_BYTES)
  const length = buffered.readUInt16LE(5)
  if (length < BLOCK_HEADER_BYTES) return damaged()
  const bytes =
    length <= buffered.length ? buffered.subarray(0, length) : file.read(position, length)
  if (bytes.length < length) return truncated()
  const type = bytes[2]!
  const flags = bytes.readUInt16LE(3)
  const isKnown = type > types.mark && type <= types.end
  const isFile = type === types.file || type === types.service
  if (!isKnown || (isFile && length < FILE_HEADER_BYTES)) return damaged()
  // The checksum of a header with an embedded comment covers only the part before the comment.
  const hasComment =
    (isFile && (flags & flag.comment) !== 0) ||
    (type === types.main && (flags & main.comment) !== 0)
  const isChecked = !hasComment && (isFile || type === types.main || type === types.end)
  if (isChecked && (crc32(bytes.subarray(2)) & 0xffff) !== bytes.readUInt16LE(0)) return damaged()
  let data = isFile || ((flags & flag.data) !== 0 && length >= 11) ? bytes.readUInt32LE(7) : 0
  if (isFile && (flags & flag.large) !== 0 && length >= FILE_HEADER_BYTES + 8)
    data += bytes.readUInt32LE(32) * 2 ** 32
  return { type, flags, bytes, position, headerBytes: length, dataBytes: data }
}

function checkMain({ flags }: Block): boolean {
  if ((flags & main.encrypted) !== 0) throw new Unreadable('The archive is encrypted', 'encrypted')
  return (flags & main.volume) !== 0
}

function readFileHeader(block: Block, index: number): RarEntry | null {
  const { bytes: header, flags, position, dataBytes } = block
  const host = header[15]!
  const attributes = header.readUInt32LE(28)
  const isFolder = (flags & flag.folder) === flag.folder
  const isUnixOther = host === HOST_UNIX && ![0, 8].includes((attributes >>> 12) & 15)
  if (isFolder || isUnixOther || (host < HOST_UNIX && (attributes & DOS_DIRECTORY) !== 0))
    return null
  const nameBytes = nameBytesOf(block)
  return {
    name: hasUnicodeName(block) ? decodeUnicodeName(nameBytes) : nameBytes.toString('latin1'),
    sizeBytes: header.readUInt32LE(11) + (isLarge(block) ? header.readUInt32LE(36) * 2 ** 32 : 0),
    packedBytes: dataBytes,
    index,
    header: { position, length: header.length },
    position: position + header.length,
    crc: header.readUInt32LE(16),
    method: Math.max(0, header[25]! - 0x30),
    version: header[24]!,
    isSolid: (flags & flag.solid) !== 0,
    isEncrypted: (flags & flag.encrypted) !== 0,
    copyOf: null,
  }
}

const isLarge = ({ bytes, flags }: Block) =>
  (flags & flag.large) !== 0 && bytes.length >= FILE_HEADER_BYTES + 8

function nameBytesOf(block: Block): Buffer {
  const { bytes } = block
  const start = isLarge(block) ? FILE_HEADER_BYTES + 8 : FILE_HEADER_BYTES
  return bytes.subarray(start, start + bytes.readUInt16LE(26))
}

// Without a plain name before it, the name is UTF-8.
const hasUnicodeName = (block: Block) =>
  (block.flags & flag.unicode) !== 0 && nameBytesOf(block).includes(0)

// Two bits per character: low byte only; low byte with the common high byte; both bytes; a run copied from
// the plain name, optionally with an offset.
function decodeUnicodeName(bytes: Buffer): string {
  const zero = bytes.indexOf(0)
  const plain = bytes.subarray(0, zero)
  const packed = bytes.subarray(zero + 1)
  const high = (packed[0] ?? 0) << 8
  const units: number[] = []
  let at = 1
  for (let left = 0, codes = 0; at < packed.length && units.length < MAX_NAME_UNITS; left -= 2) {
    if (left === 0) {
      codes = packed[at++]!
      left = 8
    }
    const kind = (codes >> (left - 2)) & 3
    const next = packed[at++] ?? 0
    if (kind === 0) units.push(next)
    else if (kind === 1) units.push(high | next)
    else if (kind === 2) units.push(next | ((packed[at++] ?? 0) << 8))
    else {
      const shift = (next & 0x80) !== 0 ? (packed[at++] ?? 0) : null
      for (let i = (next & 0x7f) + 2; i > 0; i -= 1) {
        const from = plain[units.length] ?? 0
        units.push(shift === null ? from : high | ((from + shift) & 0xff))
      }
    }
  }
  return normalizeName(String.fromCharCode(...units))
}
