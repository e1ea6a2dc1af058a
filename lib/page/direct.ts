// Direct page read: the bytes of a page stored or deflated in its file, without using a thread.
import type { Stats } from 'node:fs'
import { pipeline, Transform } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { Containment } from '../base/containment.ts'
import { Unreadable } from '../base/errors.ts'
import type { Range } from '../base/file-ranges.ts'
import {
  bufferedBody,
  canBuffer,
  checkFile,
  closeInBackground,
  discardBody,
  type FileBody,
  giveBack,
  openForResponse,
  readRange,
  streamRange,
  takeBuffer,
} from '../download/file-body.ts'
import type { FileVersion } from '../download/range.ts'
import { LOCAL_HEADER, LOCAL_HEADER_BYTES } from '../media/archive/zip/entry.ts'
import { sniffImage } from '../media/image/image.ts'
import { folderOf, mountHealth } from '../store/mount/mount-health.ts'
import {
  CRC_IN_HEADER,
  confirmSlot,
  DEFLATED,
  markStale,
  NO_CRC,
  type PageDirectory,
  type PageSlot,
  STORED,
  slotAt,
} from './directory.ts'
import type { FileChanged } from './messages.ts'

/** `mismatch`: the file does not contain the page as expected; a thread will determine why. */
export type DirectRead =
  | { page: FileBody & { mediaType: string } }
  | FileChanged
  | { mismatch: true }

/** The file as cataloged. */
export type ContainedFile = FileVersion & { path: Buffer; containment: Containment }

type Page = {
  directory: PageDirectory
  index: number
  /** Also returns bytes that are not an image, with the slot's media type. */
  allowsAnyType?: boolean
}

/** The original bytes of a page whose slot has an offset. Throws NotFound, Unreadable `io`, NotResponding. */
export const readDirect = (file: ContainedFile, page: Page): Promise<DirectRead> =>
  mountHealth.run(file.containment.root, () => readContained(file, page), {
    discard: result => void ('page' in result && discardBody(result.page)),
    folder: folderOf(file.path),
  })

async function readContained(
  file: ContainedFile,
  { directory, index, allowsAnyType = false }: Page,
): Promise<DirectRead> {
  const { path, containment } = file
  const slot = slotAt(directory, index)
  const { offset, headerBytes, packedBytes } = slot
  const fd = await openForResponse(path, containment)
  let isStreaming = false
  try {
    const isTooLarge = !canBuffer(
      slot.method === STORED ? packedBytes : slot.sizeBytes + packedBytes,
    )
    const firstRead = isTooLarge ? Math.max(headerBytes, 16) : headerBytes + packedBytes
    const read = await readIfUnchanged(fd, file, { position: offset, length: firstRead })
    if ('changed' in read) return read
    const { stat, bytes: chunk } = read
    if (directory.changedMs !== stat.ctimeMs) {
      markStale(directory)
      return { mismatch: true }
    }
    const header = headerBytes === 0 ? noHeader : localHeader(chunk)
    if (header === null || offset + header.length + packedBytes > stat.size)
      return { mismatch: true }
    const dataOffset = offset + header.length
    if (isTooLarge) {
      isStreaming = true
      return {
        page: streamPage(fd, slot, { dataOffset, root: containment.root, folder: folderOf(path) }),
      }
    }
    const crc = slot.crc === CRC_IN_HEADER ? header.crc : slot.crc
    const end = header.length + packedBytes
    const packed =
      chunk.length >= end
        ? chunk.subarray(header.length, end)
        : await readRange(fd, dataOffset, packedBytes)
    const onVerified = () => confirmSlot(directory, index, dataOffset)
    return await bufferPage(packed, { ...slot, crc }, { onVerified, allowsAnyType })
  } finally {
    if (!isStreaming) closeInBackground(fd)
  }
}

