// The files of a 7z header:
//   files = count { property length data } 0
//   property = 14 flags: no stream | 15 flags of those: a file, not a folder
//            | 17 external:1 (UTF-16LE NUL)* | 21 flags external:1 attributes:4*
import { Unreadable } from '../../errors.ts'
import { tidyName } from '../entry-name.ts'
import type { FileRecord, Folder } from './header.ts'
import { bits, byte, damaged, flags, number, optionalFlags, type Reader } from './header-reader.ts'

const ids = { noStream: 14, emptyFile: 15, names: 17, attributes: 21 }
// Windows attributes; the upper half is the Unix mode when 0x8000 is set.
const attribute = { folder: 0x10, link: 0x400, unix: 0x8000 }

/** The records in their order, each with the folder and member that hold its bytes. */
export function readFiles(reader: Reader, folders: Folder[]): FileRecord[] {
  const count = number(reader)
  if (count > reader.most) throw new Unreadable('The archive lists too many files', 'too_large')
  const none = new Array<boolean>(count).fill(false)
  let hasNoStream = none
  let isEmptyFile = none
  let names: string[] = []
  let attributes: (number | null)[] = []
  for (let id = byte(reader); id !== 0; id = byte(reader)) {
    const data: Reader = { bytes: bits(reader, number(reader)), at: 0, most: reader.most }
    if (id === ids.noStream) hasNoStream = flags(data, count)
    else if (id === ids.emptyFile) isEmptyFile = flags(data, hasNoStream.filter(Boolean).length)
    else if (id === ids.names) names = readNames(data, count)
    else if (id === ids.attributes) attributes = readAttributes(data, count)
  }
  const members = folders.flatMap((folder, i) => folder.members.map((_, at) => ({ folder: i, at })))
  let stream = 0
  let empty = 0
  return hasNoStream.map((isBare, i) => {
    const member = isBare ? null : (members[stream++] ?? null)
    const isFile = isBare ? isEmptyFile[empty++] === true : isRegular(attributes[i] ?? 0)
    return { name: names[i] ?? '', isFile, member }
  })
}

function readNames(data: Reader, count: number): string[] {
  // The names may stand in another stream, which no writer does.
  if (byte(data) !== 0) throw damaged()
  const text = data.bytes.subarray(data.at)
  const all = text
    .subarray(0, text.length & ~1)
    .toString('utf16le')
    .split('\0')
  if (all.length < count) throw damaged()
  return all.slice(0, count).map(tidyName)
}

function readAttributes(data: Reader, count: number): (number | null)[] {
  const isKnown = optionalFlags(data, count)
  if (byte(data) !== 0) return []
  return isKnown.map(known => (known ? bits(data, 4).readUInt32LE(0) : null))
}

function isRegular(attributes: number): boolean {
  if ((attributes & (attribute.folder | attribute.link)) !== 0) return false
  return (attributes & attribute.unix) === 0 || attributes >>> 28 === 8
}
