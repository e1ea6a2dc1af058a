// The header of a 7z archive (7zFormat.txt of the LZMA SDK); numbers are of variable length:
//   header   = 1 properties? (4 streams)? (5 files)? 0   |   23 streams      the second is a packed header
//   streams  = (6 pack)? (7 unpack)? (8 substreams)? 0
//   pack     = position count (9 size*)? (10 digests)? 0
//   unpack   = 11 count external folder* 12 size* (10 digests)? 0
//   folder   = count coder* bind* packed*
//   coder    = flags:1 id (inputs outputs)? (length properties)?
//   substreams = (13 count*)? (9 size*)? (10 digests)? 0
//   files    = count { property length data } 0
import { Unreadable } from '../../errors.ts'
import { readFiles } from './files.ts'
import { bits, byte, damaged, digests, expect, number, type Reader, skip } from './header-reader.ts'

export type Coder = { id: string; properties: Buffer; inputs: number; outputs: number }
export type Folder = {
  coders: Coder[]
  /** Input `input` is fed by output `output`, both counted over all coders. */
  binds: { input: number; output: number }[]
  /** Which inputs the packed streams feed. */
  packed: number[]
  packs: { position: number; length: number }[]
  /** Unpacked bytes of each output. */
  sizes: number[]
  crc: number | null
  /** The folder as it stands in the header. */
  raw: Buffer
  members: Member[]
}
export type Member = { bytes: number; crc: number | null }
export type FileRecord = {
  name: string
  isFile: boolean
  member: { folder: number; at: number } | null
}
export type Header = { folders: Folder[]; files: FileRecord[]; isPacked: boolean }

