// Streaming ZIP of a series' files: nothing is compressed, one file is open at a time, and memory use does
// not depend on size.
import { PassThrough, type Readable } from 'node:stream'
import type { FileAccess } from '../base/containment.ts'
import { Failure, NotFound, Unavailable, Unreadable } from '../base/errors.ts'
import { foldName } from '../base/path.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { folderOf, mountKey } from '../store/mount/mount-health.ts'
import { openBookFile } from './book-content.ts'
import { closeFile, closeInBackground, streamRange } from './file-body.ts'

/** `length` is exact. Destroying `body` closes the file being read. */
export type SeriesZip = { body: Readable; length: number }

/**
 * A ZIP of the files in the given order, under their own names. Omits files that no longer exist or cannot be
 * served; throws NotFound if none are left, NotResponding. A file that changes while being sent aborts the
 * response.
 */
export async function zipSeries(
  books: readonly BookFile[],
  access: FileAccess,
): Promise<SeriesZip> {
  const present: PresentFile[] = []
  for (let i = 0; i < books.length; i += concurrency) {
    const found = books.slice(i, i + concurrency).map(book => findFile(book, access))
    present.push(...(await Promise.all(found)).filter(file => file !== null))
  }
  if (present.length === 0) throw new NotFound('The series has no files')
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  const body = new PassThrough({ highWaterMark: 256 * 1024 })
  let source: Readable | null = null
  const entryName = createUniqueNames()
  const open = async ({ book, size, modified }: PresentFile) => {
    const { fd, stats } = await openBookFile(book, access)
    if (stats.size !== size || stats.mtime.getTime() !== modified.getTime()) {
      closeInBackground(fd)
      throw new Unreadable('The file changed while the series was being sent', 'io')
    }
    source = streamRange(fd, {
      start: 0,
      length: size,
      root: mountKey(book.root),
      folder: folderOf(book.path),
    })
    // The client may have disconnected while the file was being opened.
    if (body.destroyed) source.destroy()
    source.on('error', error => body.destroy(error))
    return source
  }
  for (const file of present) {
    const options = { compress: false, size: file.size, mtime: file.modified, mode: 0o100644 }
    zip.addReadStreamLazy(entryName(file.book.name), options, done => {
      open(file).then(
        stream => done(null, stream),
        error => body.destroy(error),
      )
    })
  }
  zip.on('error', error => body.destroy(error))
  body.on('close', () => source?.destroy())
  const length = await new Promise<number>(resolve => {
    zip.end(undefined, resolve as () => void)
  })
  ;(zip.outputStream as Readable).pipe(body)
  return { body, length }
}

type PresentFile = { book: BookFile; size: number; modified: Date }

// Files are opened to identify them; a network disk serves several at once.
const concurrency = 8

async function findFile(book: BookFile, access: FileAccess): Promise<PresentFile | null> {
  try {
    const { fd, stats } = await openBookFile(book, access)
    await closeFile(fd)
    return { book, size: stats.size, modified: stats.mtime }
  } catch (error) {
    if (error instanceof Failure && !(error instanceof Unavailable)) return null
    throw error
  }
}

/** `a.cbz`, then `a (2).cbz`; names that differ only in case count as equal, as on some file systems. */
function createUniqueNames() {
  const used = new Set<string>()
  return (name: string): string => {
    const safe = safeName(name)
    const dot = safe.lastIndexOf('.')
    const [stem, extension] = dot > 0 ? [safe.slice(0, dot), safe.slice(dot)] : [safe, '']
    for (let count = 1; ; count++) {
      const candidate = count === 1 ? safe : `${stem} (${count})${extension}`
      const key = foldName(candidate)
      if (used.has(key)) continue
      used.add(key)
      return candidate
    }
  }
}

/** A file name that is valid on every system: no separators, no control characters, not `..`. */
function safeName(name: string): string {
  const replaced = name.replace(/[\x00-\x1f\x7f/\\:]/g, '_')
  return /^\.*$/.test(replaced) ? `_${replaced}` : replaced
}
