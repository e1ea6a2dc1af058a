// The blocks of RAR 1.5 to 4 (technote.txt of RAR 4):
//   archive = "Rar!" 1A 07 00 block*
//   block   = crc:2 type:1 flags:2 length:2 more data?
//   main    = type 73 reserved:6        flags 1 volume, 2 comment, 80 packed names, 100 first volume
//   file    = type 74 packed:4 bytes:4 host:1 crc:4 time:4 version:1 method:1 name-length:2 attributes:4
//             (packed-high:4 bytes-high:4)? name salt? times?
//             flags 1 from, 2 into another volume, 4 encrypted, 10 solid, E0 folder, 100 large, 200 Unicode
//   end     = type 7B                   flags 1 another volume follows
//   name    = plain (0 high:1 { four times 2 bits : code* })?
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import { decodeName, tidyName } from '../entry-name.ts'
import { endsEarly, isDamaged, type Listing, type RarEntry } from './entry.ts'

const types = { main: 0x73, file: 0x74, service: 0x7a, end: 0x7b }
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
const SIGNATURE = 7
const BLOCK = 7
const FILE = 32
const UNIX = 3
const DOS_FOLDER = 0x10
const NEAR = 512
const LONGEST_NAME = 4096

type Block = { type: number; flags: number; bytes: Buffer; position: number; data: number }

/** Lists the files by walking the headers; data is skipped by offset. Throws Unreadable `encrypted`, `multi_volume`, `bad_crc`, `too_large`. */
export function listRar4(file: File, limits: Limits): Listing {
  const entries: RarEntry[] = []
  const warnings: string[] = []
  let isVolume = false
  let at = SIGNATURE
  for (let count = 0; at + BLOCK <= file.size; count += 1) {
    if (count > limits.entries * 2)
      throw new Unreadable('The archive lists too many files', 'too_large')
    const block = readBlock(file, at)
    if (block === null) {
      if (entries.length === 0)
        throw new Unreadable('The archive is damaged or not supported', 'bad_crc')
      warnings.push(isDamaged)
      break
    }
    if (block.type === types.main) isVolume = checkMain(block)
    const isMore = block.type === types.end && isVolume && (block.flags & 1) !== 0
    const isSplit = block.type === types.file && (block.flags & flag.split) !== 0
    if (isMore || isSplit)
      throw new Unreadable('The archive is one of several volumes', 'multi_volume')
    if (block.type === types.end) break
    const next = at + block.bytes.length + block.data
    if (next > file.size) {
      warnings.push(endsEarly)
      break
    }
    if (block.type === types.file) {
      const entry = readFile(block, entries.length)
      if (entry !== null) entries.push(entry)
    }
    at = next
  }
  return { entries, warnings }
}

function readBlock(file: File, position: number): Block | null {
  const near = file.read(position, NEAR)
  const length = near.readUInt16LE(5)
  if (length < BLOCK) return null
  const bytes = length <= near.length ? near.subarray(0, length) : file.read(position, length)
  if (bytes.length < length) return null
  const type = bytes[2]!
  const flags = bytes.readUInt16LE(3)
  const isFile = type === types.file || type === types.service
  if (isFile && length < FILE) return null
  // The checksum of a header with a comment inside covers only the part before it.
  const hasComment =
    (isFile && (flags & flag.comment) !== 0) ||
    (type === types.main && (flags & main.comment) !== 0)
  const isChecked = !hasComment && (isFile || type === types.main)
  if (isChecked && (crc32(bytes.subarray(2)) & 0xffff) !== bytes.readUInt16LE(0)) return null
  let data = isFile || ((flags & flag.data) !== 0 && length >= 11) ? bytes.readUInt32LE(7) : 0
  if (isFile && (flags & flag.large) !== 0 && length >= FILE + 8)
    data += bytes.readUInt32LE(32) * 2 ** 32
  return { type, flags, bytes, position, data }
}

function checkMain({ flags }: Block): boolean {
  if ((flags & main.encrypted) !== 0) throw new Unreadable('The archive is encrypted', 'encrypted')
  return (flags & main.volume) !== 0
}

function readFile(block: Block, index: number): RarEntry | null {
  const { bytes: header, flags, position, data } = block
  const host = header[15]!
  const attributes = header.readUInt32LE(28)
  const isFolder = (flags & flag.folder) === flag.folder
  const isUnixOther = host === UNIX && ![0, 8].includes((attributes >>> 12) & 15)
  if (isFolder || isUnixOther || (host < UNIX && (attributes & DOS_FOLDER) !== 0)) return null
  const isLarge = (flags & flag.large) !== 0 && header.length >= FILE + 8
  const nameAt = isLarge ? FILE + 8 : FILE
  const nameBytes = header.subarray(nameAt, nameAt + header.readUInt16LE(26))
  return {
    name: (flags & flag.unicode) === 0 ? decodeName(nameBytes) : unicodeName(nameBytes),
    bytes: header.readUInt32LE(11) + (isLarge ? header.readUInt32LE(36) * 2 ** 32 : 0),
    packed: data,
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

// Two bits a character: its low byte; the same with the common high byte; both bytes; a run that
// copies the plain name, perhaps shifted, which is what a name in one script looks like.
function unicodeName(bytes: Buffer): string {
  const zero = bytes.indexOf(0)
  if (zero < 0) return decodeName(bytes)
  const plain = bytes.subarray(0, zero)
  const packed = bytes.subarray(zero + 1)
  const high = (packed[0] ?? 0) << 8
  const units: number[] = []
  let at = 1
  for (let left = 0, codes = 0; at < packed.length && units.length < LONGEST_NAME; left -= 2) {
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
  return tidyName(String.fromCharCode(...units))
}
