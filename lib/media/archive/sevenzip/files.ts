// FilesInfo of a 7z header: names, attributes and streams of the files.
//   files = count { property length data } 0
//   property = 14 bits: empty stream | 15 bits for those: an empty file, not a directory
//            | 17 external:1 (UTF-16LE NUL)* | 21 bits external:1 attributes:4*
import { Unreadable } from '../../../base/errors.ts'
import { normalizeName } from '../entry-name.ts'
import type { Folder } from './folder.ts'
import {
  damaged,
  type HeaderReader,
  readBits,
  readByte,
  readBytes,
  readNumber,
  readOptionalBits,
} from './header-reader.ts'

export type FileRecord = {
  name: string
  isFile: boolean
  substream: { folder: number; at: number } | null
}

const propertyIds = { noStream: 14, emptyFile: 15, names: 17, attributes: 21 }
// Windows attributes; the upper half is the Unix mode when 0x8000 is set.
const attribute = { folder: 0x10, link: 0x400, unix: 0x8000 }

/** The files in archive order, each with the folder and substream that contain its data. */
export function readFilesInfo(reader: HeaderReader, folders: Folder[]): FileRecord[] {
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
    if (id === propertyIds.noStream) hasNoStream = readBits(data, count)
    else if (id === propertyIds.emptyFile)
      isEmptyFile = readBits(data, hasNoStream.filter(Boolean).length)
    else if (id === propertyIds.names) names = readNames(data, count)
    else if (id === propertyIds.attributes) attributes = readAttributes(data, count)
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
