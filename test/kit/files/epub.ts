// Generator of small EPUBs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFile } from '../../../lib/base/file.ts'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { epubReader, type OpenedEpub } from '../../../lib/media/format/epub/epub.ts'
import { zipOfFiles } from './archives.ts'

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
  return zipOfFiles({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf': `<package><metadata>${metadata}</metadata><manifest>${manifest}</manifest>
      <spine>${spine}</spine><guide>${guide}</guide></package>`,
    ...files,
  })
}

/** Writes an EPUB to a file in `folder` and opens it. */
export function openEpub(folder: string, bytes: Uint8Array): Promise<OpenedEpub> {
  const path = join(folder, 'book.epub')
  writeFileSync(path, bytes)
  return epubReader.open(openFile(Buffer.from(path)), defaultLimits)
}

/** A PNG of that size without image data: enough to be detected and measured. */
export function pngHeader(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008060000000000', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return Buffer.concat([bytes, Buffer.alloc(32)])
}

/** A manifest item. */
export const item = (id: string, href: string, mediaType: string, properties = '') =>
  `<item id="${id}" href="${href}" media-type="${mediaType}" properties="${properties}"/>`
