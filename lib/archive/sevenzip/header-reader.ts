// The small change of a 7z header:
//   number  = the leading ones of the first byte count the bytes that follow; its other bits are the highest
//   flags   = one bit each, highest first
//   digests = all:1 flags? crc32:4*
import { Unreadable } from '../../errors.ts'

/** `most` bounds every list. */
export type Reader = { bytes: Buffer; at: number; most: number }

export const damaged = () =>
  new Unreadable('The list of files in the archive is damaged', 'bad_crc')

export function byte(reader: Reader): number {
  const value = reader.bytes[reader.at]
  if (value === undefined) throw damaged()
  reader.at += 1
  return value
}

export function expect(reader: Reader, value: number): void {
  if (byte(reader) !== value) throw damaged()
}

/** The next `length` bytes. */
export function bits(reader: Reader, length: number): Buffer {
  if (length > reader.bytes.length - reader.at) throw damaged()
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}

export const skip = (reader: Reader, length: number) => void bits(reader, length)

export function number(reader: Reader): number {
  const first = byte(reader)
  let value = 0
  let scale = 1
  for (let mask = 0x80; mask > 0; mask >>= 1) {
    if ((first & mask) === 0) {
      value += (first & (mask - 1)) * scale
      break
    }
    value += byte(reader) * scale
    scale *= 256
  }
  if (value > Number.MAX_SAFE_INTEGER) throw damaged()
  return value
}

export function flags(reader: Reader, count: number): boolean[] {
  const packed = bits(reader, Math.ceil(count / 8))
  return Array.from({ length: count }, (_, i) => ((packed[i >> 3]! << (i & 7)) & 0x80) !== 0)
}

/** Like `flags`, after a byte that may say that all are set. */
export function optionalFlags(reader: Reader, count: number): boolean[] {
  return byte(reader) === 0 ? flags(reader, count) : new Array<boolean>(count).fill(true)
}

export function digests(reader: Reader, count: number): (number | null)[] {
  if (count > reader.bytes.length * 8) throw damaged()
  return optionalFlags(reader, count).map(isKnown =>
    isKnown ? bits(reader, 4).readUInt32LE(0) : null,
  )
}
