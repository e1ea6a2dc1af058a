// Parser for the header of a 7z archive (7zFormat.txt of the LZMA SDK); numbers have variable length:
//   header   = 1 properties? (4 streams)? (5 files)? 0   |   23 streams      the second is an encoded header
//   streams  = (6 pack)? (7 unpack)? (8 substreams)? 0
//   pack     = position count (9 size*)? (10 digests)? 0
//   unpack   = 11 count external folder* 12 size* (10 digests)? 0
//   folder   = count coder* bind* packed*
//   coder    = flags:1 id (inputs outputs)? (length properties)?
//   substreams = (13 count*)? (9 size*)? (10 digests)? 0
//   files    = count { property length data } 0
//   property = 14 bits: empty stream | 15 bits for those: an empty file, not a directory
//            | 17 external:1 (UTF-16LE NUL)* | 21 bits external:1 attributes:4*
import { Unreadable } from '../../../base/errors.ts'
import { normalizeName } from '../entry-name.ts'
import {
  type Coder,
  damaged,
  expectByte,
  type Folder,
  type HeaderReader,
  readBits,
  readByte,
  readBytes,
  readDigests,
  readNumber,
  readOptionalBits,
  skipBytes,
  unpackSizeOf,
} from './header-reader.ts'

export type Header = { folders: Folder[]; files: FileRecord[]; isEncoded: boolean }

const headerIds = {
  header: 1,
  archiveProperties: 2,
  additionalStreams: 3,
  mainStreams: 4,
  files: 5,
  encodedHeader: 23,
}
const propertyIds = {
  end: 0,
  pack: 6,
  unpack: 7,
  sub: 8,
  size: 9,
  crc: 10,
  folder: 11,
  sizes: 12,
  counts: 13,
}
// 7-Zip's own limit (7zIn.cpp).
const MAX_CODERS = 32
const START_HEADER_BYTES = 32

/** Parses a header; an encoded header is the compressed content of `folders[0]`. Throws Unreadable `bad_crc`, `too_large`. */
export function readHeader(bytes: Buffer, maxItems: number): Header {
  const reader: HeaderReader = { bytes, position: 0, maxItems }
  const kind = readByte(reader)
  if (kind === headerIds.encodedHeader)
    return { folders: readStreamsInfo(reader), files: [], isEncoded: true }
  if (kind !== headerIds.header) throw damaged()
  let folders: Folder[] = []
  let id = readByte(reader)
  if (id === headerIds.archiveProperties) {
    for (let property = readByte(reader); property !== 0; property = readByte(reader))
      skipBytes(reader, readNumber(reader))
    id = readByte(reader)
  }
  if (id === headerIds.additionalStreams) {
    readStreamsInfo(reader)
    id = readByte(reader)
  }
  if (id === headerIds.mainStreams) {
    folders = readStreamsInfo(reader)
    id = readByte(reader)
  }
  const files = id === headerIds.files ? readFilesInfo(reader, folders) : []
  return { folders, files, isEncoded: false }
}

function readStreamsInfo(reader: HeaderReader): Folder[] {
  let packs: Folder['packStreams'] = []
  let folders: Folder[] = []
  let id = readByte(reader)
  if (id === propertyIds.pack) {
    packs = readPackInfo(reader)
    id = readByte(reader)
  }
  if (id === propertyIds.unpack) {
    folders = readUnpackInfo(reader)
    id = readByte(reader)
  }
  let next = 0
  for (const folder of folders) {
    folder.packStreams = packs.slice(next, next + folder.packedInputs.length)
    if (folder.packStreams.length < folder.packedInputs.length) throw damaged()
    next += folder.packedInputs.length
    folder.substreams = [{ sizeBytes: unpackSizeOf(folder), crc: folder.crc }]
  }
  if (id === propertyIds.sub) {
    readSubstreamsInfo(reader, folders)
    id = readByte(reader)
  }
  if (id !== propertyIds.end) throw damaged()
  return folders
}

function readPackInfo(reader: HeaderReader): Folder['packStreams'] {
  let position = START_HEADER_BYTES + readNumber(reader)
  const count = readNumber(reader)
  if (count > reader.maxItems)
    throw new Unreadable('The archive contains too many files', 'too_large')
  const packs: Folder['packStreams'] = []
  for (let id = readByte(reader); id !== propertyIds.end; id = readByte(reader)) {
    if (id === propertyIds.crc) readDigests(reader, count)
    else if (id !== propertyIds.size) throw damaged()
    else
      for (let i = 0; i < count; i += 1) {
        const length = readNumber(reader)
        packs.push({ position, length })
        position += length
      }
  }
  return packs
}

function readUnpackInfo(reader: HeaderReader): Folder[] {
  expectByte(reader, propertyIds.folder)
  const count = readNumber(reader)
  if (count > reader.maxItems)
    throw new Unreadable('The archive contains too many files', 'too_large')
  expectByte(reader, 0)
  const folders: Folder[] = []
  for (let i = 0; i < count; i += 1) folders.push(readFolder(reader))
  expectByte(reader, propertyIds.sizes)
  for (const folder of folders)
    for (const coder of folder.coders)
      for (let i = 0; i < coder.outputs; i += 1) folder.unpackSizes.push(readNumber(reader))
  for (let id = readByte(reader); id !== propertyIds.end; id = readByte(reader)) {
    if (id !== propertyIds.crc) throw damaged()
    for (const [i, crc] of readDigests(reader, count).entries()) folders[i]!.crc = crc
  }
  return folders
}

