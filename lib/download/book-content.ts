// Content of a book for downloads: opened in its library, and served only if it is an archive, an EPUB or a
// PDF.
import type { Stats } from 'node:fs'
import { type Containment, containmentOf, type FileAccess } from '../base/containment.ts'
import { Unreadable } from '../base/errors.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { folderOf, mountHealth } from '../store/mount/mount-health.ts'
import { checkFile, closeInBackground, openForResponse, readRange } from './file-body.ts'

/** Most files show their signature here; only the others are read further. */
const firstReadBytes = 4096

/**
 * Opens the file of a book; the caller closes `fd`. Throws NotFound if it does not exist; Unreadable: `io`,
 * also for a file outside its library, and for a file that is not a book the code from its analysis or
 * `not_an_archive`. Throws NotResponding if its disk hangs.
 */
export async function openBookFile(
  book: CheckedBook,
  access: FileAccess,
): Promise<{ fd: number; stats: Stats }> {
  const containment = containmentOf(access, book)
  return await mountHealth.run(containment.root, () => openChecked(book, containment), {
    discard: ({ fd }) => closeInBackground(fd),
    folder: folderOf(book.path),
  })
}

type CheckedBook = Pick<
  BookFile,
  'path' | 'root' | 'followLinks' | 'size' | 'errorCode' | 'errorMessage'
>

async function openChecked(book: CheckedBook, containment: Containment) {
  const fd = await openForResponse(book.path, containment)
  try {
    const stats = await checkFile(fd, book.path, containment)
    if (!(await hasSignature(fd, stats.size))) throw noBook(stats.size === book.size ? book : null)
    return { fd, stats }
  } catch (error) {
    closeInBackground(fd)
    throw error
  }
}

/** Uses the code from the analysis, as for pages: an empty file is `truncated`. */
const noBook = (analyzed: Pick<BookFile, 'errorCode' | 'errorMessage'> | null) =>
  new Unreadable(
    analyzed?.errorMessage ?? 'The file is not a book',
    analyzed?.errorCode ?? 'not_an_archive',
  )

async function hasSignature(fd: number, size: number): Promise<boolean> {
  const start = await readRange(fd, 0, Math.min(size, firstReadBytes))
  if (await isBookFile(start, Buffer.alloc(0))) return true
  const tailBytes = Math.min(size, signatureTailBytes)
  const head = await readRange(fd, 0, Math.min(size, signatureHeadBytes))
  return isBookFile(head, await readRange(fd, size - tailBytes, tailBytes))
}

/**
 * Bytes from the start of a file that `isBookFile` needs: programs in front of self-extracting archives are
 * smaller.
 */
const signatureHeadBytes = 1024 * 1024
/** Bytes from its end: the longest ZIP end record with its comment. */
const signatureTailBytes = 66 * 1024

const startsWith = [
  // ZIP: local header, end of an empty archive, split marker, marker of a single segment.
  ...['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', 'PK00PK'],
  // RAR 1.4, and 1.5 and later; 7z.
  ...['RE~^', 'Rar!\x1a\x07', '7z\xbc\xaf\x27\x1c'],
].map(signature => Buffer.from(signature, 'latin1'))
const endOfZip = Buffer.from('PK\x05\x06', 'latin1')
// May follow a program or other bytes.
const lateSignatures = ['PK\x03\x04', 'Rar!\x1a\x07'].map(text => Buffer.from(text, 'latin1'))

// PDF readers search for the header in the first kilobyte, and repair a file without it.
const pdfHead = /%PDF-|(?:^|[\r\n])\d{1,9} \d{1,5} obj\b/
const pdfTail = /\bstartxref\s+\d+|%%EOF\s*$/
const pdfBytes = 4096

/** Whether a file is a book, judging by its two ends, which may overlap, without the format readers. False for an empty file. */
async function isBookFile(head: Buffer, tail: Buffer): Promise<boolean> {
  if (startsWith.some(signature => signature.equals(head.subarray(0, signature.length))))
    return true
  if (pdfHead.test(head.toString('latin1', 0, pdfBytes))) return true
  if (tail.includes(endOfZip) || lateSignatures.some(text => head.includes(text))) return true
  if (pdfTail.test(tail.toString('latin1', Math.max(0, tail.length - pdfBytes)))) return true
  const { isTarHeader } = await import('../media/archive/tar.ts')
  return isTarHeader(head)
}