const ids = { header: 1, properties: 2, extra: 3, streams: 4, files: 5, packed: 23 }
const part = {
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
const MOST_CODERS = 8
const START = 32

/** Reads a header; when it is packed, `folders[0]` unpacks to the real one. Throws Unreadable `bad_crc`, `too_large`. */
export function readHeader(bytes: Buffer, most: number): Header {
  const reader: Reader = { bytes, at: 0, most }
  const kind = byte(reader)
  if (kind === ids.packed) return { folders: readStreams(reader), files: [], isPacked: true }
  if (kind !== ids.header) throw damaged()
  let folders: Folder[] = []
  let id = byte(reader)
  if (id === ids.properties) {
    for (let property = byte(reader); property !== 0; property = byte(reader))
      skip(reader, number(reader))
    id = byte(reader)
  }
  if (id === ids.extra) {
    readStreams(reader)
    id = byte(reader)
  }
  if (id === ids.streams) {
    folders = readStreams(reader)
    id = byte(reader)
  }
  const files = id === ids.files ? readFiles(reader, folders) : []
  return { folders, files, isPacked: false }
}

function readStreams(reader: Reader): Folder[] {
  let packs: Folder['packs'] = []
  let folders: Folder[] = []
  let id = byte(reader)
  if (id === part.pack) {
    packs = readPacks(reader)
    id = byte(reader)
  }
  if (id === part.unpack) {
    folders = readFolders(reader)
    id = byte(reader)
  }
  let next = 0
  for (const folder of folders) {
    folder.packs = packs.slice(next, next + folder.packed.length)
    if (folder.packs.length < folder.packed.length) throw damaged()
    next += folder.packed.length
    folder.members = [{ bytes: unpackedBytes(folder), crc: folder.crc }]
  }
  if (id === part.sub) {
    readMembers(reader, folders)
    id = byte(reader)
  }
  if (id !== part.end) throw damaged()
  return folders
}

function readPacks(reader: Reader): Folder['packs'] {
  let position = START + number(reader)
  const count = number(reader)
  if (count > reader.most) throw new Unreadable('The archive lists too many files', 'too_large')
  const packs: Folder['packs'] = []
  for (let id = byte(reader); id !== part.end; id = byte(reader)) {
    if (id === part.crc) digests(reader, count)
    else if (id !== part.size) throw damaged()
    else
      for (let i = 0; i < count; i += 1) {
        const length = number(reader)
        packs.push({ position, length })
        position += length
      }
  }
  return packs
}

function readFolders(reader: Reader): Folder[] {
  expect(reader, part.folder)
  const count = number(reader)
  if (count > reader.most) throw new Unreadable('The archive lists too many files', 'too_large')
  expect(reader, 0)
  const folders: Folder[] = []
  for (let i = 0; i < count; i += 1) folders.push(readFolder(reader))
  expect(reader, part.sizes)
  for (const folder of folders)
    for (const coder of folder.coders)
      for (let i = 0; i < coder.outputs; i += 1) folder.sizes.push(number(reader))
  for (let id = byte(reader); id !== part.end; id = byte(reader)) {
    if (id !== part.crc) throw damaged()
    for (const [i, crc] of digests(reader, count).entries()) folders[i]!.crc = crc
  }
  return folders
}

function readFolder(reader: Reader): Folder {
  const from = reader.at
  const count = number(reader)
  if (count === 0 || count > MOST_CODERS) throw damaged()
  const coders: Coder[] = []
  for (let i = 0; i < count; i += 1) coders.push(readCoder(reader))
  const inputs = coders.reduce((sum, coder) => sum + coder.inputs, 0)
  const outputs = coders.reduce((sum, coder) => sum + coder.outputs, 0)
  const binds: Folder['binds'] = []
  for (let i = 0; i < outputs - 1; i += 1)
    binds.push({ input: number(reader), output: number(reader) })
  const packed: number[] = []
  const free = inputs - binds.length
  if (free < 1) throw damaged()
  if (free > 1) for (let i = 0; i < free; i += 1) packed.push(number(reader))
  else
    for (let i = 0; i < inputs; i += 1) if (!binds.some(({ input }) => input === i)) packed.push(i)
  if (packed.length !== free) throw damaged()
  const raw = reader.bytes.subarray(from, reader.at)
  return { coders, binds, packed, packs: [], sizes: [], crc: null, raw, members: [] }
}

function readCoder(reader: Reader): Coder {
  const flags = byte(reader)
  const id = bits(reader, flags & 15).toString('hex')
  const isComplex = (flags & 16) !== 0
  const inputs = isComplex ? number(reader) : 1
  const outputs = isComplex ? number(reader) : 1
  if (inputs > MOST_CODERS || outputs > MOST_CODERS || outputs === 0) throw damaged()
  const properties = (flags & 32) !== 0 ? bits(reader, number(reader)) : Buffer.alloc(0)
  return { id, properties, inputs, outputs }
}

/** The output that feeds no input is what the folder unpacks to. */
export function mainOutput(folder: Folder): number {
  for (let i = 0; i < folder.sizes.length; i += 1)
    if (!folder.binds.some(({ output }) => output === i)) return i
  throw damaged()
}

const unpackedBytes = (folder: Folder) => folder.sizes[mainOutput(folder)]!

function readMembers(reader: Reader, folders: Folder[]) {
  let id = byte(reader)
  const counts = folders.map(() => 1)
  if (id === part.counts) {
    for (let i = 0; i < folders.length; i += 1) counts[i] = number(reader)
    if (counts.reduce((sum, count) => sum + count, 0) > reader.most)
      throw new Unreadable('The archive lists too many files', 'too_large')
    id = byte(reader)
  }
  for (const [i, folder] of folders.entries()) {
    let rest = unpackedBytes(folder)
    const count = counts[i]!
    folder.members = []
    // The last size is what is left.
    for (let j = 0; j < count; j += 1) {
      const bytes = j === count - 1 ? rest : id === part.size ? number(reader) : 0
      rest -= bytes
      if (rest < 0) throw damaged()
      folder.members.push({ bytes, crc: count === 1 ? folder.crc : null })
    }
  }
  if (id === part.size) id = byte(reader)
  for (; id !== part.end; id = byte(reader)) {
    if (id !== part.crc) throw damaged()
    const unknown = folders.flatMap(folder =>
      folder.members.length === 1 && folder.crc !== null ? [] : folder.members,
    )
    for (const [i, crc] of digests(reader, unknown.length).entries()) unknown[i]!.crc = crc
  }
}
