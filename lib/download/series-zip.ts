// The files of a series as one ZIP, made while it is sent: nothing is compressed, one file is open at a
// time, and memory does not follow the size.
import { stat } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { BookFile } from '../catalog/book/book-file.ts'
import { NotFound } from '../errors.ts'
import { foldedName } from '../path.ts'
import { openForAnswer, streamSpan } from './file-body.ts'
import { checkInside } from './path-containment.ts'

/** `length` is exact. Destroying `body` closes the file at hand. */
export type SeriesZip = { body: Readable; length: number }

/**
 * A ZIP of the files in the order given, under their own names. Files that are gone are left out;
 * throws NotFound when that leaves none. One that changes while it is sent breaks the answer off.
 */
export async function zipSeries(books: readonly BookFile[]): Promise<SeriesZip> {
  const present: Present[] = []
  for (const book of books) {
    const found = await look(book)
    if (found) present.push(found)
  }
  if (present.length === 0) throw new NotFound('The series has no files')
  const zip = new ZipFile()
  const body = new PassThrough({ highWaterMark: 256 * 1024 })
  let source: Readable | null = null
  const nameOf = uniqueNames()
  const open = async ({ path, size }: Present) => {
    const fd = await openForAnswer(path)
    source = streamSpan(fd, 0, size)
    // It must not be opened for an answer that nobody waits for any more.
    if (body.destroyed) source.destroy()
    source.on('error', error => body.destroy(error))
    return source
  }
  for (const book of present) {
    const options = { compress: false, size: book.size, mtime: book.modified, mode: 0o100644 }
    zip.addReadStreamLazy(nameOf(book.name), options, done => {
      open(book).then(
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

type Present = { path: Buffer; name: string; size: number; modified: Date }

async function look({ root, path, name }: BookFile): Promise<Present | null> {
  try {
    await checkInside(root, path)
    const found = await stat(path)
    return found.isFile() ? { path, name, size: found.size, modified: found.mtime } : null
  } catch {
    return null
  }
}

/** `a.cbz`, then `a (2).cbz`; names that differ only in case count as the same, because on some disks they are. */
function uniqueNames() {
  const taken = new Set<string>()
  return (name: string): string => {
    const plain = safe(name)
    const dot = plain.lastIndexOf('.')
    const [stem, ending] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot)] : [plain, '']
    for (let count = 1; ; count++) {
      const tried = count === 1 ? plain : `${stem} (${count})${ending}`
      const key = foldedName(tried)
      if (taken.has(key)) continue
      taken.add(key)
      return tried
    }
  }
}

/** A file name that is one on every system: no separators, no control characters, not `..`. */
function safe(name: string): string {
  const plain = name.replace(/[\x00-\x1f\x7f/\\:]/g, '_')
  return /^\.*$/.test(plain) ? `_${plain}` : plain
}
