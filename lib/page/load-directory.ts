// Loading of page directories: from memory, from the end of a ZIP, else by a thread.
import { deliveryCounters } from '../download/counters.ts'
import { versionKey } from '../download/etag.ts'
import { closeInBackground, openForResponse } from '../download/file-body.ts'
import type { Range } from '../file-ranges.ts'
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

/** Loads the code for ZIPs, once: decoders of all encodings of names come with it. */
export const loadZip = () => import('../archive/zip/zip.ts')

// A directory of some hundred pages: parsing it occupies this thread for one to five milliseconds.
const maxTailBytes = 32 * 1024
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
  const pages = unpackPages(packedPages)
  const length = Math.min(book.size, maxTailBytes)
  if (directoryBytesOf(pages) > length) return null
  const tail = await readTail(fileOf(engine, book), { position: book.size - length, length })
  if ('changed' in tail) return tail
  const { entriesOfTail, zipArchive } = await loadZip()
  const entries = entriesOfTail(tail, book.size, engine.limits)
  if (entries === null) return null
  return createDirectory(pages, entriesOf(pages, entries), zipArchive)
}

// Of each entry beside its name: the header, with the times that Info-ZIP adds.
const entryBytes = 46 + 24

/** About the length of a directory of those pages. */
const directoryBytesOf = (pages: readonly { name: string }[]): number =>
  pages.reduce((sum, { name }) => sum + entryBytes + Buffer.byteLength(name), 0)

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
