// Files that are not books: identifies what they are by their first bytes.
import { Unreadable } from '../../base/errors.ts'
import { sniffImage } from '../image/image.ts'

const bookSignatures = ['PK\x03\x04\x14\0', 'Rar!\x1a\x07', '7z\xbc\xaf\x27\x1c\0\x04', '%PDF-1.']

/** First bytes in Latin-1, at an offset. */
const signatures: [what: string, bytes: string, offset?: number][] = [
  ['a Mobipocket or Kindle book', 'BOOKMOBI', 60],
  ['a DjVu document', 'AT&TFORM'],
  ['a gzip file', '\x1f\x8b'],
  ['a bzip2 file', 'BZh'],
  ['an XZ file', '\xfd7zXZ\0'],
  ['a Zstandard file', '\x28\xb5\x2f\xfd'],
  ['an ACE archive', '**ACE**', 7],
  ['an LHA archive', '-lh', 2],
  ['an Office document', '\xd0\xcf\x11\xe0'],
  ['a Windows program', 'MZ'],
  ['a Linux program', '\x7fELF'],
  ['an RTF document', '{\\rtf'],
  ['a PostScript document', '%!PS'],
  ['a video', 'ftyp', 4],
  ['a video', '\x1a\x45\xdf\xa3'],
  ['an SQLite database', 'SQLite format 3\0'],
]

/** Why a file without the structure of any book format cannot be read. */
export function foreignFile(head: Uint8Array, fileSize: number): Unreadable {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
  if (fileSize < 8 && bookSignatures.some(signature => signature.startsWith(text)))
    return new Unreadable('The file ends too early', 'truncated')
  if (/^\0+$/.test(text))
    return new Unreadable(
      'The file starts with nothing but zero bytes: its content is missing',
      'truncated',
    )
  if (bookSignatures.some(signature => isNearly(signature, text)))
    return new Unreadable('The beginning of the file is damaged', 'bad_crc')
  const what = foreignKind(head, text)
  return new Unreadable(
    what === null ? 'Unknown file format' : `The file is ${what}, not a book`,
    'not_an_archive',
  )
}

/** Whether the four bytes of a signature are present: in place, or adjacent if bytes are missing. */
function isNearly(signature: string, text: string): boolean {
  const start = text.slice(0, 8)
  const places = [...signature].filter((byte, i) => byte === start[i]).length
  return places >= 4 || [...signature].some((_, i) => i > 0 && startsWithRest(start, signature, i))
}

const startsWithRest = (start: string, signature: string, from: number) =>
  signature.length - from >= 4 && start.startsWith(signature.slice(from))

function foreignKind(head: Uint8Array, text: string): string | null {
  const image = sniffImage(head)
  if (image !== null) return `an image (${image})`
  const known = signatures.find(([, bytes, offset = 0]) => text.startsWith(bytes, offset))
  if (known !== undefined) return known[0]
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body)\b/i.test(text)) return 'a web page'
  if (/^(?:\xef\xbb\xbf)?\s*<\?xml\b/.test(text)) return 'an XML document'
  return /^[\t\n\r\x20-\x7e]+$/.test(text) ? 'a text file' : null
}
