// Response bodies from files: read into memory with one open and one read, or streamed if that would take too
// much memory.
import { close, createReadStream, fstat, open, read, type Stats, stat } from 'node:fs'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  assertContained,
  type Containment,
  fileFailure,
  missingFile,
  openUnchecked,
} from '../base/containment.ts'
import { Failure, NotFound } from '../base/errors.ts'
import { mountHealth } from '../store/mount/mount-health.ts'
import { deliveryCounters } from './counters.ts'

// Promisified callbacks, not FileHandle: that costs twice as much, and these run for every page.
const openAsync = promisify(open)
const fstatAsync = promisify(fstat)
const readAsync = promisify(read)
const statAsync = promisify(stat)

/**
 * `release` must be called once the response was sent or has failed; `body` is invalid after that. Calling it
 * again does nothing.
 */
export type FileBody = { body: Buffer | Readable; length: number; release: () => void }

// Larger bodies are streamed; so are all bodies while the pending responses together hold this much.
const maxBodyBytes = 4 * 1024 * 1024
const maxBufferedBytes = 32 * 1024 * 1024
let bufferedBytes = 0

/** Whether a response of that many bytes may be held in memory now. */
export const canBuffer = (bytes: number): boolean =>
  bytes <= maxBodyBytes && bufferedBytes + bytes <= maxBufferedBytes

/** Counts a response as held in memory until it is released. */
export function bufferedBody(body: Buffer): FileBody {
  let isHeld = true
  bufferedBytes += body.length
  const release = () => {
    if (!isHeld) return
    isHeld = false
    bufferedBytes -= body.length
    giveBack(body)
  }
  return { body, length: body.length, release }
}

/** Frees a body that is not sent: its memory, or its open file. */
export function discardBody({ body, release }: FileBody): void {
  if (!Buffer.isBuffer(body)) body.destroy()
  release()
}

/**
 * Opens a library file for one response; nothing may be sent before `checkFile`. Throws NotFound if it does
 * not exist, NotMounted if its library is gone, Shortage, otherwise Unreadable `io`.
 */
export async function openForResponse(path: Buffer, containment: Containment): Promise<number> {
  deliveryCounters.opens += 1
  return withFileErrors(() => openUnchecked(path, containment), containment.root)
}

/** Checks that an open file lies in its library. Throws like `openForResponse`. */
export const checkFile = (fd: number, path: Buffer, containment: Containment): Promise<Stats> =>
  withFileErrors(async () => {
    const stats = await fstatAsync(fd)
    await assertContained({ fd, stats, path }, containment)
    return stats
  }, containment.root)

/** Throws like `openForResponse`. */
export const statFile = (path: Buffer, root: string): Promise<Stats> =>
  withFileErrors(() => statAsync(path), root)

/** At most `length` bytes from `position`; fewer at the end of the file. */
export async function readRange(fd: number, position: number, length: number): Promise<Buffer> {
  const target = takeBuffer(length)
  let filled = 0
  while (filled < length) {
    deliveryCounters.reads += 1
    const remaining = length - filled
    const { bytesRead } = await withFileErrors(() =>
      readAsync(fd, target, filled, remaining, position + filled),
    )
    if (bytesRead === 0) break
    filled += bytesRead
  }
  deliveryCounters.bytesRead += filled
  return filled === length ? target : target.subarray(0, filled)
}

export const closeFile: (fd: number) => Promise<void> = promisify(close)
/** Closes without waiting; a close error could not be handled anyway. */
export const closeInBackground = (fd: number): void => close(fd, () => {})

type Range = {
  start: number
  length: number
  /** Folder of the library, latin1; null for a file in the data directory. */
  root: string | null
  /** The file's folder (`folderOf`). */
  folder?: string
}

/** A stream over a range of the file, which closes the file when it ends or is destroyed. */
export function streamRange(fd: number, { start, length, root, folder }: Range): Readable {
  if (length === 0) {
    closeInBackground(fd)
    return Readable.from([])
  }
  const options = { fd, start, end: start + length - 1, highWaterMark: 256 * 1024 }
  return createReadStream(
    '',
    root === null ? options : { ...options, fs: libraryDisk(root, folder) },
  )
}

