// A page that lies in its file as it is, or deflated: read here, without a thread.
import { pipeline, Transform } from 'node:stream'
import { promisify } from 'node:util'
import { crc32, createInflateRaw, inflateRaw } from 'node:zlib'
import {
  type Body,
  closeSoon,
  held,
  isAffordable,
  openForAnswer,
  readSpan,
  statOpen,
  streamSpan,
} from '../download/file-body.ts'
import { Unreadable } from '../errors.ts'
import { sniffImage } from '../image/image.ts'
import { DEFLATED, type Directory, type Slot, STORED, settleSlot, slotAt } from './directory.ts'
import type { Version } from './etag.ts'

const inflateAsync = promisify(inflateRaw)
const LOCAL = 0x04034b50
const LOCAL_BYTES = 30

/** `changed`: the file is another one by now. `odd`: it does not hold the page as expected; a thread finds out why. */
export type Direct =
  | { page: Body & { mediaType: string } }
  | { changed: Pick<Version, 'size' | 'modifiedMs'> }
  | { odd: true }

/** The original bytes of page `index`, which has a slot; of anything but an image only `asItIs`. Throws NotFound, Unreadable `io`. */
export async function readDirect(
  path: Buffer,
  version: Version,
  { directory, index, asItIs = false }: { directory: Directory; index: number; asItIs?: boolean },
): Promise<Direct> {
  const slot = slotAt(directory, index)
  const fd = await openForAnswer(path)
  let isOurs = true
  try {
    const isStreamed = !isAffordable(
      slot.method === STORED ? slot.packed : slot.bytes + slot.packed,
    )
    const wanted = isStreamed ? Math.max(slot.lead, 16) : slot.lead + slot.packed
    const [stat, chunk] = await Promise.all([statOpen(fd), readSpan(fd, slot.at, wanted)])
    const modifiedMs = Math.round(stat.mtimeMs)
    if (stat.size !== version.size || modifiedMs !== version.modifiedMs)
      return { changed: { size: stat.size, modifiedMs } }
    const dataAt = slot.lead === 0 ? slot.at : dataStart(chunk, slot.at)
    if (dataAt === null || dataAt + slot.packed > stat.size) return { odd: true }
    if (isStreamed) {
      isOurs = false
      return { page: streamed(fd, slot, dataAt) }
    }
    const skip = dataAt - slot.at
    const packed =
      chunk.length >= skip + slot.packed
        ? chunk.subarray(skip, skip + slot.packed)
        : await readSpan(fd, dataAt, slot.packed)
    const isRight = () => settleSlot(directory, index, dataAt)
    return await whole(packed, slot, { isRight, asItIs })
  } finally {
    if (isOurs) closeSoon(fd)
  }
}

/** Where the data begins, told by the local header that `chunk` holds; null when it is none. */
function dataStart(chunk: Buffer, at: number): number | null {
  if (chunk.length < LOCAL_BYTES || chunk.readUInt32LE(0) !== LOCAL) return null
  return at + LOCAL_BYTES + chunk.readUInt16LE(26) + chunk.readUInt16LE(28)
}

type Checks = { isRight: () => void; asItIs: boolean }

async function whole(packed: Buffer, slot: Slot, { isRight, asItIs }: Checks): Promise<Direct> {
  if (packed.length < slot.packed) return { odd: true }
  const bytes = slot.method === DEFLATED ? await inflated(packed, slot.bytes) : packed
  if (bytes === null) return { odd: true }
  const mediaType = asItIs ? slot.mediaType : sniffImage(bytes)
  if (mediaType === null) return { odd: true }
  // Once is enough: the file is the same as long as its size and time are.
  if (slot.crc !== -1 && crc32(bytes) !== slot.crc) return { odd: true }
  isRight()
  return { page: { ...held(bytes), mediaType } }
}

async function inflated(packed: Buffer, bytes: number): Promise<Buffer | null> {
  const limits = { maxOutputLength: Math.max(bytes, 1), chunkSize: Math.max(64, bytes + 1) }
  const made = await inflateAsync(packed, limits).catch(() => null)
  return made?.length === bytes ? made : null
}

function streamed(fd: number, slot: Slot, dataAt: number) {
  const { packed, bytes, method, mediaType } = slot
  const source = streamSpan(fd, dataAt, packed)
  const done = () => {}
  if (method === STORED) return { body: source, length: packed, mediaType, done }
  const body = exactly(bytes)
  pipeline(source, createInflateRaw({ chunkSize: 256 * 1024 }), body, () => {})
  return { body, length: bytes, mediaType, done }
}

/** What passes must be of that many bytes: that was promised when the answer began. */
function exactly(bytes: number): Transform {
  let left = bytes
  const wrong = () => new Unreadable('The archive does not hold what it says', 'bad_crc')
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      done(left < 0 ? wrong() : null, chunk)
    },
    flush: done => done(left > 0 ? wrong() : null),
  })
}
