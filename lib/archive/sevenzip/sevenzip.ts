// Access to a 7z: the header is read here, so only the folder of the wanted file is ever unpacked.
//   start = "7z" BC AF 27 1C version:2 crc:4 { header-offset:8 header-length:8 header-crc:4 }
import { crc32 } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import type { Container, Entry } from '../container.ts'
import { type Sequence, sequence } from '../solid-stream.ts'
import { copiedFrom, isEncrypted, openFolder } from './folder-stream.ts'
import { type Folder, type Header, type Member, readHeader } from './header.ts'
import { SIGNATURE } from './wrapper.ts'

type SevenZipEntry = Entry & { folder: Folder; at: number; member: Member }

const START = 32
const MOST_HEADER = 64 * 1024 * 1024
const MOST_WRAPPINGS = 4

export const isSevenZip = (head: Uint8Array) => SIGNATURE.equals(head.subarray(0, 6))

/** Opens a 7z. Throws Unreadable: `truncated`, `encrypted`, `bad_crc`, `too_large`, `unsupported_method`. */
export async function openSevenZip(file: File, limits: Limits): Promise<Container> {
  const { folders, files } = await openHeader(file, limits)
  if (folders.length > 0 && folders.every(isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  const entries: SevenZipEntry[] = []
  for (const [index, { name, isFile, member: place }] of files.entries()) {
    const folder = folders[place?.folder ?? -1]
    const member = folder?.members[place!.at]
    if (!isFile || folder === undefined || member === undefined) continue
    const packed = folder.packs.reduce((sum, pack) => sum + pack.length, 0)
    const share = Math.ceil(packed / folder.members.length)
    entries.push({ name, bytes: member.bytes, packed: share, index, folder, at: place!.at, member })
  }
  return container(file, entries, limits)
}

async function openHeader(file: File, limits: Limits): Promise<Header> {
  const start = file.read(0, START)
  if (start.length < START) throw new Unreadable('The archive ends too early', 'truncated')
  const place = start.subarray(12)
  if (crc32(place) !== start.readUInt32LE(8))
    throw new Unreadable('The start of the archive is damaged', 'bad_crc')
  const length = Number(place.readBigUInt64LE(8))
  if (length === 0) return { folders: [], files: [], isPacked: false }
  let bytes = readSpan(file, START + Number(place.readBigUInt64LE(0)), length)
  let crc: number | null = place.readUInt32LE(16)
  for (let depth = 0; depth < MOST_WRAPPINGS; depth += 1) {
    if (crc !== null && crc32(bytes) !== crc)
      throw new Unreadable('The list of files in the archive is damaged', 'bad_crc')
    const header = readHeader(bytes, limits.entries)
    if (!header.isPacked) return header
    const folder = header.folders[0]
    if (folder === undefined) return { folders: [], files: [], isPacked: false }
    bytes = await unpackHeader(file, folder)
    crc = folder.crc
  }
  throw new Unreadable('The list of files in the archive is damaged', 'bad_crc')
}

async function unpackHeader(file: File, folder: Folder): Promise<Buffer> {
  using pass = await openFolder(file, folder, MOST_HEADER)
  if (!pass.next()) return Buffer.alloc(0)
  return Buffer.from(pass.read(folder.members[0]!.bytes))
}

function readSpan(file: File, position: number, length: number): Buffer {
  if (position + length > file.size)
    throw new Unreadable('The archive ends too early, or is one of several volumes', 'truncated')
  if (length > MOST_HEADER) throw new Unreadable('The archive lists too many files', 'too_large')
  return file.read(position, length)
}

function container(file: File, entries: SevenZipEntry[], limits: Limits): Container {
  // One folder is unpacked at a time: each may need a gigabyte.
  let open: { folder: Folder; stream: Sequence } | null = null
  const take = (entry: SevenZipEntry, bytes: number) => {
    const { folder, at } = entry
    if (open?.folder !== folder) {
      open?.stream[Symbol.dispose]()
      open = { folder, stream: sequence(() => openFolder(file, folder, limits.solidBytes)) }
    }
    return open.stream.take(at, bytes)
  }
  const first = async (entry: SevenZipEntry, bytes: number): Promise<Uint8Array> => {
    const start = copiedFrom(entry.folder)
    if (start === null) return take(entry, bytes)
    const before = entry.folder.members.slice(0, entry.at)
    const offset = before.reduce((sum, member) => sum + member.bytes, start)
    const found = file.read(offset, bytes)
    if (found.length < bytes)
      throw new Unreadable('The archive ends before the file does', 'truncated')
    return found
  }
  return {
    entries,
    warnings: [],
    async read(entry, maxBytes) {
      const { member } = entry as SevenZipEntry
      if (member.bytes > maxBytes)
        throw new Unreadable('The file in the archive is too large', 'too_large')
      const bytes = await first(entry as SevenZipEntry, member.bytes)
      if (member.crc !== null && crc32(bytes) !== member.crc)
        throw new Unreadable('The file in the archive is damaged', 'bad_crc')
      return new Uint8Array(bytes)
    },
    head: (entry, bytes) => first(entry as SevenZipEntry, Math.min(bytes, entry.bytes)),
    async [Symbol.asyncDispose]() {
      open?.stream[Symbol.dispose]()
    },
  }
}
