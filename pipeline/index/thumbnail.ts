// Thumbnail of a book or of local artwork, generated in a thread and stored under the hash of its bytes.
import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { scoped } from '../../lib/base/async/dispose.ts'
import type { DiskAccess } from '../../lib/base/async/interleave.ts'
import { isShortage, noCoverImage, Unreadable } from '../../lib/base/errors.ts'
import { type File, openLibraryFile } from '../../lib/base/file.ts'
import { extensionOf } from '../../lib/base/path.ts'
import { readCover } from '../../lib/media/format/formats.ts'
import { createCover } from '../../lib/media/image/cover.ts'
import { thumbnailPath } from '../../lib/media/image/thumbnail-path.ts'
import {
  emptyThumbnail,
  type Thumbnail,
  type ThumbnailOptions,
  type ThumbnailRequest,
} from './thumbnail-request.ts'

export async function makeThumbnail(
  request: ThumbnailRequest,
  options: ThumbnailOptions,
  { disk }: { disk: DiskAccess },
): Promise<Thumbnail> {
  const result = emptyThumbnail(request)
  const work = { request, options, disk, result }
  try {
    const cover = (await coverOfArtwork(work)) ?? (await coverOfBook(work))
    if (!cover) throw new Unreadable(noCoverImage, 'unsupported_image')
    Object.assign(result, tryToStore(cover.bytes, options))
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    result.error = { code: error.code, message: error.message }
  }
  return result
}

function tryToStore(
  bytes: Uint8Array,
  { folder, format }: ThumbnailOptions,
): Pick<Thumbnail, 'cover' | 'writeError'> {
  try {
    return { cover: storeThumbnail(folder, bytes, format), writeError: null }
  } catch (error) {
    if (isShortage(error)) throw error
    return { cover: null, writeError: (error as NodeJS.ErrnoException).code ?? String(error) }
  }
}

type Work = {
  request: ThumbnailRequest
  options: ThumbnailOptions
  disk: DiskAccess
  /** Counts the bytes read. */
  result: Thumbnail
}

/** Null if there is no artwork or it cannot be decoded: a book has its own cover. */
async function coverOfArtwork({ request, options, disk, result }: Work) {
  const { artwork, containment } = request
  if (artwork === null) return null
  try {
    return await withFile(artwork.path, { containment, disk, result }, async file => {
      if (file.size > options.limits.entryBytes) return null
      await file.preload?.([{ position: 0, length: file.size }])
      return createCover(file.read(0, file.size), options)
    })
  } catch (error) {
    if (!(error instanceof Unreadable) || request.path === null) throw error
    return null
  }
}

async function coverOfBook({ request, options, disk, result }: Work) {
  const { path, containment } = request
  if (path === null) return null
  return await withFile(path, { containment, disk, result }, file =>
    readCover(
      file,
      extensionOf(path),
      (image: Uint8Array) => createCover(image, options),
      options.limits,
    ),
  )
}

/** `path` is latin1. */
async function withFile<T>(
  path: string,
  {
    containment,
    disk,
    result,
  }: Pick<Work, 'disk' | 'result'> & Pick<ThumbnailRequest, 'containment'>,
  read: (file: File) => Promise<T>,
): Promise<T> {
  return await scoped(async use => {
    const file = use(await openLibraryFile(Buffer.from(path, 'latin1'), containment, disk))
    result.opens++
    try {
      return await read(file)
    } finally {
      result.bytesRead += file.bytesRead
    }
  })
}

/**
 * Returns the name: `abc/<hash>.webp` below `folder`. A truncated file left by a crash is not named by any
 * row, and is replaced when the same thumbnail is generated again.
 */
function storeThumbnail(folder: string, bytes: Uint8Array, format: 'webp' | 'jpeg'): string {
  const name = hash('sha256', bytes, 'hex').slice(0, 40)
  const path = thumbnailPath(folder, name, format)
  try {
    create(path, bytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      mkdirSync(dirname(path), { recursive: true })
      return storeThumbnail(folder, bytes, format)
    }
    if (code !== 'EEXIST') throw error
    if (statSync(path).size !== bytes.length) replace(path, bytes)
  }
  return name
}

function replace(path: string, bytes: Uint8Array) {
  const draft = `${path}.${randomUUID()}`
  create(draft, bytes)
  renameSync(draft, path)
}

/** A full disk leaves no partial file. */
function create(path: string, bytes: Uint8Array) {
  const fd = openSync(path, 'wx')
  try {
    writeFileSync(fd, bytes)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}
