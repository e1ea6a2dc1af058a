// The file of a backup: a ZIP archive, so that `unzip` and `zstd` can read it without Stackroom. Its directory is
// written last, and it gets its name when it is whole and on disk.

import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { Conflict, Invalid } from '../base/errors.ts'
import { openFile } from '../base/file.ts'
import type { Container, Entry } from '../media/archive/container.ts'
import { defaultLimits } from '../media/archive/limits.ts'
import { openZip } from '../media/archive/zip/zip.ts'

/** Entries are stored as they are, one after the other; each call resolves when its entry is written. */
export type ArchiveWriter = {
  add(name: string, bytes: Uint8Array): Promise<void>
  /** The number of bytes; null if the file does not exist. */
  addFile(name: string, path: string): Promise<number | null>
}

export const partialOf = (file: string) => `${file}.partial`

/**
 * Writes `<file>.partial`, has `check` read it, and renames it. Throws Conflict if `file` exists; system errors.
 */
export async function writeArchive(
  file: string,
  fill: (writer: ArchiveWriter) => Promise<void>,
  check: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = partialOf(file)
  assertNew(file)
  const output = createWriteStream(partial, { mode: 0o600, flush: true })
  try {
    const zip = new ZipFile()
    const written = pipeline(zip.outputStream, output)
    await Promise.race([written, fill(writerOf(zip)).then(() => zip.end())])
    await written
    await check(partial)
    assertNew(file)
    await rename(partial, file)
    await syncFolder(dirname(file))
  } catch (error) {
    output.destroy()
    await rm(partial, { force: true })
    throw error
  }
}

function assertNew(file: string) {
  if (existsSync(file)) throw new Conflict('The file of the backup exists already')
}

function writerOf(zip: ZipFile): ArchiveWriter {
  // Files of equal content are equal: no times.
  const options = { compress: false, mtime: new Date(0), mode: 0o100600 }
  // The archive retains each function that it is given to its end: none may refer to a stream.
  const waiting: Readable[] = []
  const pass: Parameters<ZipFile['addReadStreamLazy']>[2] = use => use(null, waiting.shift()!)
  const addStream = async (name: string, size: number, stream: Readable) => {
    const ended = once(stream, 'end')
    waiting.push(stream)
    zip.addReadStreamLazy(name, { ...options, size }, pass)
    await ended
  }
  return {
    add: (name, bytes) => addStream(name, bytes.length, Readable.from([bytes])),
    async addFile(name, path) {
      const handle = await openIfPresent(path)
      if (handle === null) return null
      const { size } = await handle.stat()
      await addStream(name, size, handle.createReadStream())
      return size
    },
  }
}

/** The name survives a power failure; not every system can do this for a folder. */
async function syncFolder(folder: string) {
  const handle = await open(folder).catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

function openIfPresent(path: string) {
  return open(path).catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

export type ArchiveReader = AsyncDisposable & {
  names(): string[]
  /** Null without such an entry. Throws Invalid if it is damaged, or larger than `maxBytes`. */
  read(name: string, maxBytes: number): Promise<Uint8Array | null>
}

// Covers may be many.
const limits = { ...defaultLimits, entries: 4_000_000 }

/** Throws Invalid for a file that is not a whole archive. */
export async function openArchive(path: string): Promise<ArchiveReader> {
  const unusable = (cause: unknown) =>
    new Invalid(`${path} is not a whole backup: ${(cause as Error).message}`, { cause })
  const file = openFile(Buffer.from(path))
  let container: Container
  try {
    container = await openZip(file, limits)
    if (container.damage !== null) throw container.damage
  } catch (error) {
    file[Symbol.dispose]()
    throw unusable(error)
  }
  const entries = new Map<string, Entry>(container.entries.map(entry => [entry.name, entry]))
  return {
    names: () => [...entries.keys()],
    async read(name, maxBytes) {
      const entry = entries.get(name)
      if (entry === undefined) return null
      return await container.read(entry, maxBytes).catch(error => {
        throw unusable(error)
      })
    },
    async [Symbol.asyncDispose]() {
      await container[Symbol.asyncDispose]()
      file[Symbol.dispose]()
    },
  }
}
