// Streaming ZIP of the files of a series: nothing is compressed, one file is open at a time, and memory
// use does not depend on the size.
import { stat } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { BookFile } from '../catalog/book/book-file.ts'
import { NotFound } from '../errors.ts'
import { foldName } from '../path.ts'
import { openForResponse, streamRange } from './file-body.ts'
import { assertInsideRoot } from './path-containment.ts'

/** `length` is exact. Destroying `body` closes the file that is being read. */
export type SeriesZip = { body: Readable; length: number }

/**
 * A ZIP of the files in the order given, under their own names. Files that no longer exist are left out;
 * throws NotFound when none is left. A file that changes while it is sent aborts the response.
 */
export async function zipSeries(books: readonly BookFile[]): Promise<SeriesZip> {
  const present: PresentFile[] = []
  for (const book of books) {
    const file = await findFile(book)
    if (file) present.push(file)
  }
  if (present.length === 0) throw new NotFound('The series has no files')
  const zip = new ZipFile()
  const body = new PassThrough({ highWaterMark: 256 * 1024 })
  let source: Readable | null = null
  const entryName = createUniqueNames()
  const open = async ({ path, size }: PresentFile) => {
    const fd = await openForResponse(path)
    source = streamRange(fd, 0, size)
    // The client may have disconnected while the file was opened.
    if (body.destroyed) source.destroy()
    source.on('error', error => body.destroy(error))
    return source
  }
  for (const file of present) {
    const options = { compress: false, size: file.size, mtime: file.modified, mode: 0o100644 }
    zip.addReadStreamLazy(entryName(file.name), options, done => {
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

type PresentFile = { path: Buffer; name: string; size: number; modified: Date }

async function findFile({ root, path, name }: BookFile): Promise<PresentFile | null> {
  try {
    await assertInsideRoot(root, path)
    const stats = await stat(path)
    return stats.isFile() ? { path, name, size: stats.size, modified: stats.mtime } : null
  } catch {
    return null
  }
}

/** `a.cbz`, then `a (2).cbz`; names that differ only in case count as equal, as they do on some file systems. */
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
