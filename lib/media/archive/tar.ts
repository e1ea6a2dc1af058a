// tar archive reader (POSIX 1003.1 pax, GNU tar): random access by walking the headers.
//   file   = { header data padding } zero-block zero-block       in blocks of 512 bytes
//   header = name:100 mode:8 uid:8 gid:8 size:12 time:12 checksum:8 type:1 link:100
//            "ustar" version user:32 group:32 device:16 prefix:155
//   type   = 0 NUL 7 file | 5 directory | L long name of the next entry | x pax records of the next | g global
//   record = length " " key "=" value "\n"
import { Unreadable } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'
import type { ArchiveFormat, Container, Entry } from './container.ts'
import { decodeNames } from './entry-name.ts'
import type { Limits } from './limits.ts'

type TarEntry = Entry & { position: number }
/** Values of extended headers (pax, GNU) that apply to the next entry. */
type ExtendedHeader = { name?: Buffer; size?: number; isSparse?: boolean }

const BLOCK = 512
// Read in advance together with the header: what measuring an image needs.
const FIRST_BYTES = 4096
const SEARCH_BYTES = 256 * 1024
const MAGIC_OFFSET = 257
// A hostile file may have the magic everywhere.
const maxProbes = 100_000
const MAX_EXTENDED_HEADER_BYTES = 1024 * 1024

