// Random-access file reader that counts the bytes read; threads read all library files through it.
import { close, closeSync, fstatSync, openSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { DiskAccess } from './async/interleave.ts'
import {
  assertContained,
  type Containment,
  fileFailure,
  openFlags,
  openUnchecked,
} from './containment.ts'
import { createSpans, mergeRanges, type Range } from './file-ranges.ts'

/** A random-access file. Offsets and lengths are bytes. */
export type File = Disposable & {
  /** Absolute path as bytes, because file names need not be UTF-8. */
  readonly path: Buffer
  readonly size: number
  /** Whole milliseconds since 1970, as of opening. */
  readonly modifiedMs: number
  /**
   * Time of the last change of content or attributes (ctime), in milliseconds with fractions; programs cannot
   * set it.
   */
  readonly changedMs: number
  /** Bytes read from disk so far. */
  readonly bytesRead: number
  /**
   * `length` bytes from `position`, fewer at the end of the file. Read-only: may be a view into a cache.
   * Throws Unreadable `io`.
   */
  read(position: number, length: number): Buffer
  /** Fills `target` from `position` and returns the byte count, for reused buffers. Throws Unreadable `io`. */
  readInto(target: Uint8Array, position: number): number
  /**
   * Only on a slow disk: reads ranges in advance while the thread computes for other files. Never throws:
   * what cannot be read in advance is read when needed.
   */
  preload?(ranges: readonly Range[]): Promise<void>
  /**
   * Only on a slow disk: the whole file in blocks, each valid until the next. Reads ahead as far as memory
   * permits, so that a file read alone is not one wait after another. Throws Unreadable `io`.
   */
  blocks?(length: number): AsyncGenerator<Buffer>
}

/** Files up to this size are read completely by the first read: one system call instead of a dozen. */
export const maxWholeFileBytes = 64 * 1024
// More than a page image. Beyond that, reading takes long in any case.
const maxPreloadBytes = 8 * 1024 * 1024
// A slow disk returns this much in about the time of a single byte, and readers that cannot announce their
// next read mostly read forward.
const firstBlockBytes = 64 * 1024
const maxBlockBytes = 1024 * 1024
const maxBlocks = 4
// Blocks of one file that are read at the same time.
const maxBlocksAhead = 8

const readAsync = promisify(read)

/**
 * Opens a library file. `disk` is the library's; without it every call is synchronous. Throws Unreadable
 * `io`, also for a file outside the library, with the system error as cause. Throws Shortage.
 */
export async function openLibraryFile(
  path: Buffer,
  containment: Containment,
  disk: DiskAccess | null = null,
): Promise<File> {
  const fd = disk?.isSlow
    ? await openSlow(path, containment, disk)
    : orFailure(() => timed(disk, () => openSync(path, openFlags(containment))))
  try {
    const stats = orFailure(() => fstatSync(fd))
    await assertContained({ fd, stats, path }, containment)
    const file = fileOf(fd, { path, stats, disk })
    return disk?.isSlow ? preloadable(fd, file, disk) : file
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

async function openSlow(path: Buffer, containment: Containment, disk: DiskAccess): Promise<number> {
  try {
    return await disk.wait(() => disk.call(() => openUnchecked(path, containment)))
  } catch (cause) {
    throw fileFailure(cause)
  }
}

function timed<T>(disk: DiskAccess | null, call: () => T): T {
  if (disk === null) return call()
  const startedAt = performance.now()
  const result = call()
  disk.record(performance.now() - startedAt)
  return result
}

/**
 * Opens `path` without checking where it lies: for files that users cannot replace. Throws Unreadable `io`.
 */
export function openFile(path: Buffer): File {
  const fd = orFailure(() => openSync(path, 'r'))
  const stats = orFailure(() => fstatSync(fd))
  return fileOf(fd, { path, stats, disk: null })
}

type OpenedFile = { path: Buffer; stats: Stats; disk: DiskAccess | null }

function fileOf(fd: number, { path, stats: { size, mtimeMs, ctimeMs }, disk }: OpenedFile): File {
  let bytesRead = 0
  let whole: Buffer | null = null
  const readInto = (target: Uint8Array, position: number) => {
    let filled = 0
    while (filled < target.length) {
      const count = orFailure(() =>
        readSync(fd, target, filled, target.length - filled, position + filled),
      )
      if (count === 0) break
      filled += count
    }
    bytesRead += filled
    return filled
  }
  const readNew = (position: number, length: number) => {
    const target = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)))
    // One short read shows how fast the disk is; measuring each would cost as much as reading.
    if (bytesRead > 0 || target.length > maxWholeFileBytes)
      return target.subarray(0, readInto(target, position))
    return target.subarray(
      0,
      timed(disk, () => readInto(target, position)),
    )
  }
  return {
    path,
    size,
    modifiedMs: Math.round(mtimeMs),
    changedMs: ctimeMs,
    get bytesRead() {
      return bytesRead
    },
    read(position, length) {
      if (size > maxWholeFileBytes) return readNew(position, length)
      whole ??= readNew(0, size)
      return whole.subarray(Math.max(0, position), Math.max(0, position) + Math.max(0, length))
    },
    readInto,
    [Symbol.dispose]: () => closeSync(fd),
  }
}

