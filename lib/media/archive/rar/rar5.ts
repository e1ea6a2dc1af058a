// Parser for the block headers of RAR 5 and later (rarlab.com/technote.htm); v is a vint, 7 bits a byte, low first:
//   archive  = "Rar!" 1A 07 01 00 block*
//   block    = crc:4 length:v type:v flags:v (extra-length:v)? (data-length:v)? more extra? data?
//   main     = type 1 archive-flags:v (volume:v)?       archive flags 1 volume, 2 volume number present, 4 solid
//   file     = type 2 file-flags:v bytes:v attributes:v (time:4)? (crc:4)? method:v host:v name-length:v name
//   encryption = type 4        end = type 5 end-flags:v   1 another volume follows
//   extra    = { length:v kind:v data }     kind 1 encrypted, 5 link: type:v flags:v name-length:v name
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { normalizeName } from '../entry-name.ts'
import type { Limits } from '../limits.ts'
import {
  damaged,
  type Listing,
  maxSearchedHeaderBytes,
  type RarEntry,
  truncated,
  walkBlocks,
} from './blocks.ts'

const types = { main: 1, file: 2, encryption: 4, end: 5 }
const flag = { extra: 1, data: 2, splitBefore: 8, splitAfter: 16 }
const fileFlag = { folder: 1, time: 2, crc: 4, unknownSize: 8 }
const extras = { encryption: 1, link: 5 }
const links = { hard: 4, copy: 5 }
const HEADER_READ_BYTES = 512
const MAX_HEADER_BYTES = 2 * 1024 * 1024

type Reader = { bytes: Buffer; at: number }
type Block = {
  type: number
  flags: number
  reader: Reader
  extra: Buffer
  position: number
  headerBytes: number
  dataBytes: number
}

/**
 * Lists the files by walking the headers from `from` (null: from the first file header found), skipping data
 * by offset. Throws Unreadable `encrypted`, `multi_volume`, `too_large`.
 */
export async function listRar5(file: File, limits: Limits, from: number | null): Promise<Listing> {
  const entries: RarEntry[] = []
  const damage = await walkBlocks<Block>(
    file,
    { limits, from },
    {
      ...{ minBytes: 0, isFileHeader, read: readBlock },
      isEnd(block) {
        rejectVolume(block)
        if (block.type === types.encryption)
          throw new Unreadable('The archive is encrypted', 'encrypted')
        return block.type === types.end
      },
      visit(block) {
        const entry = block.type === types.file ? readFileHeader(block, entries) : null
        if (entry !== null) entries.push(entry)
      },
    },
  )
  return { entries, damage }
}

function isFileHeader(bytes: Buffer, i: number): boolean {
  // File headers are short, so their length takes one or two bytes.
  const typeAt = bytes[i + 4]! < 0x80 ? i + 5 : i + 6
  if (bytes[typeAt] !== types.file) return false
  const reader: Reader = { bytes, at: i + 4 }
  const end = readVint(reader) + reader.at
  if (!(end - i <= maxSearchedHeaderBytes) || end > bytes.length || reader.at !== typeAt)
    return false
  return crc32(bytes.subarray(i + 4, end)) === bytes.readUInt32LE(i)
}

function readVint(reader: Reader): number {
  let value = 0
  let scale = 1
  for (let i = 0; i < 10; i += 1) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) return Number.NaN
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
    scale *= 128
  }
  return Number.NaN
}

/** The block, or why it cannot be read. */
function readBlock(file: File, position: number): Block | Unreadable {
  let bytes = file.read(position, HEADER_READ_BYTES)
  const reader: Reader = { bytes, at: 4 }
  const headerSize = readVint(reader)
  const length = reader.at + headerSize
  if (bytes.length < 7) return truncated()
  if (!(length <= MAX_HEADER_BYTES) || length < 7) return damaged()
  if (length > bytes.length) bytes = file.read(position, length)
  if (bytes.length < length) return truncated()
  bytes = bytes.subarray(0, length)
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return damaged()
  reader.bytes = bytes
  const type = readVint(reader)
  const flags = readVint(reader)
  const extraLength = (flags & flag.extra) !== 0 ? readVint(reader) : 0
  const data = (flags & flag.data) !== 0 ? readVint(reader) : 0
  if (!(extraLength <= length - reader.at) || Number.isNaN(data)) return damaged()
  const extra = bytes.subarray(length - extraLength)
  return { type, flags, reader, extra, position, headerBytes: length, dataBytes: data }
}

// A volume set that fits in one volume is a complete archive: its end block has no "more volumes" flag.
function rejectVolume({ type, flags, reader }: Block) {
  const isSplit = type === types.file && (flags & (flag.splitBefore | flag.splitAfter)) !== 0
  const hasNextVolume = type === types.end && (readVint(reader) & 1) !== 0
  const isLater = type === types.main && (readVint(reader) & 2) !== 0 && readVint(reader) > 0
  if (isSplit || hasNextVolume || isLater)
    throw new Unreadable('The archive is one of several volumes', 'multi_volume')
}

function readFileHeader(block: Block, before: readonly RarEntry[]): RarEntry | null {
  const { reader, position, headerBytes, dataBytes } = block
  const flags = readVint(reader)
  const bytes = readVint(reader)
  readVint(reader)
  if ((flags & fileFlag.time) !== 0) reader.at += 4
  let crc: number | null = null
  if ((flags & fileFlag.crc) !== 0 && reader.at + 4 <= reader.bytes.length) {
    crc = reader.bytes.readUInt32LE(reader.at)
    reader.at += 4
  }
  const compression = readVint(reader)
  readVint(reader)
  const nameLength = readVint(reader)
  const name = normalizeName(reader.bytes.toString('utf8', reader.at, reader.at + nameLength))
  if ((flags & fileFlag.folder) !== 0 || !(bytes >= 0) || Number.isNaN(nameLength)) return null
  const { isEncrypted, link } = readExtraArea(block.extra)
  const entry: RarEntry = {
    name,
    sizeBytes: (flags & fileFlag.unknownSize) !== 0 ? dataBytes : bytes,
    packedBytes: dataBytes,
    index: before.length,
    header: { position, length: headerBytes },
    position: position + headerBytes,
    crc,
    method: (compression >> 7) & 7,
    version: (compression & 0x3f) === 0 ? 50 : 70,
    isSolid: (compression & 0x40) !== 0,
    isEncrypted,
    copyOf: null,
  }
  if (link === null) return entry
  const target = before.find(other => other.name === link.name)
  if ((link.type !== links.hard && link.type !== links.copy) || target === undefined) return null
  return { ...entry, sizeBytes: target.sizeBytes, crc: target.crc, copyOf: target.copyOf ?? target }
}

type Extra = { isEncrypted: boolean; link: { type: number; name: string } | null }

function readExtraArea(extra: Buffer): Extra {
  const extraArea: Extra = { isEncrypted: false, link: null }
  const reader: Reader = { bytes: extra, at: 0 }
  while (reader.at < extra.length) {
    const end = readVint(reader) + reader.at
    const kind = readVint(reader)
    if (!(end > reader.at - 1)) break
    if (kind === extras.encryption) extraArea.isEncrypted = true
    if (kind === extras.link) {
      const type = readVint(reader)
      readVint(reader)
      const length = readVint(reader)
      const name = normalizeName(extra.toString('utf8', reader.at, reader.at + length))
      extraArea.link = { type, name }
    }
    reader.at = end
  }
  return extraArea
}
