// Random-access file reader with a count of the bytes read; all book files are read through it.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Unreadable } from './errors.ts'

/** A random-access file. Offsets and lengths are bytes. */
export type File = Disposable & {
  /** Absolute path as bytes, because file names need not be UTF-8. */
  readonly path: Buffer
  readonly size: number
  /** Bytes read from disk so far. */
  readonly bytesRead: number
  /** `length` bytes from `position`, fewer at the end of the file. Read-only: may be a view of a cache. Throws Unreadable `io`. */
  read(position: number, length: number): Buffer
  /** Fills `target` from `position` and returns the byte count, for reused buffers. Throws Unreadable `io`. */
  readInto(target: Uint8Array, position: number): number
}

// Smaller files are read whole at the first read: one system call instead of a dozen.
const maxWholeFileBytes = 64 * 1024

/** Opens `path` for reading. Throws Unreadable `io`. */
export function openFile(path: Buffer): File {
  const fd = orUnreadable(() => openSync(path, 'r'))
  const size = orUnreadable(() => fstatSync(fd).size)
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
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Unreadable(`The file cannot be read (${code})`, 'io', { cause })
  }
}
