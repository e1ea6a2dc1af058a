// Primitive reads of a 7z header, and its folders:
//   number  = the leading ones of the first byte count the following bytes; its other bits are the highest
//   bits    = one bit per item, highest first
//   digests = all:1 bits? crc32:4*
import { Unreadable } from '../../../base/errors.ts'

/** `maxItems` limits the length of every list. */
export type HeaderReader = { bytes: Buffer; position: number; maxItems: number }

export const damaged = () => new Unreadable('The header of the archive is damaged', 'bad_crc')

export function readByte(reader: HeaderReader): number {
  const value = reader.bytes[reader.position]
  if (value === undefined) throw damaged()
  reader.position += 1
  return value
}

export function expectByte(reader: HeaderReader, value: number): void {
  if (readByte(reader) !== value) throw damaged()
}

/** The next `length` bytes. */
export function readBytes(reader: HeaderReader, length: number): Buffer {
  if (length > reader.bytes.length - reader.position) throw damaged()
  reader.position += length
  return reader.bytes.subarray(reader.position - length, reader.position)
}

export const skipBytes = (reader: HeaderReader, length: number) => void readBytes(reader, length)

export function readNumber(reader: HeaderReader): number {
  const first = readByte(reader)
  let value = 0
  let scale = 1
  for (let mask = 0x80; mask > 0; mask >>= 1) {
    if ((first & mask) === 0) {
      value += (first & (mask - 1)) * scale
      break
    }
    value += readByte(reader) * scale
    scale *= 256
  }
  if (value > Number.MAX_SAFE_INTEGER) throw damaged()
  return value
}

export function readBits(reader: HeaderReader, count: number): boolean[] {
  const packed = readBytes(reader, Math.ceil(count / 8))
  return Array.from({ length: count }, (_, i) => ((packed[i >> 3]! << (i & 7)) & 0x80) !== 0)
}

/** One bit per item, or a byte stating that all are set. */
export function readOptionalBits(reader: HeaderReader, count: number): boolean[] {
  return readByte(reader) === 0 ? readBits(reader, count) : new Array<boolean>(count).fill(true)
}

export function readDigests(reader: HeaderReader, count: number): (number | null)[] {
  if (count > reader.bytes.length * 8) throw damaged()
  return readOptionalBits(reader, count).map(isDefined =>
    isDefined ? readBytes(reader, 4).readUInt32LE(0) : null,
  )
}

// A folder is a graph of coders that unpacks to one stream of files.
export type Coder = { id: string; properties: Buffer; inputs: number; outputs: number }
export type Folder = {
  coders: Coder[]
  /** Output `output` is connected to input `input`, both numbered over all coders. */
  bindPairs: { input: number; output: number }[]
  /** The inputs that the pack streams are connected to. */
  packedInputs: number[]
  packStreams: { position: number; length: number }[]
  /** Uncompressed bytes of each output. */
  unpackSizes: number[]
  crc: number | null
  /** The folder as serialized in the header. */
  raw: Buffer
  substreams: Substream[]
}
export type Substream = { sizeBytes: number; crc: number | null }
/** The output that is not connected to an input: the result of the folder. */
export function mainOutput(folder: Folder): number {
  for (let i = 0; i < folder.unpackSizes.length; i += 1)
    if (!folder.bindPairs.some(({ output }) => output === i)) return i
  throw damaged()
}

/** Uncompressed bytes of the folder. */
export const unpackSizeOf = (folder: Folder) => folder.unpackSizes[mainOutput(folder)]!
