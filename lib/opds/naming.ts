// The addresses of what belongs to a book, below the root of a tree, and the types of files.
import type { FormatName } from '../format/contract.ts'
import type { Publication } from './publication.ts'
import type { Version } from './tree.ts'

// Registered names where there are any; apps of OPDS 1.2 know comics in ZIP by that type and the name.
const types: Record<FormatName, string> = {
  cbz: 'application/vnd.comicbook+zip',
  cbr: 'application/vnd.comicbook-rar',
  cb7: 'application/x-cb7',
  cbt: 'application/vnd.comicbook+tar',
  epub: 'application/epub+zip',
  pdf: 'application/pdf',
}

/** The media type that a catalogue of that version says its file has. */
export function fileType(format: FormatName | null, version: Version): string {
  if (format === null) return 'application/octet-stream'
  return format === 'cbz' && version === 1 ? 'application/zip' : types[format]
}

/** Apps tell by the end of the address what they get. */
export const filePath = ({ id, fileName }: Pick<Publication, 'id' | 'fileName'>): string =>
  `/books/${id}/file/${encodeURIComponent(fileName.toWellFormed())}`
/** Of a book or a series: `owner` is `/books/ID`. Both are JPEG. */
export const coverPath = (owner: string): string => `${owner}/cover.jpg`
export const thumbnailPath = (owner: string): string => `${owner}/thumbnail.jpg`