/** Reads a range while the file is checked. Throws like `checkFile`. */
async function readIfUnchanged(
  fd: number,
  { path, containment, ...version }: ContainedFile,
  { position, length }: Range,
): Promise<{ stat: Stats; bytes: Buffer } | FileChanged> {
  // Not Promise.all: the file must not be closed during a read.
  const [checked, read] = await Promise.allSettled([
    checkFile(fd, path, containment),
    readRange(fd, position, length),
  ])
  if (checked.status === 'rejected') throw checked.reason
  if (read.status === 'rejected') throw read.reason
  const stat = checked.value
  const modifiedMs = Math.round(stat.mtimeMs)
  if (stat.size !== version.size || modifiedMs !== version.modifiedMs)
    return { changed: { size: stat.size, modifiedMs } }
  return { stat, bytes: read.value }
}

const noHeader = { length: 0, crc: NO_CRC }

/** The local header of the ZIP entry that `chunk` starts with (APPNOTE 4.3.7); null if there is none. */
function localHeader(chunk: Buffer): { length: number; crc: number } | null {
  if (chunk.length < LOCAL_HEADER_BYTES || chunk.readUInt32LE(0) !== LOCAL_HEADER) return null
  const length = LOCAL_HEADER_BYTES + chunk.readUInt16LE(26) + chunk.readUInt16LE(28)
  return { length, crc: chunk.readUInt32LE(14) }
}

async function bufferPage(
  packed: Buffer,
  slot: PageSlot,
  { onVerified, allowsAnyType }: { onVerified: () => void; allowsAnyType: boolean },
): Promise<DirectRead> {
  if (packed.length < slot.packedBytes) return { mismatch: true }
  const isDeflated = slot.method === DEFLATED
  const bytes = isDeflated ? await inflate(packed, slot.sizeBytes) : packed
  if (isDeflated) giveBack(packed)
  if (bytes === null) return { mismatch: true }
  const mediaType = allowsAnyType ? slot.mediaType : sniffImage(bytes)
  if (mediaType === null) return { mismatch: true }
  // Checked once: the content stays the same as long as size and modification time do.
  if (slot.crc !== NO_CRC && crc32(bytes) !== slot.crc) return { mismatch: true }
  onVerified()
  return { page: { ...bufferedBody(bytes), mediaType } }
}

/** Null unless the bytes inflate to exactly that size. */
function inflate(packed: Buffer, sizeBytes: number): Promise<Buffer | null> {
  const stream = createInflateRaw({ chunkSize: 64 })
  // Undocumented: the buffer that zlib writes to. Otherwise it would allocate one per page (see
  // file-body.ts).
  Object.assign(stream, { _outBuffer: takeBuffer(sizeBytes + 1), _chunkSize: sizeBytes + 1 })
  const { promise, resolve } = Promise.withResolvers<Buffer | null>()
  let bytes: Buffer | null = null
  stream.on('data', chunk => {
    if (bytes !== null || chunk.length > sizeBytes) stream.destroy()
    else bytes = chunk
  })
  stream.on('error', () => {})
  stream.on('close', () =>
    resolve(bytes?.length === sizeBytes && stream.readableEnded ? bytes : null),
  )
  stream.end(packed)
  return promise
}

function streamPage(
  fd: number,
  slot: PageSlot,
  { dataOffset, root, folder }: { dataOffset: number; root: string; folder: string },
) {
  const { packedBytes, sizeBytes, method, mediaType } = slot
  const source = streamRange(fd, { start: dataOffset, length: packedBytes, root, folder })
  const release = () => {}
  if (method === STORED) return { body: source, length: packedBytes, mediaType, release }
  const body = requireLength(sizeBytes)
  pipeline(source, createInflateRaw({ chunkSize: 256 * 1024 }), body, () => {})
  return { body, length: sizeBytes, mediaType, release }
}

/** Fails unless exactly that many bytes pass: the response header has announced them. */
function requireLength(sizeBytes: number): Transform {
  let remaining = sizeBytes
  const wrongSize = () =>
    new Unreadable('The size of the archive entry differs from its header', 'bad_crc')
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      remaining -= chunk.length
      done(remaining < 0 ? wrongSize() : null, chunk)
    },
    flush: done => done(remaining > 0 ? wrongSize() : null),
  })
}
