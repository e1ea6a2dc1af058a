// Covers that are larger than thumbnails: made of a book's own front cover, or of an image that somebody
// uploaded, and kept in the page cache.
import { readFile } from 'node:fs/promises'
import type { BookFile } from '../catalog/book/book-file.ts'
import { NotFound } from '../errors.ts'
import { type Engine, type Found, placeOf, steadily } from './engine.ts'
import { pageKey, pageTag, type Version } from './etag.ts'
import { fromCache, made } from './page-source.ts'
import { unknownWeight } from './pool.ts'
import type { Variant } from './variant.ts'

// Beside the pages of a book, which count from 0.
const index = -1

/** Strong entity tag, with its quotes, of the front cover of a book. */
export const frontTag = (version: Version, variant: Variant): string =>
  pageTag(version, index, variant)

export function openFronts(engine: Engine) {
  return {
    /** The cover in the book itself, with its tag. Throws NotFound where there is none, Unreadable, Unavailable. */
    async ofBook(book: BookFile, variant: Variant, signal?: AbortSignal) {
      return await steadily(book, async met => {
        const found = await frontOf(engine, met, { variant, signal })
        return 'changed' in found ? found : { ...found, tag: frontTag(met, variant) }
      })
    },
    /** An image made of a file whose `name` stands for its content. Errors as above. */
    async ofFile(path: string, name: string, variant: Variant) {
      const key = pageKey({ id: name, size: 0, modifiedMs: 0 }, index, variant)
      const kept = await fromCache(engine, key, `image/${variant.format}`)
      if (kept) return kept
      const found = await made(engine, key, {
        async make(keep, signal) {
          const order = { bytes: await readUpload(path), variant, keep }
          return engine.pool.run('convert', order, { weighs: unknownWeight, signal })
        },
        signal: undefined,
      })
      // What came as bytes is no file that could change.
      return found as Exclude<Found, { changed: unknown }>
    },
  }
}

type Making = { variant: Variant; signal: AbortSignal | undefined }

async function frontOf(engine: Engine, book: BookFile, { variant, signal }: Making) {
  const { format } = book
  if (format === null) throw new NotFound('The book has no cover')
  const key = pageKey(book, index, variant)
  const kept = await fromCache(engine, key, `image/${variant.format}`)
  if (kept) return kept
  return made(engine, key, {
    async make(keep, signal) {
      const place = await placeOf(engine, {
        ...book,
        format,
        pages: async () => null,
        isKnown: false,
      })
      return engine.pool.run('front', { place, variant, keep }, { weighs: unknownWeight, signal })
    },
    signal,
  })
}

async function readUpload(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new NotFound('The file of the cover is not there', { cause })
  }
}
