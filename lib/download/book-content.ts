// Content of a book for downloads: opened in its library, and served only if it is an archive, an EPUB or a
// PDF.
import type { Stats } from 'node:fs'
import { type Containment, containmentOf, type FileAccess } from '../base/containment.ts'
import { Unreadable } from '../base/errors.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { isBookFile, signatureHeadBytes, signatureTailBytes } from '../media/format/signature.ts'
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
