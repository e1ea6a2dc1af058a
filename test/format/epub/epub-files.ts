// Writes small EPUBs and reads those of the corpus.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { openFile } from '../../../lib/file.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { epub, type OpenedEpub } from '../../../lib/format/epub/epub.ts'

export const corpus = fileURLToPath(new URL('../../../../shared/corpus', import.meta.url))

export type Expected = {
  path: string
  kind: string
  expected: {
    outcome: string
    language?: string
    creators?: string[]
    images?: number
    collectionType?: string
    coverPresent?: boolean
    [key: string]: unknown
  }
}

export const expectations = (kind: string): Expected[] =>
  readFileSync(join(corpus, 'expected.jsonl'), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Expected)
    .filter(row => row.kind === kind)

/** A stored ZIP of the given files. */
export function zip(files: Record<string, string | Uint8Array>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as Uint8Array)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(bytes.length, 18)
    local.writeUInt32LE(bytes.length, 22)
    local.writeUInt16LE(Buffer.byteLength(name), 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    local.copy(central, 6, 4, 30)
    central.writeUInt32LE(offset, 42)
    parts.push(local, Buffer.from(name), bytes)
    directory.push(central, Buffer.from(name))
    offset += 30 + Buffer.byteLength(name) + bytes.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(directory.length / 2, 8)
  end.writeUInt16LE(directory.length / 2, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}

export type Parts = {
  metadata?: string
  manifest?: string
  spine?: string
  guide?: string
  files?: Record<string, string | Uint8Array>
}

/** An EPUB with its package in `OPS/book.opf`. */
export function epubBytes({
  metadata = '',
  manifest = '',
  spine = '',
  guide = '',
  files = {},
}: Parts): Buffer {
  return zip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf': `<package><metadata>${metadata}</metadata><manifest>${manifest}</manifest>
      <spine>${spine}</spine><guide>${guide}</guide></package>`,
    ...files,
  })
}

/** Opens bytes through a file in `folder`. */
export function openEpub(folder: string, bytes: Uint8Array): Promise<OpenedEpub> {
  const path = join(folder, 'book.epub')
  writeFileSync(path, bytes)
  return epub.open(openFile(Buffer.from(path)), defaultLimits)
}

/** A PNG header of the given size, enough to be known and measured. */
export function png(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008060000000000', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return Buffer.concat([bytes, Buffer.alloc(32)])
}

export const item = (id: string, href: string, mediaType: string, properties = '') =>
  `<item id="${id}" href="${href}" media-type="${mediaType}" properties="${properties}"/>`
