// Forward reader of a 7z folder. Copy, Zstandard, deflate and filters are decoded here; other coders by
// libarchive, from an archive of only this folder.
import { crc32, inflateRawSync } from 'node:zlib'
import { scoped } from '../../../base/async/dispose.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { type ForwardReader, openLibarchive } from '../libarchive.ts'
import { inflate64 } from '../zip/inflate64.ts'
import { unpackZstd } from '../zstd.ts'
import { filters, isFilter } from './filter.ts'
import { type Coder, type Folder, mainOutput } from './header-reader.ts'

type ByteStream = Disposable & { read(bytes: number): Uint8Array }

const coderIds = {
  copy: '00',
  aes: '06f10701',
  deflate: '040108',
  deflate64: '040109',
  zstd: '04f71101',
}
const copyCoder: Coder = { id: coderIds.copy, properties: Buffer.alloc(0), inputs: 1, outputs: 1 }
const lzmaCoders = new Set(['030101', '21'])
// LZMA, LZMA2, PPMd, BZip2 and BCJ2.
const libarchiveCoders = new Set([...lzmaCoders, '030401', '040202', '0303011b'])
// Delta, x86, PowerPC, Itanium, ARM, ARM Thumb, SPARC.
const classicFilters = new Set(
  '03 03030103 03030205 03030401 03030501 03030701 03030805'.split(' '),
)
const SKIP_CHUNK_BYTES = 1024 * 1024

export const isEncrypted = (folder: Folder) => folder.coders.some(({ id }) => id === coderIds.aes)

/** Offset of the data in the file if the folder is stored uncompressed; otherwise null. */
export function storedPosition(folder: Folder): number | null {
  return folder.coders.every(({ id, inputs }) => id === coderIds.copy && inputs === 1)
    ? folder.packStreams[0]!.position
    : null
}

/** A forward reader of the substreams of a folder. Throws Unreadable. */
export async function openFolderReader(
  file: File,
  folder: Folder,
  maxBytes: number,
): Promise<ForwardReader> {
  if (isEncrypted(folder)) throw new Unreadable('The archive is encrypted', 'encrypted')
  const size = folder.unpackSizes[mainOutput(folder)]!
  const packed = folder.packStreams.reduce((sum, pack) => sum + pack.length, 0)
  if (size > maxBytes || packed > maxBytes)
    throw new Unreadable('The archive is too large to unpack', 'too_large')
  const stream = await openStream(file, folder, { size, maxBytes })
  const { substreams } = folder
  let current = -1
  let left = 0
  return {
    next() {
      while (left > 0) left -= stream.read(Math.min(left, SKIP_CHUNK_BYTES)).length
      current += 1
      left = substreams[current]?.sizeBytes ?? 0
      return current < substreams.length
    },
    read(bytes) {
      left -= bytes
      return stream.read(bytes)
    },
    [Symbol.dispose]: stream[Symbol.dispose],
  }
}

type Bounds = { size: number; maxBytes: number }

async function openStream(file: File, folder: Folder, bounds: Bounds): Promise<ByteStream> {
  const chain = linearChain(folder)
  const whole = { raw: folder.raw, sizes: folder.unpackSizes, bounds }
  if (chain === null) {
    if (!folder.coders.every(({ id }) => id === coderIds.copy || libarchiveCoders.has(id)))
      throw unsupported()
    return openWithLibarchive(file, folder, whole)
  }
  // liblzma applies the classic filters while decompressing, in little memory.
  const isClassic = chain.length === 2 && classicFilters.has(chain[0]!.id)
  if (isClassic && lzmaCoders.has(chain[1]!.id)) return openWithLibarchive(file, folder, whole)
  const inner = isFilter(chain.at(-1)!) ? copyCoder : chain.pop()!
  if (!chain.every(isFilter)) throw unsupported()
  const innerPart = { raw: singleCoderFolder(inner), sizes: [bounds.size], bounds }
  if (chain.length === 0 && libarchiveCoders.has(inner.id))
    return openWithLibarchive(file, folder, innerPart)
  const bytes = await decodeAll(file, folder, inner, innerPart)
  for (const coder of chain.reverse()) filters[coder.id]!(bytes, coder.properties)
  return createMemoryStream(bytes)
}

// The coders from output to input when they form a chain; null when they branch.
function linearChain(folder: Folder): Coder[] | null {
  const { coders, bindPairs } = folder
  if (coders.some(coder => coder.inputs !== 1 || coder.outputs !== 1)) return null
  const chain: Coder[] = []
  for (let current: number | undefined = mainOutput(folder); current !== undefined; ) {
    const coder: Coder | undefined = coders[current]
    if (coder === undefined || chain.length === coders.length) throw unsupported()
    chain.push(coder)
    const input: number = current
    current = bindPairs.find(bind => bind.input === input)?.output
  }
  return chain
}

