// Writes small archives and reads those of the corpus.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { type File, openFile } from '../../lib/file.ts'

export const corpus = fileURLToPath(new URL('../../../shared/corpus', import.meta.url))
export const library = join(corpus, 'library')

export type Expected = {
  path: string
  kind: string
  expected: {
    outcome: 'ok' | 'fail-clean' | 'either' | 'skip'
    pages?: number | { min?: number; max?: number }
    firstPageSha256?: string
    widths?: number[]
    series?: string
  }
}

export const expectations = (kinds: readonly string[]): Expected[] =>
  readFileSync(join(corpus, 'expected.jsonl'), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Expected)
    .filter(row => kinds.includes(row.kind))

export const open = (path: string): File => openFile(Buffer.from(path))
export const openCorpus = (path: string): File => open(join(library, path))

/** Writes bytes into the folder of a test and opens them. */
export function onDisk(folder: string, bytes: Uint8Array, name = 'archive'): File {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return open(path)
}

type Wanted = {
  name: string | Buffer
  bytes: Uint8Array
  deflate?: boolean
  flags?: number
  external?: number
}

/** A ZIP of the given entries. */
export function zip(entries: readonly Wanted[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, deflate, flags, external } of entries) {
    const nameBytes = Buffer.from(name as string)
    const packed = deflate ? deflateRawSync(bytes) : Buffer.from(bytes)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(flags ?? 0, 6)
    local.writeUInt16LE(deflate ? 8 : 0, 8)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(bytes.length, 22)
    local.writeUInt16LE(nameBytes.length, 26)
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50, 0)
    record[5] = external === undefined ? 0 : 3
    local.copy(record, 6, 4, 30)
    record.writeUInt32LE(((external ?? 0) << 16) >>> 0, 38)
    record.writeUInt32LE(offset, 42)
    parts.push(local, nameBytes, packed)
    directory.push(record, nameBytes)
    offset += 30 + nameBytes.length + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}

/** One tar member: header, data and padding. */
export function member(name: string, bytes: Uint8Array, type = '0'): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('        ', 148)
  header.write(type, 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512)
  return Buffer.concat([header, bytes, padding])
}

export const tarEnd = Buffer.alloc(1024)

/** A grey PNG of that width and one row. */
export function png(width: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(1, 4)
  header[8] = 8
  const row = deflateSync(Buffer.alloc(width + 1))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', row),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), body])
  const frame = Buffer.alloc(named.length + 8)
  frame.writeUInt32BE(body.length, 0)
  named.copy(frame, 4)
  frame.writeUInt32BE(crc32(named), named.length + 4)
  return frame
}

/** Numbers from 0 to 1 that follow from the seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
