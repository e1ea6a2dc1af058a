// Loading of page directories: from memory, from the end of a ZIP, else by a thread.
import { openZip, zipArchive } from '../archive/zip/zip.ts'
import { deliveryCounters } from '../download/counters.ts'
import { versionKey } from '../download/etag.ts'
import { closeInBackground, openForResponse } from '../download/file-body.ts'
import type { File } from '../file.ts'
import { type Range, tailOf } from '../file-ranges.ts'
import { mountHealth } from '../mount-health.ts'
import { type ContainedFile, readIfUnchanged } from './direct.ts'
import { createDirectory, entriesOf, type PageDirectory } from './directory.ts'
import { type BookSnapshot, bookRefOf, type Engine, fileOf, flightKey } from './engine.ts'
import { failureKey } from './etag.ts'
import type { FileChanged } from './messages.ts'
import { unpackPages } from './page-list.ts'
import type { Client } from './pool.ts'

/** The page directory of a book. Throws NotFound, Unreadable, Unavailable. */
export async function loadDirectory(
  engine: Engine,
  book: BookSnapshot,
  client: Client = {},
): Promise<PageDirectory | FileChanged> {
  const key = versionKey(book)
  const cached = engine.directories.get(key)
  if (cached && !cached.isStale) return cached
  const load = async (signal: AbortSignal) => {
    deliveryCounters.directories += 1
    const request = bookRefOf(engine, book)
    const runThread = () =>
      engine.pool.run('directory', request, {
        weight: 1,
        client: { ...client, signal },
        failureKey: failureKey(book, 'directory'),
      })
    const result =
      (await readZipDirectory(engine, book, request.packedPages)) ?? (await runThread())
    if ('rows' in result) engine.directories.set(key, result)
    return result
  }
  return engine.directoryLoads(flightKey(key, client), load, client.signal)
}

// About a thousand pages: parsing them occupies this thread for a millisecond or two.
const maxPackedBytes = 16 * 1024

/**
 * The directory of a ZIP from the end of its file, in less time than a thread takes to start. Null for a book that
 * a thread must read, also for one that is damaged. Throws NotFound, Unreadable `io`, NotResponding.
 */
async function readZipDirectory(
  engine: Engine,
  book: BookSnapshot,
  packedPages: Uint8Array | null,
): Promise<PageDirectory | FileChanged | null> {
  if (book.format !== 'cbz' || packedPages === null || packedPages.length > maxPackedBytes)
    return null
  const range = tailOf(book.size)
  const tail = await readTail(fileOf(engine, book), range)
  if ('changed' in tail) return tail
  try {
    await using container = await openZip(tailFile(book, range, tail), engine.limits)
    const pages = unpackPages(packedPages)
    return createDirectory(pages, entriesOf(pages, container.entries), zipArchive)
  } catch {
    return null
  }
}

function readTail(file: ContainedFile, range: Range): Promise<Buffer | FileChanged> {
  const { path, containment } = file
  return mountHealth.run(containment.root, async () => {
    const fd = await openForResponse(path, containment)
    try {
      const read = await readIfUnchanged(fd, file, range)
      return 'changed' in read ? read : read.bytes
    } finally {
      closeInBackground(fd)
    }
  })
}

/** A file of which only the end was read; reading more throws. */
function tailFile({ path, size, modifiedMs }: BookSnapshot, end: Range, tail: Buffer): File {
  const read = (position: number, length: number) => {
    if (position < end.position) throw new RangeError('Only the end of the file was read')
    const start = position - end.position
    return tail.subarray(start, start + length)
  }
  return {
    path,
    size,
    modifiedMs,
    bytesRead: tail.length,
    read,
    readInto(target, position) {
      const bytes = read(position, target.length)
      target.set(bytes)
      return bytes.length
    },
    [Symbol.dispose]: () => {},
  }
}
