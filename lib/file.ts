// One open file, read at offsets; the only place where book bytes enter the process, so it counts them.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Unreadable } from './errors.ts'

/** A random-access file. Offsets and lengths are bytes. */
export type File = Disposable & {
  /** Absolute path as bytes: names on disk need not be UTF-8. */
  readonly path: Buffer
  readonly size: number
  /** Bytes read from disk so far through this object. */
  readonly bytesRead: number
  /** At most `length` bytes from `position`; shorter only at the end of the file. May be a view: do not write to it. Throws Unreadable `io`. */
  read(position: number, length: number): Buffer
  /** Fills `target` from `position` and returns the byte count, for callers that reuse a buffer. Throws Unreadable `io`. */
  readInto(target: Uint8Array, position: number): number
}

// A file this small is read whole by its first read: one request instead of a dozen.
const wholeBelow = 64 * 1024

/** Opens `path` for reading. Throws Unreadable `io`. */
export function openFile(path: Buffer): File {
  const fd = guard(() => openSync(path, 'r'))
  const size = guard(() => fstatSync(fd).size)
  let bytesRead = 0
  let whole: Buffer | null = null
  const readInto = (target: Uint8Array, position: number) => {
    let filled = 0
    while (filled < target.length) {
      const got = guard(() =>
        readSync(fd, target, filled, target.length - filled, position + filled),
      )
      if (got === 0) break
      filled += got
    }
    bytesRead += filled
    return filled
  }
  const fresh = (position: number, length: number) => {
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
      if (size > wholeBelow) return fresh(position, length)
      whole ??= fresh(0, size)
      return whole.subarray(Math.max(0, position), Math.max(0, position) + Math.max(0, length))
    },
    readInto,
    [Symbol.dispose]: () => closeSync(fd),
  }
}

function guard<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Unreadable(`The file cannot be read (${code})`, 'io', { cause })
  }
}
