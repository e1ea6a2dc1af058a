// Generators of RAR 5 and 7z archives of stored files.
//
// rar: "Rar!" 1A 07 01 00, block*; block: u32 crc32, vint bytes after it, vint type, vint flags, …, data
// 7z:  "7z" BC AF 27 1C, version, u32 crc of the next 20 bytes, u64 offset, u64 length, u32 crc of the
//      header; packed data; header
import { crc32 } from 'node:zlib'

/** `attributes`: of 7z, those of Windows with the Unix mode in their upper half. */
type Stored = { name: string; bytes: Uint8Array; attributes?: number }

const vint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...vint(Math.floor(value / 128))]

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
const u64 = (value: number) => Buffer.concat([u32(value), u32(value / 2 ** 32)])

function rarBlock(fields: number[] | Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(vint(fields.length)), Buffer.from(fields)])
  return Buffer.concat([u32(crc32(content)), content])
}

export function storedRar(files: readonly Stored[]): Buffer {
  const blocks = files.flatMap(({ name, bytes }) => {
    const nameBytes = Buffer.from(name)
    // Type 2 with data; file flag 4: a checksum follows; method 0, Unix.
    const size = vint(bytes.length)
    const file = [4, ...size, 0, ...u32(crc32(bytes)), 0, 1, nameBytes.length, ...nameBytes]
    return [rarBlock([2, 2, ...size, ...file]), Buffer.from(bytes)]
  })
  const signature = Buffer.from('526172211a070100', 'hex')
  return Buffer.concat([signature, rarBlock([1, 0, 0]), ...blocks, rarBlock([5, 0, 0])])
}

/** Numbers of 7z: the count of leading ones is the number of bytes after it. */
const number7z = (value: number): number[] => (value < 128 ? [value] : [0xff, ...u64(value)])

export function storedSevenZip(files: readonly Stored[]): Buffer {
  const packed = Buffer.concat(files.map(({ bytes }) => bytes))
  const names = Buffer.concat(files.map(({ name }) => Buffer.from(`${name}\0`, 'utf16le')))
  const header = Buffer.from([
    // Header, main streams info: one pack stream per file
    ...[0x01, 0x04, 0x06, 0, ...number7z(files.length)],
    ...[0x09, ...files.flatMap(({ bytes }) => number7z(bytes.length)), 0x00],
    // One folder per file with the coder Copy
    ...[0x07, 0x0b, ...number7z(files.length), 0, ...files.flatMap(() => [1, 0x01, 0x00])],
    ...[0x0c, ...files.flatMap(({ bytes }) => number7z(bytes.length))],
    ...[0x0a, 1, ...files.flatMap(({ bytes }) => [...u32(crc32(bytes))]), 0x00, 0x00],
    // Files info: names, attributes of all files
    ...[0x05, ...number7z(files.length), 0x11, ...number7z(names.length + 1), 0, ...names],
    ...[0x15, ...number7z(files.length * 4 + 2), 1, 0],
    ...files.flatMap(({ attributes = 0 }) => [...u32(attributes)]),
    ...[0x00, 0x00],
  ])
  const start = Buffer.concat([u64(packed.length), u64(header.length), u32(crc32(header))])
  const signature = Buffer.from('377abcaf271c0004', 'hex')
  return Buffer.concat([signature, u32(crc32(start)), start, packed, header])
}

/** A 7z of one file behind `filters` delta filters of distance 1 and the coder Copy. */
export function filteredSevenZip(name: string, bytes: Buffer, filters: number): Buffer {
  let packed = Buffer.from(bytes)
  for (let i = 0; i < filters; i += 1)
    packed = Buffer.from(packed.map((byte, at) => byte - (packed[at - 1] ?? 0)))
  const size = number7z(bytes.length)
  const coders = filters + 1
  const header = Buffer.from([
    ...[0x01, 0x04, 0x06, 0, 1, 0x09, ...size, 0x00],
    // One folder: the filters with a property each, then Copy; each reads the next.
    ...[0x07, 0x0b, 1, 0, coders],
    ...Array.from({ length: filters }, () => [0x21, 0x03, 1, 0]).flat(),
    ...[0x01, 0x00],
    ...Array.from({ length: filters }, (_, i) => [i, i + 1]).flat(),
    ...[0x0c, ...Array.from({ length: coders }, () => size).flat()],
    ...[0x0a, 1, ...u32(crc32(bytes)), 0x00, 0x00],
    ...[0x05, 1, 0x11, (name.length + 1) * 2 + 1, 0, ...Buffer.from(`${name}\0`, 'utf16le'), 0x00],
    0x00,
  ])
  const start = Buffer.concat([u64(packed.length), u64(header.length), u32(crc32(header))])
  const signature = Buffer.from('377abcaf271c0004', 'hex')
  return Buffer.concat([signature, u32(crc32(start)), start, packed, header])
}
