// Random-access file reader with a count of the bytes read; threads read all files of a library through it.
import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { assertContained, type Containment, openFlags, unreadable } from './containment.ts'

/** A random-access file. Offsets and lengths are bytes. */
export type File = Disposable & {
  /** Absolute path as bytes, because file names need not be UTF-8. */
  readonly path: Buffer
  readonly size: number
  /** Whole milliseconds since 1970, as of opening. */
  readonly modifiedMs: number
  /** Bytes read from disk so far. */
  readonly bytesRead: number
  /** `length` bytes from `position`, fewer at the end of the file. Read-only: may be a view of a cache. Throws Unreadable `io`. */
  read(position: number, length: number): Buffer
  /** Fills `target` from `position` and returns the byte count, for reused buffers. Throws Unreadable `io`. */
  readInto(target: Uint8Array, position: number): number
}

// Smaller files are read whole at the first read: one system call instead of a dozen.
const maxWholeFileBytes = 64 * 1024

/** Opens a file of a library. Throws Unreadable `io`, also for a file outside; the cause is the system error. */
export async function openLibraryFile(path: Buffer, containment: Containment): Promise<File> {
  const fd = orUnreadable(() => openSync(path, openFlags(containment)))
  try {
    const stats = orUnreadable(() => fstatSync(fd))
    await assertContained({ fd, stats, path }, containment)
    return fileOf(fd, path, stats)
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Opens `path` without a check of its place: for files that users cannot exchange. Throws Unreadable `io`. */
export function openFile(path: Buffer): File {
  const fd = orUnreadable(() => openSync(path, 'r'))
  const stats = orUnreadable(() => fstatSync(fd))
  return fileOf(fd, path, stats)
}

function fileOf(fd: number, path: Buffer, { size, mtimeMs }: Stats): File {
  let bytesRead = 0
  let whole: Buffer | null = null
  const readInto = (target: Uint8Array, position: number) => {
    let filled = 0
    while (filled < target.length) {
      const count = orUnreadable(() =>
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
    return target.subarray(0, readInto(target, position))
  }
  return {
    path,
    size,
    modifiedMs: Math.round(mtimeMs),
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

function orUnreadable<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    throw unreadable(cause)
  }
}