const unsupported = () =>
  new Unreadable('The compression method is not supported', 'unsupported_method')

async function decodeAll(
  file: File,
  folder: Folder,
  coder: Coder,
  part: FolderPart,
): Promise<Buffer> {
  const { size } = part.bounds
  if (libarchiveCoders.has(coder.id))
    return scoped(async use => {
      const stream = use(await openWithLibarchive(file, folder, part))
      return Buffer.from(stream.read(size).buffer)
    })
  const { position, length } = folder.packStreams[0]!
  const packed = file.read(position, length)
  const bytes = runDecoder(() => {
    if (coder.id === coderIds.copy) return Buffer.from(packed)
    if (coder.id === coderIds.deflate) return inflateRawSync(packed, { maxOutputLength: size })
    if (coder.id === coderIds.deflate64) return Buffer.from(inflate64(packed, size))
    if (coder.id === coderIds.zstd) return unpackZstd(packed, size)
    throw unsupported()
  })
  if (bytes.length < size)
    throw new Unreadable('The archive is truncated inside the file', 'truncated')
  return bytes
}

function runDecoder<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause
    throw new Unreadable('The archive is damaged', 'bad_crc', { cause })
  }
}

function createMemoryStream(bytes: Uint8Array): ByteStream {
  let position = 0
  return {
    read(length) {
      position += length
      return bytes.slice(position - length, position)
    },
    [Symbol.dispose]: () => {},
  }
}

/** What libarchive decodes: the whole folder, or just one of its coders. */
type FolderPart = { raw: Buffer; sizes: readonly number[]; bounds: Bounds }

async function openWithLibarchive(
  file: File,
  folder: Folder,
  part: FolderPart,
): Promise<ByteStream> {
  const { start, header } = wrapFolder(part.raw, folder.packStreams, part.sizes)
  const { size, maxBytes } = part.bounds
  const reader = await openLibarchive(
    file,
    [start, ...folder.packStreams, header],
    maxBytes + header.length + 32,
  )
  if (size > 0 && !reader.next()) {
    reader[Symbol.dispose]()
    throw new Unreadable('The archive is damaged', 'bad_crc')
  }
  return { read: bytes => reader.read(bytes), [Symbol.dispose]: reader[Symbol.dispose] }
}

// An archive of one folder, so that libarchive can decompress its pack streams:
//   archive = signature version:2 crc:4 { offset:8 length:8 crc:4 } packed* header
export const SIGNATURE = Buffer.from('377abcaf271c', 'hex')
type PackStreams = readonly { length: number }[]

/** The bytes before and after the pack streams; the content of the folder becomes one file. */
function wrapFolder(
  folder: Buffer,
  packs: PackStreams,
  sizes: readonly number[],
): { start: Buffer; header: Buffer } {
  const offset = packs.reduce((sum, pack) => sum + pack.length, 0)
  const header = Buffer.concat([
    // Header, MainStreamsInfo, PackInfo.
    Buffer.from([1, 4, 6, 0, packs.length, 9]),
    ...packs.map(pack => encodeNumber(pack.length)),
    // One folder.
    Buffer.from([0, 7, 11, 1, 0]),
    folder,
    Buffer.from([12]),
    ...sizes.map(encodeNumber),
    // One file named "x"; libarchive requires SubStreamsInfo even when it is empty.
    Buffer.from([0, 8, 0, 0, 5, 1, 17, 5, 0, 0x78, 0, 0, 0, 0, 0]),
  ])
  const startHeader = Buffer.alloc(20)
  startHeader.writeBigUInt64LE(BigInt(offset), 0)
  startHeader.writeBigUInt64LE(BigInt(header.length), 8)
  startHeader.writeUInt32LE(crc32(header), 16)
  const start = Buffer.alloc(12)
  SIGNATURE.copy(start)
  start[7] = 4
  start.writeUInt32LE(crc32(startHeader), 8)
  return { start: Buffer.concat([start, startHeader]), header }
}

/** A serialized folder with one coder. */
function singleCoderFolder(coder: Coder): Buffer {
  const id = Buffer.from(coder.id, 'hex')
  const { properties } = coder
  const flags = id.length | (properties.length > 0 ? 32 : 0)
  const tail = properties.length > 0 ? [encodeNumber(properties.length), properties] : []
  return Buffer.concat([Buffer.from([1, flags]), id, ...tail])
}

// The longest encoding of a number is always valid.
function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xff)
  bytes.writeBigUInt64LE(BigInt(value), 1)
  return bytes
}
