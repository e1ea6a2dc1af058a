// The blocks of RAR 5 and later (rarlab.com/technote.htm); v is a number of 7 bits a byte, low first:
//   archive  = "Rar!" 1A 07 01 00 block*
//   block    = crc:4 length:v type:v flags:v (extra-length:v)? (data-length:v)? more extra? data?
//   main     = type 1 archive-flags:v (volume:v)?       archive flags 1 volume, 2 has its number, 4 solid
//   file     = type 2 file-flags:v bytes:v attributes:v (time:4)? (crc:4)? method:v host:v name-length:v name
//   encryption = type 4        end = type 5 end-flags:v   1 another volume follows
//   extra    = { length:v kind:v data }     kind 1 encrypted, 5 link: type:v flags:v name-length:v name
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import { tidyName } from '../entry-name.ts'
import { endsEarly, isDamaged, type Listing, type RarEntry } from './entry.ts'

const types = { main: 1, file: 2, encryption: 4, end: 5 }
const flag = { extra: 1, data: 2, splitBefore: 8, splitAfter: 16 }
const fileFlag = { folder: 1, time: 2, crc: 4, unknownSize: 8 }
const extras = { encryption: 1, link: 5 }
const links = { hard: 4, copy: 5 }
const SIGNATURE = 8
const NEAR = 512
const LONGEST_HEADER = 2 * 1024 * 1024

type Reader = { bytes: Buffer; at: number }
type Block = {
  type: number
  flags: number
  reader: Reader
  extra: Buffer
  position: number
  length: number
  data: number
}

/** Lists the files by walking the headers; data is skipped by offset. Throws Unreadable `encrypted`, `multi_volume`, `bad_crc`, `too_large`. */
export function listRar5(file: File, limits: Limits): Listing {
  const entries: RarEntry[] = []
  const warnings: string[] = []
  let at = SIGNATURE
  for (let count = 0; at < file.size; count += 1) {
    if (count > limits.entries * 2)
      throw new Unreadable('The archive lists too many files', 'too_large')
    const block = readBlock(file, at)
    if (block === null) {
      if (entries.length === 0)
        throw new Unreadable('The archive is damaged or not supported', 'bad_crc')
      warnings.push(isDamaged)
      break
    }
    refuseVolume(block)
    if (block.type === types.encryption)
      throw new Unreadable('The archive is encrypted', 'encrypted')
    if (block.type === types.end) break
    const next = at + block.length + block.data
    if (next > file.size) {
      warnings.push(endsEarly)
      break
    }
    if (block.type === types.file) {
      const entry = readFile(block, entries)
      if (entry !== null) entries.push(entry)
    }
    at = next
  }
  return { entries, warnings }
}

function number(reader: Reader): number {
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

function readBlock(file: File, position: number): Block | null {
  let bytes = file.read(position, NEAR)
  const reader: Reader = { bytes, at: 4 }
  const stated = number(reader)
  const length = reader.at + stated
  if (!(length <= LONGEST_HEADER)) return null
  if (length > bytes.length) bytes = file.read(position, length)
  if (bytes.length < length || length < 7) return null
  bytes = bytes.subarray(0, length)
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return null
  reader.bytes = bytes
  const type = number(reader)
  const flags = number(reader)
  const extraLength = (flags & flag.extra) !== 0 ? number(reader) : 0
  const data = (flags & flag.data) !== 0 ? number(reader) : 0
  if (!(extraLength <= length - reader.at) || Number.isNaN(data)) return null
  const extra = bytes.subarray(length - extraLength)
  return { type, flags, reader, extra, position, length, data }
}

// A set that fits one volume is a whole archive; its end says that nothing follows.
function refuseVolume({ type, flags, reader }: Block) {
  const isSplit = type === types.file && (flags & (flag.splitBefore | flag.splitAfter)) !== 0
  const isMore = type === types.end && (number(reader) & 1) !== 0
  const isLater = type === types.main && (number(reader) & 2) !== 0 && number(reader) > 0
  if (isSplit || isMore || isLater)
    throw new Unreadable('The archive is one of several volumes', 'multi_volume')
}

function readFile(block: Block, before: readonly RarEntry[]): RarEntry | null {
  const { reader, position, length, data } = block
  const flags = number(reader)
  const bytes = number(reader)
  number(reader)
  if ((flags & fileFlag.time) !== 0) reader.at += 4
  let crc: number | null = null
  if ((flags & fileFlag.crc) !== 0 && reader.at + 4 <= reader.bytes.length) {
    crc = reader.bytes.readUInt32LE(reader.at)
    reader.at += 4
  }
  const packing = number(reader)
  number(reader)
  const nameLength = number(reader)
  const name = tidyName(reader.bytes.toString('utf8', reader.at, reader.at + nameLength))
  if ((flags & fileFlag.folder) !== 0 || !(bytes >= 0) || Number.isNaN(nameLength)) return null
  const { isEncrypted, link } = readExtra(block.extra)
  const entry: RarEntry = {
    name,
    bytes: (flags & fileFlag.unknownSize) !== 0 ? data : bytes,
    packed: data,
    index: before.length,
    header: { position, length },
    position: position + length,
    crc,
    method: (packing >> 7) & 7,
    version: (packing & 0x3f) === 0 ? 50 : 70,
    isSolid: (packing & 0x40) !== 0,
    isEncrypted,
    copyOf: null,
  }
  if (link === null) return entry
  const target = before.find(other => other.name === link.name)
  if ((link.type !== links.hard && link.type !== links.copy) || target === undefined) return null
  return { ...entry, bytes: target.bytes, crc: target.crc, copyOf: target.copyOf ?? target }
}

type Extra = { isEncrypted: boolean; link: { type: number; name: string } | null }

function readExtra(extra: Buffer): Extra {
  const found: Extra = { isEncrypted: false, link: null }
  const reader: Reader = { bytes: extra, at: 0 }
  while (reader.at < extra.length) {
    const end = number(reader) + reader.at
    const kind = number(reader)
    if (!(end > reader.at - 1)) break
    if (kind === extras.encryption) found.isEncrypted = true
    if (kind === extras.link) {
      const type = number(reader)
      number(reader)
      const length = number(reader)
      const name = tidyName(extra.toString('utf8', reader.at, reader.at + length))
      found.link = { type, name }
    }
    reader.at = end
  }
  return found
}