function readFolder(reader: HeaderReader): Folder {
  const from = reader.position
  const count = readNumber(reader)
  if (count === 0 || count > MAX_CODERS) throw damaged()
  const coders: Coder[] = []
  for (let i = 0; i < count; i += 1) coders.push(readCoder(reader))
  const inputs = coders.reduce((sum, coder) => sum + coder.inputs, 0)
  const outputs = coders.reduce((sum, coder) => sum + coder.outputs, 0)
  const binds: Folder['bindPairs'] = []
  for (let i = 0; i < outputs - 1; i += 1)
    binds.push({ input: readNumber(reader), output: readNumber(reader) })
  const packed: number[] = []
  const free = inputs - binds.length
  if (free < 1) throw damaged()
  if (free > 1) for (let i = 0; i < free; i += 1) packed.push(readNumber(reader))
  else
    for (let i = 0; i < inputs; i += 1) if (!binds.some(({ input }) => input === i)) packed.push(i)
  if (packed.length !== free) throw damaged()
  const raw = reader.bytes.subarray(from, reader.position)
  return {
    coders,
    bindPairs: binds,
    packedInputs: packed,
    packStreams: [],
    unpackSizes: [],
    crc: null,
    raw,
    substreams: [],
  }
}

function readCoder(reader: HeaderReader): Coder {
  const flags = readByte(reader)
  const id = readBytes(reader, flags & 15).toString('hex')
  const isComplex = (flags & 16) !== 0
  const inputs = isComplex ? readNumber(reader) : 1
  const outputs = isComplex ? readNumber(reader) : 1
  if (inputs > MAX_CODERS || outputs > MAX_CODERS || outputs === 0) throw damaged()
  const properties = (flags & 32) !== 0 ? readBytes(reader, readNumber(reader)) : Buffer.alloc(0)
  return { id, properties, inputs, outputs }
}

function readSubstreamsInfo(reader: HeaderReader, folders: Folder[]) {
  let id = readByte(reader)
  const counts = folders.map(() => 1)
  if (id === propertyIds.counts) {
    for (let i = 0; i < folders.length; i += 1) counts[i] = readNumber(reader)
    if (counts.reduce((sum, count) => sum + count, 0) > reader.maxItems)
      throw new Unreadable('The archive contains too many files', 'too_large')
    id = readByte(reader)
  }
  for (const [i, folder] of folders.entries()) {
    let rest = unpackSizeOf(folder)
    const count = counts[i]!
    folder.substreams = []
    // The last size is not stored: it is the remainder.
    for (let j = 0; j < count; j += 1) {
      const bytes = j === count - 1 ? rest : id === propertyIds.size ? readNumber(reader) : 0
      rest -= bytes
      if (rest < 0) throw damaged()
      folder.substreams.push({ sizeBytes: bytes, crc: count === 1 ? folder.crc : null })
    }
  }
  if (id === propertyIds.size) id = readByte(reader)
  for (; id !== propertyIds.end; id = readByte(reader)) {
    if (id !== propertyIds.crc) throw damaged()
    const unknown = folders.flatMap(folder =>
      folder.substreams.length === 1 && folder.crc !== null ? [] : folder.substreams,
    )
    for (const [i, crc] of readDigests(reader, unknown.length).entries()) unknown[i]!.crc = crc
  }
}

type FileRecord = {
  name: string
  isFile: boolean
  substream: { folder: number; at: number } | null
}

const fileIds = { noStream: 14, emptyFile: 15, names: 17, attributes: 21 }
// Windows attributes; the upper half is the Unix mode when 0x8000 is set.
const attribute = { folder: 0x10, link: 0x400, unix: 0x8000 }

/** The files in archive order, each with the folder and substream that contain its data. */
function readFilesInfo(reader: HeaderReader, folders: Folder[]): FileRecord[] {
  const count = readNumber(reader)
  if (count > reader.maxItems)
    throw new Unreadable('The archive contains too many files', 'too_large')
  const none = new Array<boolean>(count).fill(false)
  let hasNoStream = none
  let isEmptyFile = none
  let names: string[] = []
  let attributes: (number | null)[] = []
  for (let id = readByte(reader); id !== 0; id = readByte(reader)) {
    const data: HeaderReader = {
      bytes: readBytes(reader, readNumber(reader)),
      position: 0,
      maxItems: reader.maxItems,
    }
    if (id === fileIds.noStream) hasNoStream = readBits(data, count)
    else if (id === fileIds.emptyFile)
      isEmptyFile = readBits(data, hasNoStream.filter(Boolean).length)
    else if (id === fileIds.names) names = readNames(data, count)
    else if (id === fileIds.attributes) attributes = readAttributes(data, count)
  }
  const members = folders.flatMap((folder, i) =>
    folder.substreams.map((_, at) => ({ folder: i, at })),
  )
  let stream = 0
  let empty = 0
  return hasNoStream.map((isBare, i) => {
    const substream = isBare ? null : (members[stream++] ?? null)
    const isFile = isBare ? isEmptyFile[empty++] === true : isRegular(attributes[i] ?? 0)
    return { name: names[i] ?? '', isFile, substream }
  })
}

function readNames(data: HeaderReader, count: number): string[] {
  // Names may be stored in another stream, but no writer does that.
  if (readByte(data) !== 0) throw damaged()
  const text = data.bytes.subarray(data.position)
  const all = text
    .subarray(0, text.length & ~1)
    .toString('utf16le')
    .split('\0')
  if (all.length < count) throw damaged()
  return all.slice(0, count).map(normalizeName)
}

function readAttributes(data: HeaderReader, count: number): (number | null)[] {
  const isKnown = readOptionalBits(data, count)
  if (readByte(data) !== 0) return []
  return isKnown.map(known => (known ? readBytes(data, 4).readUInt32LE(0) : null))
}

function isRegular(attributes: number): boolean {
  if ((attributes & (attribute.folder | attribute.link)) !== 0) return false
  return (attributes & attribute.unix) === 0 || attributes >>> 28 === 8
}
