// Spans of files as answers: one open, one read, unless that would hold too much in memory; then a stream.
import { close, createReadStream, fstat, open, read, type Stats, stat } from 'node:fs'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { NotFound, Unreadable } from '../errors.ts'
import { pageCounters } from '../page/counters.ts'

// Callbacks made promises: a FileHandle costs twice as much, and these run for every page.
const openAsync = promisify(open)
const statAsync = promisify(fstat)
const readAsync = promisify(read)
const statPathAsync = promisify(stat)

/** `done` is to be called when the answer has left, or never will; calling it again does nothing. */
export type Body = { body: Buffer | Readable; length: number; done: () => void }

// A page beyond this is streamed; so is any while the answers under way hold this much together.
const mostBuffered = 4 * 1024 * 1024
const mostUnderWay = 32 * 1024 * 1024
let underWay = 0

/** Whether an answer of that many bytes may be held in memory now. */
export const isAffordable = (bytes: number): boolean =>
  bytes <= mostBuffered && underWay + bytes <= mostUnderWay

/** Counts an answer as held in memory until it is done. */
export function held(body: Buffer): Body {
  let isHeld = true
  underWay += body.length
  const done = () => {
    if (isHeld) underWay -= body.length
    isHeld = false
  }
  return { body, length: body.length, done }
}

/** Opens a file for one answer. Throws NotFound when it is not there, Unreadable `io` otherwise. */
export async function openForAnswer(path: Buffer | string): Promise<number> {
  pageCounters.opens += 1
  return guarded(() => openAsync(path, 'r'))
}

export const statOpen = (fd: number): Promise<Stats> => guarded(() => statAsync(fd))
/** Throws as `openForAnswer` does. */
export const statFile = (path: Buffer): Promise<Stats> => guarded(() => statPathAsync(path))

/** At most `length` bytes from `position`; shorter at the end of the file. */
export async function readSpan(fd: number, position: number, length: number): Promise<Buffer> {
  const target = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    pageCounters.reads += 1
    const rest = length - filled
    const { bytesRead } = await guarded(() =>
      readAsync(fd, target, filled, rest, position + filled),
    )
    if (bytesRead === 0) break
    filled += bytesRead
  }
  pageCounters.bytesRead += filled
  return filled === length ? target : target.subarray(0, filled)
}

// Nobody waits for it, and there is nothing to do when it fails.
export const closeSoon = (fd: number): void => close(fd, () => {})

/** A stream over a span, which closes the file in the end. */
export function streamSpan(fd: number, position: number, length: number): Readable {
  if (length === 0) {
    closeSoon(fd)
    return Readable.from([])
  }
  const end = position + length - 1
  return createReadStream('', { fd, start: position, end, highWaterMark: 256 * 1024 })
}

/** A whole file as an answer, or null when there is none. */
export async function wholeFile(path: string): Promise<Body | null> {
  let fd: number
  try {
    fd = await openForAnswer(path)
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
  try {
    const { size } = await statOpen(fd)
    if (!isAffordable(size)) return { body: streamSpan(fd, 0, size), length: size, done: () => {} }
    const bytes = await readSpan(fd, 0, size)
    closeSoon(fd)
    return held(bytes)
  } catch (error) {
    closeSoon(fd)
    throw error
  }
}

async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new NotFound('The file is not there', { cause })
    throw new Unreadable(`The file cannot be read (${code})`, 'io', { cause })
  }
}
