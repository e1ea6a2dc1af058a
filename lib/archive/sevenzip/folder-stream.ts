// Unpacks a folder of a 7z archive from front to back. Ours: copy, Zstandard, deflate and the filters;
// the rest goes to libarchive as an archive of that folder alone.
import { inflateRawSync, zstdDecompressSync } from 'node:zlib'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import { openPass, type Pass } from '../libarchive.ts'
import { inflate64 } from '../zip/inflate64.ts'
import { filters, isFilter } from './filter.ts'
import { type Coder, type Folder, mainOutput } from './header.ts'
import { capsule, simpleFolder } from './wrapper.ts'

type Stream = Disposable & { read(bytes: number): Uint8Array }

const ids = {
  copy: '00',
  aes: '06f10701',
  deflate: '040108',
  deflate64: '040109',
  zstd: '04f71101',
}
const copy: Coder = { id: ids.copy, properties: Buffer.alloc(0), inputs: 1, outputs: 1 }
const lzma = new Set(['030101', '21'])
// LZMA, LZMA2, PPMd, BZip2 and BCJ2.
const ofLibarchive = new Set([...lzma, '030401', '040202', '0303011b'])
// Delta, x86, PowerPC, Itanium, ARM, ARM Thumb, SPARC.
const classicFilters = new Set([
  '03',
  '03030103',
  '03030205',
  '03030401',
  '03030501',
  '03030701',
  '03030805',
])
const SKIP = 1024 * 1024

export const isEncrypted = (folder: Folder) => folder.coders.some(({ id }) => id === ids.aes)

/** Where the unpacked bytes lie in the file, when the folder only copies; else null. */
export function copiedFrom(folder: Folder): number | null {
  return folder.coders.every(({ id, inputs }) => id === ids.copy && inputs === 1)
    ? folder.packs[0]!.position
    : null
}

/** The members of a folder as a forward pass. Throws Unreadable. */
export async function openFolder(file: File, folder: Folder, maxBytes: number): Promise<Pass> {
  if (isEncrypted(folder)) throw new Unreadable('The archive is encrypted', 'encrypted')
  const size = folder.sizes[mainOutput(folder)]!
  const packed = folder.packs.reduce((sum, pack) => sum + pack.length, 0)
  if (size > maxBytes || packed > maxBytes)
    throw new Unreadable('The archive is too large to unpack', 'too_large')
  const stream = await openStream(file, folder, { size, maxBytes })
  const { members } = folder
  let current = -1
  let left = 0
  return {
    next() {
      while (left > 0) left -= stream.read(Math.min(left, SKIP)).length
      current += 1
      left = members[current]?.bytes ?? 0
      return current < members.length
    },
    read(bytes) {
      left -= bytes
      return stream.read(bytes)
    },
    [Symbol.dispose]: stream[Symbol.dispose],
  }
}

type Bounds = { size: number; maxBytes: number }

async function openStream(file: File, folder: Folder, bounds: Bounds): Promise<Stream> {
  const chain = straight(folder)
  const whole = { raw: folder.raw, sizes: folder.sizes, bounds }
  if (chain === null) {
    if (!folder.coders.every(({ id }) => id === ids.copy || ofLibarchive.has(id)))
      throw unsupported()
    return viaWasm(file, folder, whole)
  }
  // liblzma undoes the classic filters while it unpacks, in little memory.
  const isClassic = chain.length === 2 && classicFilters.has(chain[0]!.id)
  if (isClassic && lzma.has(chain[1]!.id)) return viaWasm(file, folder, whole)
  const inner = isFilter(chain.at(-1)!) ? copy : chain.pop()!
  if (!chain.every(isFilter)) throw unsupported()
  const alone = { raw: simpleFolder(inner), sizes: [bounds.size], bounds }
  if (chain.length === 0 && ofLibarchive.has(inner.id)) return viaWasm(file, folder, alone)
  const bytes = await unpackAll(file, folder, inner, alone)
  for (const coder of chain.reverse()) filters[coder.id]!(bytes, coder.properties)
  return inMemory(bytes)
}

// The coders from the output to the input when each feeds the next; null when they branch.
function straight(folder: Folder): Coder[] | null {
  const { coders, binds } = folder
  if (coders.some(coder => coder.inputs !== 1 || coder.outputs !== 1)) return null
  const chain: Coder[] = []
  for (let at: number | undefined = mainOutput(folder); at !== undefined; ) {
    const coder: Coder | undefined = coders[at]
    if (coder === undefined || chain.length === coders.length) throw unsupported()
    chain.push(coder)
    const input: number = at
    at = binds.find(bind => bind.input === input)?.output
  }
  return chain
}

const unsupported = () =>
  new Unreadable('The compression method is not supported', 'unsupported_method')

async function unpackAll(file: File, folder: Folder, coder: Coder, part: Part): Promise<Buffer> {
  const { size } = part.bounds
  if (ofLibarchive.has(coder.id)) {
    using stream = await viaWasm(file, folder, part)
    return Buffer.from(stream.read(size).buffer)
  }
  const { position, length } = folder.packs[0]!
  const packed = file.read(position, length)
  const bytes = native(() => {
    if (coder.id === ids.copy) return Buffer.from(packed)
    if (coder.id === ids.deflate) return inflateRawSync(packed, { maxOutputLength: size })
    if (coder.id === ids.deflate64) return Buffer.from(inflate64(packed, size))
    if (coder.id === ids.zstd) return zstdDecompressSync(packed, { maxOutputLength: size })
    throw unsupported()
  })
  if (bytes.length < size)
    throw new Unreadable('The archive ends before the file does', 'truncated')
  return bytes
}

function native<T>(call: () => T): T {
  try {
    return call()
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause
    throw new Unreadable('The archive is damaged', 'bad_crc', { cause })
  }
}

function inMemory(bytes: Uint8Array): Stream {
  let at = 0
  return {
    read(length) {
      at += length
      return bytes.slice(at - length, at)
    },
    [Symbol.dispose]: () => {},
  }
}

/** A folder as libarchive is to see it: as it stands, or only one of its coders. */
type Part = { raw: Buffer; sizes: readonly number[]; bounds: Bounds }

async function viaWasm(file: File, folder: Folder, part: Part): Promise<Stream> {
  const { start, header } = capsule(part.raw, folder.packs, part.sizes)
  const { size, maxBytes } = part.bounds
  const pass = await openPass(file, [start, ...folder.packs, header], maxBytes + header.length + 32)
  if (size > 0 && !pass.next()) {
    pass[Symbol.dispose]()
    throw new Unreadable('The archive is damaged', 'bad_crc')
  }
  return { read: bytes => pass.read(bytes), [Symbol.dispose]: pass[Symbol.dispose] }
}