/**
 * Reads and closes for one stream. If the disk hangs, the stream fails, and its file is closed after the last
 * read.
 */
function libraryDisk(root: string, folder: string | undefined) {
  let reading: Promise<unknown> = Promise.resolve()
  return {
    read(...[fd, target, offset, length, position, done]: ReadArguments) {
      const start = () => {
        const started = readAsync(fd, target, offset, length, position)
        reading = started.catch(() => {})
        return started
      }
      mountHealth.run(root, start, { folder }).then(
        ({ bytesRead, buffer }) => done(null, bytesRead, buffer),
        error => done(error),
      )
    },
    close(fd: number, done: (error?: Error | null) => void) {
      void reading.then(() => closeInBackground(fd))
      done()
    },
  }
}

type ReadArguments = [
  fd: number,
  target: Buffer,
  offset: number,
  length: number,
  position: number,
  done: (error: Error | null, bytesRead?: number, buffer?: Buffer) => void,
]

/** A whole file in the data directory as a response body, or null if it does not exist. */
export async function readWholeFile(path: string): Promise<FileBody | null> {
  let fd: number
  try {
    deliveryCounters.opens += 1
    fd = await withFileErrors(() => openAsync(path, 'r'))
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
  try {
    const { size } = await withFileErrors(() => fstatAsync(fd))
    if (!canBuffer(size))
      return {
        body: streamRange(fd, { start: 0, length: size, root: null }),
        length: size,
        release: () => {},
      }
    const bytes = await readRange(fd, 0, size)
    closeInBackground(fd)
    return bufferedBody(bytes)
  } catch (error) {
    closeInBackground(fd)
    throw error
  }
}

/** `root`: the file's library, latin1. */
async function withFileErrors<T>(call: () => Promise<T>, root?: string): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const failure = error instanceof Failure ? error : fileFailure(error)
    const code = (failure.cause as NodeJS.ErrnoException | undefined)?.code
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw root === undefined
        ? new NotFound('The file does not exist', { cause: failure.cause })
        : await missingFile(root, failure.cause)
    throw failure
  }
}

// Buffers are reused: V8 counts memory outside its heap, and a new one for each one-megabyte page would trigger a full garbage
// collection, which pauses all requests, every twenty pages.
/** Smaller buffers are not worth it. */
const minBytes = 64 * 1024
const maxUnusedBytes = 16 * 1024 * 1024
/** All are freed when none has been returned for this long. */
const unusedMs = 10_000

/** Unused memory by size, a power of two. */
const unused = new Map<number, ArrayBuffer[]>()
let unusedBytes = 0
const lent = new WeakSet<ArrayBufferLike>()
let timer: NodeJS.Timeout | undefined

/** A buffer of that length, with arbitrary content. */
export function takeBuffer(length: number): Buffer {
  if (length < minBytes) return Buffer.allocUnsafeSlow(length)
  const capacity = 2 ** Math.ceil(Math.log2(length))
  const known = unused.get(capacity)?.pop()
  if (known) unusedBytes -= capacity
  const memory = known ?? Buffer.allocUnsafeSlow(capacity).buffer
  lent.add(memory)
  return Buffer.from(memory, 0, length)
}

/**
 * Takes back the memory of a buffer that is no longer referenced. Ignores buffers that are not from
 * `takeBuffer`.
 */
export function giveBack({ buffer: memory }: Buffer): void {
  const capacity = memory.byteLength
  if (!lent.delete(memory) || unusedBytes + capacity > maxUnusedBytes) return
  const others = unused.get(capacity)
  if (others) others.push(memory as ArrayBuffer)
  else unused.set(capacity, [memory as ArrayBuffer])
  unusedBytes += capacity
  timer ??= setTimeout(freeUnused, unusedMs).unref()
  timer.refresh()
}

function freeUnused() {
  unused.clear()
  unusedBytes = 0
}
