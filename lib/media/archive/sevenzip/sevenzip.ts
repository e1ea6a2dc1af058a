// 7z archive reader: parses the header, so that only the folder of the requested file is decompressed.
//   start = "7z" BC AF 27 1C version:2 crc:4 { header-offset:8 header-length:8 header-crc:4 }
import { crc32 } from 'node:zlib'
import { scoped } from '../../../base/async/dispose.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { ArchiveFormat, Container, Entry, EntryLocation } from '../container.ts'
import { createSolidStream, type SolidStream } from '../libarchive.ts'
import type { Limits } from '../limits.ts'
import { isEncrypted, openFolderReader, SIGNATURE, storedPosition } from './folder-stream.ts'
import { type Header, readHeader } from './header.ts'
import type { Folder, Substream } from './header-reader.ts'

type SevenZipEntry = Entry & {
  folder: Folder
  substreamIndex: number
  substream: Substream
  /** Offset of the data in the file; null when its folder is compressed. */
  offset: number | null
}

const START_HEADER_BYTES = 32
const MAX_HEADER_BYTES = 64 * 1024 * 1024
const MAX_ENCODED_DEPTH = 4

export const isSevenZip = (head: Uint8Array) => SIGNATURE.equals(head.subarray(0, 6))

export const sevenZipArchive: ArchiveFormat = {
  open: openSevenZip,
  locate,
  checksum: entry => (entry as SevenZipEntry).substream.crc,
}

/** Opens a 7z. Throws Unreadable: `truncated`, `encrypted`, `bad_crc`, `too_large`, `unsupported_method`. */
export async function openSevenZip(file: File, limits: Limits): Promise<Container> {
  const { folders, files } = await openHeader(file, limits)
  if (folders.length > 0 && folders.every(isEncrypted))
    throw new Unreadable('The archive is encrypted', 'encrypted')
  const entries: SevenZipEntry[] = []
  const offsets = new Map(folders.map(folder => [folder, storedOffsets(folder)]))
  for (const [index, { name, isFile, substream: position }] of files.entries()) {
    const folder = folders[position?.folder ?? -1]
    const member = folder?.substreams[position!.at]
    if (!isFile || folder === undefined || member === undefined) continue
    const packed = folder.packStreams.reduce((sum, pack) => sum + pack.length, 0)
    const share = Math.ceil(packed / folder.substreams.length)
    entries.push({
      name,
      sizeBytes: member.sizeBytes,
      packedBytes: share,
      index,
      folder,
      substreamIndex: position!.at,
      substream: member,
      offset: offsets.get(folder)![position!.at] ?? null,
    })
  }
  return createContainer(file, entries, limits)
}

type Contents = Pick<Header, 'folders' | 'files'>

async function openHeader(file: File, limits: Limits): Promise<Contents> {
  const start = file.read(0, START_HEADER_BYTES)
  if (start.length < START_HEADER_BYTES && isSevenZip(start))
    throw new Unreadable('The archive ends too early', 'truncated')
  if (start.length < START_HEADER_BYTES)
    throw new Unreadable('The file is not a 7z archive', 'not_an_archive')
  const startHeader = start.subarray(12)
  const isValid = crc32(startHeader) === start.readUInt32LE(8)
  // A matching checksum identifies a 7z with a damaged signature.
  if (!isValid && !isSevenZip(start))
    throw new Unreadable('The file is not a 7z archive', 'not_an_archive')
  if (!isValid) throw new Unreadable('The start header of the archive is damaged', 'bad_crc')
  const length = Number(startHeader.readBigUInt64LE(8))
  if (length === 0) return { folders: [], files: [] }
  const span = { position: START_HEADER_BYTES + Number(startHeader.readBigUInt64LE(0)), length }
  await file.preload?.([span])
  let bytes = readSpan(file, span.position, length)
  let crc: number | null = startHeader.readUInt32LE(16)
  for (let depth = 0; depth < MAX_ENCODED_DEPTH; depth += 1) {
    if (crc !== null && crc32(bytes) !== crc)
      throw new Unreadable('The header of the archive is damaged', 'bad_crc')
    const header = readHeader(bytes, limits.entries)
    if (!header.isEncoded) return header
    const folder = header.folders[0]
    if (folder === undefined) return { folders: [], files: [] }
    bytes = await unpackHeader(file, folder)
    crc = folder.crc
  }
  throw new Unreadable('The header of the archive is damaged', 'bad_crc')
}

function unpackHeader(file: File, folder: Folder): Promise<Buffer> {
  return scoped(async use => {
    const reader = use(await openFolderReader(file, folder, MAX_HEADER_BYTES))
    if (!reader.next()) return Buffer.alloc(0)
    return Buffer.from(reader.read(folder.substreams[0]!.sizeBytes))
  })
}

function readSpan(file: File, position: number, length: number): Buffer {
  if (position + length > file.size)
    throw new Unreadable('The archive ends too early, or is one of several volumes', 'truncated')
  if (length > MAX_HEADER_BYTES)
    throw new Unreadable('The archive contains too many files', 'too_large')
  return file.read(position, length)
}

function createContainer(file: File, entries: SevenZipEntry[], limits: Limits): Container {
  // Only one folder is open at a time: each may need a gigabyte.
  let open: { folder: Folder; stream: SolidStream } | null = null
  const take = (entry: SevenZipEntry, bytes: number) => {
    const { folder, substreamIndex } = entry
    if (open?.folder !== folder) {
      open?.stream[Symbol.dispose]()
      open = {
        folder,
        stream: createSolidStream(() => openFolderReader(file, folder, limits.solidBytes)),
      }
    }
    return open.stream.read(substreamIndex, bytes)
  }
  const first = async (entry: SevenZipEntry, bytes: number): Promise<Uint8Array> => {
    const { offset } = entry
    if (offset === null) return take(entry, bytes)
    await file.preload?.([{ position: offset, length: bytes }])
    const data = file.read(offset, bytes)
    if (data.length < bytes)
      throw new Unreadable('The archive is truncated inside the file', 'truncated')
    return data
  }
  return {
    entries,
    warnings: [],
    damage: null,
    async read(entry, maxBytes) {
      const { substream } = entry as SevenZipEntry
      if (substream.sizeBytes > maxBytes)
        throw new Unreadable('The file in the archive is too large', 'too_large')
      const bytes = await first(entry as SevenZipEntry, substream.sizeBytes)
      if (substream.crc !== null && crc32(bytes) !== substream.crc)
        throw new Unreadable('The file in the archive is damaged', 'bad_crc')
      return new Uint8Array(bytes)
    },
    head: (entry, bytes) => first(entry as SevenZipEntry, Math.min(bytes, entry.sizeBytes)),
    async [Symbol.asyncDispose]() {
      open?.stream[Symbol.dispose]()
    },
  }
}

function locate(entry: Entry): EntryLocation {
  const { folder, substream, sizeBytes, offset } = entry as SevenZipEntry
  if (offset === null) return folder.substreams.length > 1 ? 'solid' : null
  return { offset, headerBytes: 0, packedBytes: sizeBytes, method: 0, crc: substream.crc }
}

/** Offsets of a folder's files in the archive; none when it is compressed. */
function storedOffsets(folder: Folder): number[] {
  let offset = storedPosition(folder)
  if (offset === null) return []
  return folder.substreams.map(({ sizeBytes }) => {
    const start = offset!
    offset = start + sizeBytes
    return start
  })
}
