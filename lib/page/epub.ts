// EPUB reader: the contents of an EPUB and its individual resources, for reading apps.
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../base/async/single-flight.ts'
import { NotFound, Unreadable } from '../base/errors.ts'
import { foldName } from '../base/path.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { bufferedBody, type FileBody, statFile } from '../download/file-body.ts'
import { versionKey } from '../download/range.ts'
import type { EpubContents } from '../media/format/epub/contents.ts'
import { folderOf, mountHealth, mountKey } from '../store/mount/mount-health.ts'
import { readDirect } from './direct.ts'
import { slotAt } from './directory.ts'
import {
  type BookSnapshot,
  bookRefOf,
  type Engine,
  fileOf,
  flightKey,
  retryOnChange,
} from './engine.ts'
import { failureKey, resourceEtag } from './etag.ts'
import type { EpubIndex, FileChanged } from './messages.ts'
import type { Client } from './pool.ts'

/** `etag` is the weak ETag of these bytes. */
export type EpubResourceBody = FileBody & { mediaType: string; etag: string }

/** Resource indexes by name and by case-folded name. */
type OpenedEpub = EpubIndex & { indexes: Map<string, number> }

// About 300 books.
const maxCacheBytes = 16 * 1024 * 1024
const resourceBytes = 300
const linkBytes = 200

export function createEpubReader(engine: Engine) {
  const cache = new LRUCache<string, OpenedEpub>({
    maxSize: maxCacheBytes,
    sizeCalculation: estimateBytes,
  })
  const flight = createSingleFlight<OpenedEpub | FileChanged>()

  async function open(book: BookSnapshot, client: Client): Promise<OpenedEpub | FileChanged> {
    const key = versionKey(book)
    const load = async (signal: AbortSignal) => {
      const request = bookRefOf(engine, book)
      const result = await engine.pool.run('epub', request, {
        weight: 1,
        client: { ...client, signal },
        failureKey: failureKey(book, 'epub'),
      })
      if ('changed' in result) return result
      const names = result.contents.resources.map(({ name }, i) => [name, i] as const)
      const folded = names.map(([name, i]) => [foldName(name), i] as const)
      const epub = { ...result, indexes: new Map([...folded, ...names]) }
      cache.set(key, epub)
      return epub
    }
    const cached = cache.get(key)
    if (cached && !cached.directory.isStale) return cached
    return await flight(flightKey(key, client), load, client.signal)
  }

  return {
    /** The contents of an EPUB as listed in its manifest. Throws NotFound, Unreadable, Unavailable. */
    async contents(book: BookFile, client: Client = {}): Promise<EpubContents> {
      return await retryOnChange(snapshotOf(book), async current => {
        const changed = cache.has(versionKey(current)) && (await findChange(current))
        const epub = changed || (await open(current, client))
        return 'changed' in epub ? epub : epub.contents
      })
    },
    /**
     * The decoded resource with that name. Only finds resources in the manifest; case and Unicode
     * normalization may differ. Throws NotFound, Unreadable, Unavailable.
     */
    async resource(book: BookFile, name: string, client: Client = {}): Promise<EpubResourceBody> {
      return await retryOnChange(snapshotOf(book), async current => {
        const epub = await open(current, client)
        if ('changed' in epub) return epub
        const index = epub.indexes.get(name) ?? epub.indexes.get(foldName(name))
        if (index === undefined) {
          const changed = await findChange(current)
          if (changed) return changed
          throw new NotFound('The book has no such resource')
        }
        const body = await readResource(engine, current, { ...epub, index, client })
        return 'changed' in body ? body : { ...body, etag: resourceEtag(current, name) }
      })
    },
  }
}

/** A snapshot whose page list is not needed. */
const snapshotOf = (book: BookFile): BookSnapshot => ({
  ...book,
  format: 'epub',
  pages: null,
  isCataloged: false,
})

function estimateBytes({ contents }: OpenedEpub): number {
  const { resources, toc, landmarks, pageList } = contents
  const count = (links: readonly { children: typeof toc }[]): number =>
    links.reduce((sum, { children }) => sum + 1 + count(children), 0)
  const links = count(toc) + count(landmarks) + count(pageList)
  const names = resources.reduce((sum, { name }) => sum + name.length * 4, 0)
  // An entry that exceeds the cache is still cached, alone: reading it again for each request costs more.
  return Math.min(resources.length * resourceBytes + links * linkBytes + names, maxCacheBytes)
}

/** The current version of the file if it differs from the cached entry's. */
async function findChange({
  path,
  root,
  size,
  modifiedMs,
}: BookSnapshot): Promise<FileChanged | null> {
  const look = () => statFile(path, mountKey(root))
  const stat = await mountHealth.run(mountKey(root), look, { folder: folderOf(path) })
  const now = { size: stat.size, modifiedMs: Math.round(stat.mtimeMs) }
  return now.size === size && now.modifiedMs === modifiedMs ? null : { changed: now }
}

async function readResource(
  engine: Engine,
  book: BookSnapshot,
  { contents, directory, index, client }: OpenedEpub & { index: number; client: Client },
) {
  const { name, mediaType, bytes: sizeBytes } = contents.resources[index]!
  const slot = slotAt(directory, index)
  if (slot.sizeBytes > engine.limits.entryBytes)
    throw new Unreadable('The resource is too large', 'too_large')
  if (slot.offset >= 0) {
    const result = await readDirect(fileOf(engine, book), {
      directory,
      index,
      allowsAnyType: true,
    })
    if (!('mismatch' in result)) return 'page' in result ? { ...result.page, mediaType } : result
  }
  const request = { book: bookRefOf(engine, book), name }
  const result = await engine.pool.run('resource', request, { weight: sizeBytes, client })
  if ('changed' in result) return result
  const { buffer, byteOffset, length } = result.bytes
  return { ...bufferedBody(Buffer.from(buffer, byteOffset, length)), mediaType }
}