/** Whether a block is a tar header. The checksum is the only signature of pre-POSIX archives. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length < BLOCK || block[0] === 0) return false
  const checksum = parseOctal(Buffer.from(block.buffer, block.byteOffset + 148, 8))
  let unsigned = 256
  let signed = 256
  for (let i = 0; i < BLOCK; i += 1) {
    // The checksum field counts as eight spaces: the initial 256.
    if (i >= 148 && i < 156) continue
    unsigned += block[i]!
    signed += (block[i]! << 24) >> 24
  }
  return checksum === unsigned || checksum === signed
}

export const tarArchive: ArchiveFormat = {
  open: openTar,
  locate: entry => ({
    offset: (entry as TarEntry).position,
    headerBytes: 0,
    packedBytes: entry.packedBytes,
    method: 0,
    crc: null,
  }),
  checksum: () => null,
}

/** Opens a tar. Throws Unreadable `not_an_archive`, `too_large`. */
export async function openTar(file: File, limits: Limits): Promise<Container> {
  const { entries, damage } = await readEntries(file, limits)
  const read = (entry: Entry, bytes: number) => file.read((entry as TarEntry).position, bytes)
  return {
    entries,
    warnings: damage === null ? [] : [damage.message],
    damage,
    async read(entry, maxBytes) {
      if (entry.sizeBytes > maxBytes)
        throw new Unreadable('The file in the archive is too large', 'too_large')
      await file.preload?.([{ ...(entry as TarEntry), length: entry.sizeBytes }])
      const bytes = read(entry, entry.sizeBytes)
      if (bytes.length < entry.sizeBytes)
        throw new Unreadable('The archive is truncated inside the file', 'truncated')
      return new Uint8Array(bytes)
    },
    async head(entry, bytes) {
      await file.preload?.([{ ...(entry as TarEntry), length: bytes }])
      return read(entry, Math.min(bytes, entry.sizeBytes))
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

type Listing = { entries: TarEntry[]; damage: Unreadable | null }

async function readEntries(file: File, limits: Limits): Promise<Listing> {
  const entries: TarEntry[] = []
  let damage: Unreadable | null = null
  let extended: ExtendedHeader = {}
  let isTar = false
  let isEnded = false
  let at = 0
  if (file.size < BLOCK && isHeaderStart(file.read(0, BLOCK))) throw endsTooEarly()
  let dataAt = 1
  for (let blocks = 0; at + BLOCK <= file.size; blocks += 1) {
    if (file.preload) await file.preload([{ position: at, length: BLOCK + FIRST_BYTES }])
    const header = file.read(at, BLOCK)
    isEnded = header[0] === 0 && header.every(byte => byte === 0)
    if (isEnded && blocks > 0) break
    if (!isTarHeader(header)) {
      damage ??= new Unreadable('The archive is damaged; files were skipped', 'bad_crc')
      const next = findHeader(file, dataAt)
      if (next === null) break
      extended = {}
      at = next
      dataAt = next + 1
      continue
    }
    if (blocks > limits.entries * 2)
      throw new Unreadable('The archive contains too many files', 'too_large')
    isTar = true
    const type = String.fromCharCode(header[156]!)
    const size =
      (isRegularFile(type) ? extended.size : undefined) ?? parseNumber(header.subarray(124, 136))
    const position = at + BLOCK
    dataAt = position
    if (position + size > file.size) {
      damage ??= endsTooEarly()
      break
    }
    at = position + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'g') continue
    if (type === 'x' || type === 'L') {
      extended = { ...extended, ...readExtendedHeader(file, type, position, size) }
      continue
    }
    if (type === 'K') continue
    const name = (extended.name ?? headerName(header)).toString('latin1')
    if (isRegularFile(type) && !extended.isSparse && !name.endsWith('/'))
      entries.push({ name, sizeBytes: size, packedBytes: size, index: entries.length, position })
    extended = {}
  }
  if (!isTar) throw new Unreadable('The file is not a tar archive', 'not_an_archive')
  // Some writers omit the final zero blocks, but an incomplete block is truncation.
  if (!isEnded && at !== file.size) damage ??= endsTooEarly()
  await decodeNames(entries)
  return { entries: entries.filter(entry => !entry.name.endsWith('/')), damage }
}

/** Recognizes a name padded with zero bytes, followed by a mode. */
const isHeaderStart = (block: Buffer) =>
  /^[^\0-\x1f]+\0+(?:[0-7 ]{6,7}[\0 ]|$)/.test(block.toString('latin1', 0, 108))

const endsTooEarly = () => new Unreadable('The archive ends too early', 'truncated')

/**
 * Finds the next header by its magic; null if there is none. If bytes are missing, it is not block-aligned.
 */
function findHeader(file: File, from: number): number | null {
  let probes = 0
  for (let start = from; start + BLOCK <= file.size; start += SEARCH_BYTES) {
    const chunk = file.read(start, SEARCH_BYTES + BLOCK)
    for (let i = chunk.indexOf('ustar'); i >= 0; i = chunk.indexOf('ustar', i + 1)) {
      if (++probes > maxProbes) return null
      const header = i - MAGIC_OFFSET
      if (header >= 0 && isTarHeader(chunk.subarray(header, header + BLOCK))) return start + header
    }
  }
  return null
}

const isRegularFile = (type: string) => type === '0' || type === '\0' || type === '7'

function headerName(header: Buffer): Buffer {
  const name = untilNul(header.subarray(0, 100))
  const prefix = untilNul(header.subarray(345, 500))
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0'
  return isPosix && prefix.length > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name
}

function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

// GNU tar stores numbers that do not fit in octal in base 256 with the top bit set.
function parseNumber(field: Buffer): number {
  if ((field[0]! & 0x80) === 0) return parseOctal(field)
  let value = field[0]! & 0x7f
  for (const byte of field.subarray(1)) value = value * 256 + byte
  return value
}

const parseOctal = (field: Buffer) =>
  Number.parseInt(field.toString('latin1').replaceAll('\0', ' ').trim() || '0', 8) || 0

function readExtendedHeader(
  file: File,
  type: string,
  position: number,
  size: number,
): ExtendedHeader {
  if (size > MAX_EXTENDED_HEADER_BYTES) return {}
  const bytes = file.read(position, size)
  if (type === 'L') return { name: untilNul(bytes) }
  const extended: ExtendedHeader = {}
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const length = space < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, space), 10)
    if (!(length > space - at + 1) || at + length > bytes.length) break
    const equals = bytes.indexOf(0x3d, space)
    const key = bytes.toString('latin1', space + 1, equals)
    const value = bytes.subarray(equals + 1, at + length - 1)
    if (key === 'path') extended.name = value
    else if (key === 'size')
      extended.size = Math.max(0, Number.parseInt(value.toString('latin1'), 10) || 0)
    else if (key.startsWith('GNU.sparse.')) extended.isSparse = true
    at += length
  }
  return extended
}
