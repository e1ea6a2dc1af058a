// Thumbnail of a book, made in a thread and stored under the hash of its bytes.
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
import { scoped } from '../../lib/async/dispose.ts'
import type { DiskAccess } from '../../lib/async/interleave.ts'
import { noCoverImage, Unreadable } from '../../lib/errors.ts'
import { openLibraryFile } from '../../lib/file.ts'
import { readCover } from '../../lib/format/formats.ts'
import { createCover } from '../../lib/image/cover.ts'
import { thumbnailPath } from '../../lib/image/thumbnail-path.ts'
import { extensionOf, joinPath } from '../../lib/path.ts'
import { isShortage } from '../../lib/shortage.ts'
import {
  emptyThumbnail,
  type Thumbnail,
  type ThumbnailOptions,
  type ThumbnailRequest,
} from './thumbnail-request.ts'

const maxSidecarBytes = 32 * 1024 * 1024

export async function makeThumbnail(
  request: ThumbnailRequest,
  options: ThumbnailOptions,
  { disk }: { disk: DiskAccess },
): Promise<Thumbnail> {
  const result = emptyThumbnail(request.id)
  try {
    const path = Buffer.from(request.path, 'latin1')
    await scoped(async use => {
      const file = use(await openLibraryFile(path, request.containment, disk))
      result.opens++
      try {
        const make = (image: Uint8Array) => createCover(image, options)
        let cover = await readCover(file, extensionOf(request.path), make, options.limits)
        if (cover === null) {
          const image = await readSidecar(path, { ...request, disk }, result)
          cover = image && (await make(image))
        }
        if (!cover) throw new Unreadable(noCoverImage, 'unsupported_image')
        Object.assign(result, tryToStore(cover.bytes, options))
      } finally {
        result.bytesRead += file.bytesRead
      }
    })
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

async function readSidecar(
  path: Buffer,
  { sidecar: name, containment, disk }: ThumbnailRequest & { disk: DiskAccess },
  result: Thumbnail,
) {
  if (name === null) return null
  const sidecar = joinPath(path.subarray(0, path.lastIndexOf(0x2f)), Buffer.from(name))
  return scoped(async use => {
    const file = use(await openLibraryFile(sidecar, containment, disk))
    result.opens++
    await file.preload?.([{ position: 0, length: Math.min(file.size, maxSidecarBytes) }])
    const bytes = file.read(0, maxSidecarBytes)
    result.bytesRead += bytes.length
    return bytes
  })
}

/**
 * Returns the name: `abc/<hash>.webp` below `folder`. A file without its last bytes, which a crash leaves, is named by no
 * row, and replaced when the same thumbnail is made again.
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

/** A full disk leaves no part of the file. */
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
