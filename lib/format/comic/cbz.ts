// A comic in a ZIP archive.

import { isTarHeader } from '../../archive/tar.ts'
import { openZip } from '../../archive/zip/zip.ts'
import { comicFormat } from './comic.ts'

// Local header, empty archive, split marker, single-segment marker.
const signatures = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', 'PK00PK']
const extensions = ['cbz', 'cbr', 'cb7', 'cbt', 'zip']

// Anything may stand before a ZIP, whose directory is at its end: then the extension decides.
export const cbz = comicFormat(
  'cbz',
  (head, extension) => isZip(head) || (extensions.includes(extension) && !isTarHeader(head)),
  openZip,
)

function isZip(head: Uint8Array): boolean {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 6)).toString(
    'latin1',
  )
  return signatures.some(signature => start.startsWith(signature))
}
