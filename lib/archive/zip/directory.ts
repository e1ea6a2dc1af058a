// Finds and reads the central directory of a ZIP, from the end of the file:
//   file    = prefix? { local data descriptor? } directory end64? locator? end junk?
//   end64   = "PK\6\6" size:8 made-by:2 needed:2 disk:4 directory-disk:4 here:8 entries:8 bytes:8 offset:8
//   locator = "PK\6\7" disk:4 end64-offset:8 disks:4
//   end     = "PK\5\6" disk:2 directory-disk:2 here:2 entries:2 bytes:4 offset:4 comment-length:2 comment
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import { RECORD, RECORD_BYTES, readRecord, recordLength, type ZipEntry } from './entry.ts'

/** Reads a span; shorter only at the end of the file. */
export type Read = (position: number, length: number) => Buffer
export type Directory = { entries: ZipEntry[]; isWhole: boolean }
type Place = { start: number; end: number; shift: number; count: number }
type Claim = { end: number; bytes: number; offset: number; count: number }

const END_BYTES = 22
const LOCATOR = 0x07064b50
const LOCATOR_BYTES = 20
const END64 = 0x06064b50
const END64_BYTES = 56
const LOCAL = 0x04034b50
const LONGEST_TAIL = 128 * 1024
// Small archives are read whole, in one call: 20 µs for 128 KiB against 2 µs for each header.
export const SMALL = 128 * 1024
const RECORD_LIMIT = 1024

/** A reader that has the end of the file in memory, small files whole. */
export function readTail(file: File): Read {
  const length =
    file.size <= SMALL ? file.size : Math.min(65_536, Math.max(8192, Math.ceil(file.size / 256)))
  const start = file.size - length
  const tail = file.read(start, length)
  return (position, wanted) =>
    position >= start
      ? tail.subarray(position - start, position - start + wanted)
      : file.read(position, wanted)
}

/** The directory; `absent` without an end record, `lost` when the end record leads to none. Throws Unreadable `multi_volume`, `too_large`. */
export function readDirectory(
  file: File,
  read: Read,
  limits: Limits,
): Directory | 'absent' | 'lost' {
  const place = findPlace(file.size, read)
  if (typeof place === 'string') return place
  const length = place.end - place.start
  if (length > limits.entries * RECORD_LIMIT)
    throw new Unreadable('The archive lists too many files', 'too_large')
  const bytes = read(place.start, length)
  const entries: ZipEntry[] = []
  let index = 0
  let at = 0
  for (let size = recordLength(bytes, 0); size > 0; size = recordLength(bytes, at)) {
    const entry = readRecord(bytes, at, index)
    if (entry !== null) entries.push(entry)
    index += 1
    if (index > limits.entries)
      throw new Unreadable('The archive lists too many files', 'too_large')
    at += size
  }
  place.shift = trueShift(entries[0], place.shift, read)
  if (place.shift !== 0) for (const entry of entries) entry.offset += place.shift
  // The count is not trusted: 16-bit counts wrap around, and some writers lie.
  return { entries, isWhole: at === bytes.length || index >= place.count }
}

function findPlace(size: number, read: Read): Place | 'absent' | 'lost' {
  let outcome: 'absent' | 'lost' = 'absent'
  const short = Math.min(size, size <= SMALL ? size : 8192)
  for (const length of short < size ? [short, Math.min(size, LONGEST_TAIL)] : [short]) {
    const tail = read(size - length, length)
    // The true end record reaches the end of the file; others may sit in a comment or before junk.
    for (const isStrict of [true, false]) {
      for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
        at = tail.lastIndexOf('PK\x05\x06', at, 'latin1')
        if (at < 0) break
        if (tail.length - at < END_BYTES) continue
        const reaches = at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length
        if (reaches !== isStrict) continue
        const place = follow(tail.subarray(at, at + END_BYTES), size - length + at, read)
        if (place !== null) return place
        if (isStrict) outcome = 'lost'
      }
    }
  }
  return outcome
}

// The directory stands right before its end record. Its claimed offset only tells how far everything was
// moved by what was put before the archive.
function follow(end: Buffer, at: number, read: Read): Place | null {
  const plain: Claim = {
    end: at,
    bytes: end.readUInt32LE(12),
    offset: end.readUInt32LE(16),
    count: end.readUInt16LE(10),
  }
  const disk = end.readUInt16LE(4)
  const isWide =
    disk === 0xffff ||
    plain.count === 0xffff ||
    plain.bytes === 0xffffffff ||
    plain.offset === 0xffffffff
  const wide = readWide(at, read)
  if (disk > 0 && disk < 0xffff)
    throw new Unreadable('The archive is one of several volumes', 'multi_volume')
  const claims = isWide ? [wide, plain] : [plain, wide]
  for (const claim of claims) {
    if (claim === null) continue
    const start = claim.end - claim.bytes
    if (start < 0 || start + RECORD_BYTES > claim.end) continue
    if (read(start, 4).readUInt32LE(0) !== RECORD) continue
    return { start, end: claim.end, shift: start - claim.offset, count: claim.count }
  }
  const isEmpty = plain.count === 0 && plain.bytes === 0 && disk === 0
  return isEmpty ? { start: at, end: at, shift: 0, count: 0 } : null
}

function readWide(end: number, read: Read): Claim | null {
  const locatorAt = end - LOCATOR_BYTES
  if (locatorAt < 0) return null
  const locator = read(locatorAt, LOCATOR_BYTES)
  if (locator.readUInt32LE(0) !== LOCATOR) return null
  for (const at of [Number(locator.readBigUInt64LE(8)), locatorAt - END64_BYTES]) {
    if (at < 0 || at + END64_BYTES > locatorAt) continue
    const record = read(at, END64_BYTES)
    if (record.readUInt32LE(0) !== END64) continue
    if (locator.readUInt32LE(16) > 1)
      throw new Unreadable('The archive is one of several volumes', 'multi_volume')
    return {
      end: at,
      bytes: Number(record.readBigUInt64LE(40)),
      offset: Number(record.readBigUInt64LE(48)),
      count: Number(record.readBigUInt64LE(32)),
    }
  }
  return null
}

// Both a prefix and a lying offset move the directory; only a prefix moves the entries.
function trueShift(first: ZipEntry | undefined, shift: number, read: Read): number {
  if (first === undefined || shift === 0) return 0
  const isLocal = (at: number) => {
    const bytes = at < 0 ? null : read(at, 4)
    return bytes !== null && bytes.length === 4 && bytes.readUInt32LE(0) === LOCAL
  }
  return isLocal(first.offset + shift) || !isLocal(first.offset) ? shift : 0
}