/** The same file on a slow disk: what is not preloaded is read in blocks. */
function preloadable(fd: number, file: File, disk: DiskAccess): File {
  const { path, size, modifiedMs, changedMs } = file
  const preloaded = createSpans()
  const blocks = createSpans()
  let heldBytes = 0
  let preloadedBytes = 0
  let blockEnd = -1
  let blockBytes = 0
  const find = (range: Range) => preloaded.find(range) ?? blocks.find(range)
  const clamp = (position: number, length: number): Range => {
    const start = Math.max(0, position)
    return { position: start, length: Math.max(0, Math.min(length, size - start)) }
  }
  const release = () => {
    preloaded.retain(0)
    disk.free(heldBytes)
    heldBytes = 0
  }
  const fill = async (target: Buffer, position: number) => {
    let filled = 0
    try {
      while (filled < target.length) {
        const from = filled
        const { bytesRead } = await disk.call(() =>
          readAsync(fd, target, from, target.length - from, position + from),
        )
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return { bytes: target.subarray(0, filled), error: null }
    } catch (error) {
      return { bytes: target.subarray(0, filled), error }
    } finally {
      preloadedBytes += filled
    }
  }
  const load = async ({ position, length }: Range) => {
    // The read that needs the rest reports the error.
    const { bytes } = await fill(Buffer.allocUnsafeSlow(length), position)
    preloaded.add(position, bytes)
  }
  const readBlock = (range: Range) => {
    const isNext = range.position === blockEnd
    blockBytes = isNext ? Math.min(blockBytes * 2, maxBlockBytes) : firstBlockBytes
    const bytes = file.read(range.position, Math.max(range.length, blockBytes))
    blockEnd = range.position + bytes.length
    blocks.add(range.position, bytes)
    blocks.retain(maxBlocks)
    return bytes.subarray(0, range.length)
  }
  return {
    path,
    size,
    modifiedMs,
    changedMs,
    get bytesRead() {
      return file.bytesRead + preloadedBytes
    },
    read(position, length) {
      const range = clamp(position, length)
      if (range.length === 0) return Buffer.alloc(0)
      const found = find(range)
      if (found) return found
      return range.length > maxBlockBytes ? file.read(position, length) : readBlock(range)
    },
    readInto(target, position) {
      const range = clamp(position, target.length)
      const found = find(range) ?? (range.length < firstBlockBytes ? readBlock(range) : null)
      if (found === null) return file.readInto(target, position)
      target.set(found)
      return found.length
    },
    blocks: length => readAhead({ size, disk, fill }, length),
    async preload(ranges) {
      const wanted = size <= maxWholeFileBytes ? [{ position: 0, length: size }] : ranges
      const absent = wanted.filter(range => !find(clamp(range.position, range.length)))
      let bytes = 0
      const missing = mergeRanges(absent, size).filter(({ length }) => {
        const fits = bytes + length <= maxPreloadBytes
        if (fits) bytes += length
        return fits
      })
      if (bytes === 0) return
      await disk.wait(() => Promise.all(missing.map(load)), bytes)
      heldBytes += bytes
    },
    [Symbol.dispose]() {
      release()
      // On some network file systems, closing is a call to the server.
      close(fd, () => {})
    },
  }
}

type Filled = { bytes: Buffer; error: unknown }
type Blocks = {
  size: number
  disk: DiskAccess
  fill: (target: Buffer, position: number) => Promise<Filled>
}

async function* readAhead({ size, disk, fill }: Blocks, length: number): AsyncGenerator<Buffer> {
  if (size === 0) return
  const ahead: { buffer: Buffer; loading: Promise<Filled> }[] = []
  const bufferBytes = Math.min(length, size)
  let heldBytes = 0
  let next = 0
  const start = (buffer: Buffer) => {
    const target = buffer.subarray(0, Math.min(buffer.length, size - next))
    ahead.push({ buffer, loading: fill(target, next) })
    next += target.length
  }
  const startNew = () => {
    heldBytes += bufferBytes
    start(Buffer.allocUnsafeSlow(bufferBytes))
  }
  try {
    await disk.wait(async () => {}, bufferBytes)
    startNew()
    while (ahead.length > 0) {
      while (next < size && ahead.length < maxBlocksAhead && disk.tryHold(bufferBytes)) startNew()
      const { buffer, loading } = ahead.shift()!
      const { bytes, error } = await disk.wait(() => loading)
      if (error) throw fileFailure(error)
      yield bytes
      if (next < size) start(buffer)
    }
  } finally {
    // A running call still writes to its buffer; the memory is free once it has ended.
    await Promise.all(ahead.map(({ loading }) => loading))
    disk.free(heldBytes)
  }
}

function orFailure<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    throw fileFailure(cause)
  }
}
