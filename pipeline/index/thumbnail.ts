// Makes the thumbnail of a book, in a thread, and files it under the hash of its own bytes.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Unreadable } from '../../lib/errors.ts'
import { openFile } from '../../lib/file.ts'
import type { Limits } from '../../lib/format/contract.ts'
import { readCover } from '../../lib/format/formats.ts'
import { makeCover } from '../../lib/image/cover.ts'
import { thumbnailPath } from '../../lib/image/thumbnail-path.ts'
import { extensionOf, joinPath } from '../../lib/path.ts'
import type { ReadError } from './reading.ts'

export type ThumbnailRules = {
  /** Folder of all thumbnails. */
  folder: string
  maxSide: number
  format: 'webp' | 'jpeg'
  quality: number
  limits: Limits
}

export type BookToShow = {
  id: string
  path: string
  /** A cover.jpg of a folder that holds this book alone; used when the book has no cover of its own. */
  sidecar: string | null
}

export type Thumbnail = {
  id: string
  cover: string | null
  bytesRead: number
  opens: number
  /** How long a thread was at it. */
  ms?: number
  error: ReadError | null
  /** Why a cover that was made could not be written; says nothing of the book. */
  unfiled: string | null
}

export async function makeThumbnail(book: BookToShow, rules: ThumbnailRules): Promise<Thumbnail> {
  const out = noThumbnail(book.id)
  try {
    const path = Buffer.from(book.path, 'latin1')
    using file = openFile(path)
    out.opens++
    try {
      const image =
        (await readCover(file, extensionOf(book.path), rules.limits)) ??
        readSidecar(path, book.sidecar, out)
      if (!image) throw new Unreadable('The book holds no image for a cover', 'unsupported_image')
      const made = await makeCover(image, rules)
      Object.assign(out, tryToFile(made.bytes, rules))
    } finally {
      out.bytesRead += file.bytesRead
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    out.error = { code: error.code, message: error.message }
  }
  return out
}

export function noThumbnail(id: string): Thumbnail {
  return { id, cover: null, bytesRead: 0, opens: 0, error: null, unfiled: null }
}

function tryToFile(bytes: Uint8Array, { folder, format }: ThumbnailRules) {
  try {
    return { cover: fileThumbnail(folder, bytes, format) }
  } catch (error) {
    return { unfiled: (error as NodeJS.ErrnoException).code ?? String(error) }
  }
}

function readSidecar(path: Buffer, name: string | null, out: Thumbnail) {
  if (name === null) return null
  using file = openFile(joinPath(path.subarray(0, path.lastIndexOf(0x2f)), Buffer.from(name)))
  out.opens++
  const bytes = file.read(0, 32 * 1024 * 1024)
  out.bytesRead += bytes.length
  return bytes
}

/** `ab/cd/<hash>.webp` below `folder`, written beside and renamed, so that a kill leaves no half file under its name. */
function fileThumbnail(folder: string, bytes: Uint8Array, format: 'webp' | 'jpeg'): string {
  const name = hash('sha256', bytes, 'hex').slice(0, 40)
  const path = thumbnailPath(folder, name, format)
  if (!existsSync(path)) {
    const draft = `${path}.${randomBytes(6).toString('hex')}`
    try {
      writeFileSync(draft, bytes)
    } catch {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(draft, bytes)
    }
    renameSync(draft, path)
  }
  return name
}
