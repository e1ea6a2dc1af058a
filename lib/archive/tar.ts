// Random access to a tar by walking its headers (POSIX 1003.1 pax, GNU tar):
//   file   = { header data padding } zero-block zero-block       in blocks of 512 bytes
//   header = name:100 mode:8 uid:8 gid:8 size:12 time:12 checksum:8 type:1 link:100
//            "ustar" version user:32 group:32 device:16 prefix:155
//   type   = 0 NUL 7 file | 5 folder | L long name of the next | x records for the next | g for all
//   record = length " " key "=" value "\n"
import { Unreadable } from '../errors.ts'
import type { File } from '../file.ts'
import type { Limits } from '../format/contract.ts'
import type { Container, Entry } from './container.ts'
import { decodeName } from './entry-name.ts'

type TarEntry = Entry & { position: number }
/** What extended headers say about the next entry. */
type Said = { name?: Buffer; size?: number; isSparse?: boolean }

const BLOCK = 512
const LONGEST_EXTENSION = 1024 * 1024

/** Whether a block is a tar header: the checksum is the only signature that old archives have. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length < BLOCK || block[0] === 0) return false
  const stated = octal(Buffer.from(block.buffer, block.byteOffset + 148, 8))
  let unsigned = 256
  let signed = 256
  for (let i = 0; i < BLOCK; i += 1) {
    // The checksum counts itself as eight blanks: the 256 above.
    if (i >= 148 && i < 156) continue
    unsigned += block[i]!
    signed += (block[i]! << 24) >> 24
  }
  return stated === unsigned || stated === signed
}

/** Opens a tar. Throws Unreadable `not_an_archive`, `too_large`. */
export async function openTar(file: File, limits: Limits): Promise<Container> {
  const warnings: string[] = []
  const entries = walk(file, limits, warnings)
  const read = (entry: Entry, bytes: number) => file.read((entry as TarEntry).position, bytes)
  return {
    entries,
    warnings,
    async read(entry, maxBytes) {
      if (entry.bytes > maxBytes)
        throw new Unreadable('The file in the archive is too large', 'too_large')
      const bytes = read(entry, entry.bytes)
      if (bytes.length < entry.bytes)
        throw new Unreadable('The archive ends before the file does', 'truncated')
      return new Uint8Array(bytes)
    },
    head: async (entry, bytes) => read(entry, Math.min(bytes, entry.bytes)),
    [Symbol.asyncDispose]: async () => {},
  }
}

function walk(file: File, limits: Limits, warnings: string[]): TarEntry[] {
  const entries: TarEntry[] = []
  let said: Said = {}
  for (let at = 0, blocks = 0; at + BLOCK <= file.size; blocks += 1) {
    const header = file.read(at, BLOCK)
    if (header[0] === 0 && header.every(byte => byte === 0)) break
    if (!isTarHeader(header)) {
      if (blocks === 0) throw new Unreadable('The file is no tar archive', 'not_an_archive')
      warnings.push('The archive is damaged; the files behind the damage were left out')
      break
    }
    if (blocks > limits.entries * 2)
      throw new Unreadable('The archive lists too many files', 'too_large')
    const type = String.fromCharCode(header[156]!)
    const size = (isFile(type) ? said.size : undefined) ?? number(header.subarray(124, 136))
    const position = at + BLOCK
    if (position + size > file.size) {
      warnings.push('The archive ends too early')
      break
    }
    at = position + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'g') continue
    if (type === 'x' || type === 'L') {
      said = { ...said, ...extension(file, type, position, size) }
      continue
    }
    if (type === 'K') continue
    const name = decodeName(said.name ?? headerName(header))
    if (isFile(type) && !said.isSparse && !name.endsWith('/'))
      entries.push({ name, bytes: size, packed: size, index: entries.length, position })
    said = {}
  }
  return entries
}

const isFile = (type: string) => type === '0' || type === '\0' || type === '7'

function headerName(header: Buffer): Buffer {
  const name = untilZero(header.subarray(0, 100))
  const prefix = untilZero(header.subarray(345, 500))
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0'
  return isPosix && prefix.length > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name
}

function untilZero(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

// GNU tar writes numbers that do not fit in octal as base 256 with the top bit set.
function number(field: Buffer): number {
  if ((field[0]! & 0x80) === 0) return octal(field)
  let value = field[0]! & 0x7f
  for (const byte of field.subarray(1)) value = value * 256 + byte
  return value
}

const octal = (field: Buffer) =>
  Number.parseInt(field.toString('latin1').replaceAll('\0', ' ').trim() || '0', 8) || 0

function extension(file: File, type: string, position: number, size: number): Said {
  if (size > LONGEST_EXTENSION) return {}
  const bytes = file.read(position, size)
  if (type === 'L') return { name: untilZero(bytes) }
  const said: Said = {}
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const length = space < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, space), 10)
    if (!(length > space - at + 1) || at + length > bytes.length) break
    const equals = bytes.indexOf(0x3d, space)
    const key = bytes.toString('latin1', space + 1, equals)
    const value = bytes.subarray(equals + 1, at + length - 1)
    if (key === 'path') said.name = value
    else if (key === 'size')
      said.size = Math.max(0, Number.parseInt(value.toString('latin1'), 10) || 0)
    else if (key.startsWith('GNU.sparse.')) said.isSparse = true
    at += length
  }
  return said
}
