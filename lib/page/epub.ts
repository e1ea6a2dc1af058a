// EPUBs as reading apps take them apart: what is in them, and their resources one by one.
import { LRUCache } from 'lru-cache'
import { openFlights } from '../async/work-queue.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import { type Body, held, statFile } from '../download/file-body.ts'
import { NotFound, Unreadable } from '../errors.ts'
import type { EpubContents } from '../format/epub/contents.ts'
import { foldedName } from '../path.ts'
import { readDirect } from './direct.ts'
import { slotAt } from './directory.ts'
import { type Engine, type Met, placeOf, steadily } from './engine.ts'
import { memberTag, versionKey } from './etag.ts'
import type { Epub } from './messages.ts'
import type { Changed } from './pool.ts'

/** A resource; `tag` is the weak entity tag of these bytes. `done` as of `Body`. */
export type EpubMember = Body & { mediaType: string; tag: string }

type Whole = Epub & { places: Map<string, number> }

// About 300 books.
const mostBytes = 16 * 1024 * 1024
const resourceBytes = 300
const linkBytes = 200

export function openEpubs(engine: Engine) {
  const known = new LRUCache<string, Whole>({ maxSize: mostBytes, sizeCalculation: sizeOf })
  const flights = openFlights<Whole | Changed>()
  const wholeOf = async (book: Met, signal?: AbortSignal): Promise<Whole | Changed> => {
    const key = versionKey(book)
    const make = async (signal: AbortSignal) => {
      const place = await placeOf(engine, book)
      const made = await engine.pool.run('epub', place, { weighs: 1, signal })
      if ('changed' in made) return made
      const names = made.contents.resources.map(({ name }, i) => [name, i] as const)
      const whole = { ...made, places: new Map([...names.map(folded), ...names]) }
      known.set(key, whole)
      return whole
    }
    return known.get(key) ?? (await flights(key, make, signal))
  }
  return {
    /** What is in an EPUB, as far as its manifest lists it. Throws NotFound, Unreadable, Unavailable. */
    async contents(book: BookFile, signal?: AbortSignal): Promise<EpubContents> {
      return await steadily(metAs(book), async met => {
        const changed = known.has(versionKey(met)) && (await changeOf(met))
        const whole = changed || (await wholeOf(met, signal))
        return 'changed' in whole ? whole : whole.contents
      })
    },
    /**
     * The resource of that name, decoded. Only what the manifest lists is there; another case or Unicode
     * form will do. Throws NotFound, Unreadable, Unavailable.
     */
    async member(book: BookFile, name: string, signal?: AbortSignal): Promise<EpubMember> {
      return await steadily(metAs(book), async met => {
        const whole = await wholeOf(met, signal)
        if ('changed' in whole) return whole
        const index = whole.places.get(name) ?? whole.places.get(foldedName(name))
        if (index === undefined) {
          const changed = await changeOf(met)
          if (changed) return changed
          throw new NotFound('The book has no such resource')
        }
        const found = await memberOf(engine, met, { ...whole, index, signal })
        return 'changed' in found ? found : { ...found, tag: memberTag(met, name) }
      })
    },
  }
}

const folded = ([name, index]: readonly [string, number]) => [foldedName(name), index] as const

/** Its pages are not asked for. */
const metAs = (book: BookFile): Met => ({
  ...book,
  format: 'epub',
  pages: async () => null,
  isKnown: false,
})

function sizeOf({ contents }: Whole): number {
  const { resources, toc, landmarks, pageList } = contents
  const count = (links: readonly { children: typeof toc }[]): number =>
    links.reduce((sum, { children }) => sum + 1 + count(children), 0)
  const links = count(toc) + count(landmarks) + count(pageList)
  const names = resources.reduce((sum, { name }) => sum + name.length * 4, 0)
  // One that is larger than all is remembered alone: to read it anew each time would cost more.
  return Math.min(resources.length * resourceBytes + links * linkBytes + names, mostBytes)
}

/** What was remembered may be of a file that is another one by now. */
async function changeOf({ path, size, modifiedMs }: Met): Promise<Changed | null> {
  const stat = await statFile(path)
  const now = { size: stat.size, modifiedMs: Math.round(stat.mtimeMs) }
  return now.size === size && now.modifiedMs === modifiedMs ? null : { changed: now }
}

type At = Whole & { index: number; signal: AbortSignal | undefined }

async function memberOf(engine: Engine, book: Met, { contents, directory, index, signal }: At) {
  const { name, mediaType, bytes } = contents.resources[index]!
  if (slotAt(directory, index).bytes > engine.limits.entryBytes)
    throw new Unreadable('The resource is too large', 'too_large')
  if (slotAt(directory, index).at >= 0) {
    const found = await readDirect(book.path, book, { directory, index, asItIs: true })
    if (!('odd' in found)) return 'page' in found ? { ...found.page, mediaType } : found
  }
  const order = { place: await placeOf(engine, book), name }
  const made = await engine.pool.run('member', order, { weighs: bytes, signal })
  if ('changed' in made) return made
  const { buffer, byteOffset, length } = made.bytes
  return { ...held(Buffer.from(buffer, byteOffset, length)), mediaType }
}
