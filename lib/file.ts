// One open file, read at offsets; the only place where book bytes enter the process, so it counts them.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Unreadable } from './errors.ts'

/** A random-access file. Offsets and lengths are bytes. */
export type File = Disposable & {
  /** Absolute path as bytes: names on disk need not be UTF-8. */
  readonly path: Buffer
  readonly size: number
  /** Bytes read so far through this object. */
  readonly bytesRead: number
  /** A new buffer of at most `length` bytes from `position`; shorter only at the end of the file. Throws Unreadable `io`. */
  read(position: number, length: number): Buffer
  /** Fills `target` from `position` and returns the byte count, for callers that reuse a buffer. Throws Unreadable `io`. */
  readInto(target: Uint8Array, position: number): number
}

/** Opens `path` for reading. Throws Unreadable `io`. */
export function openFile(path: Buffer): File {
  const fd = guard(() => openSync(path, 'r'))
  const size = guard(() => fstatSync(fd).size)
  let bytesRead = 0
  const readInto = (target: Uint8Array, position: number) => {
    let filled = 0
    while (filled < target.length) {
      const got = guard(() => readSync(fd, target, filled, target.length - filled, position + filled))
      if (got === 0) break
      filled += got
    }
    bytesRead += filled
    return filled
  }
  return {
    path,
    size,
    get bytesRead() {
      return bytesRead
    },
    read(position, length) {
      const wanted = Math.max(0, Math.min(length, size - position))
      const target = Buffer.allocUnsafe(wanted)
      return target.subarray(0, readInto(target, position))
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
