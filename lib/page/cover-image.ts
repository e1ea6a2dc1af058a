// Cover images larger than thumbnails: rendered from the cover inside a book or from an uploaded image, and
// stored in the page cache.
import { readFile } from 'node:fs/promises'
import { isShortage, NotFound, shortage } from '../base/errors.ts'
import type { BookFile } from '../catalog/book/book-file.ts'
import type { FileVersion } from '../download/range.ts'
import { bookRefOf, type Engine, type ImageBody, retryOnChange } from './engine.ts'
import { failureKey, pageCacheKey, pageEtag } from './etag.ts'
import type { FileChanged } from './messages.ts'
import { makeImage, readCached } from './page-source.ts'
import { type Client, unknownWeight } from './pool.ts'
import type { Variant } from './variant.ts'

// Pages count from 0, so this index is free.
const coverIndex = -1

/** Strong ETag, with its quotes, of the cover inside a book. */
export const bookCoverEtag = (version: FileVersion, variant: Variant): string =>
  pageEtag(version, coverIndex, variant)

export function createCoverImages(engine: Engine) {
  return {
    /** The cover inside a book, with its ETag. Throws NotFound if there is none, Unreadable, Unavailable. */
    async fromBook(book: BookFile, variant: Variant, client: Client = {}) {
      return await retryOnChange(book, async current => {
        const image = await renderBookCover(engine, current, { variant, client })
        return 'changed' in image ? image : { ...image, etag: bookCoverEtag(current, variant) }
      })
    },
    /** An image rendered from a file whose `name` identifies its content. Errors as for `fromBook`. */
    async fromFile(path: string, name: string, variant: Variant, client: Client = {}) {
      const version = { id: name, size: 0, modifiedMs: 0 }
      const key = pageCacheKey(version, coverIndex, variant)
      const cached = await readCached(engine, key, `image/${variant.format}`)
      if (cached) return cached
      const image = await makeImage(engine, key, {
        async render(target, client) {
          const request = { bytes: await readUpload(path), variant, target }
          return engine.pool.run('convert', request, {
            weight: unknownWeight,
            client,
            failureKey: failureKey(version, 'cover'),
          })
        },
        client,
      })
      // The request contains bytes rather than a file that could change.
      return image as Exclude<ImageBody, FileChanged>
    },
  }
}

type Rendering = { variant: Variant; client: Client }

async function renderBookCover(engine: Engine, book: BookFile, { variant, client }: Rendering) {
  const { format } = book
  if (format === null) throw new NotFound('The book has no cover')
  const key = pageCacheKey(book, coverIndex, variant)
  const cached = await readCached(engine, key, `image/${variant.format}`)
  if (cached) return cached
  return makeImage(engine, key, {
    async render(target, client) {
      const snapshot = { ...book, format, pages: null, isCataloged: false }
      const request = { book: bookRefOf(engine, snapshot), variant, target }
      return engine.pool.run('bookCover', request, {
        weight: unknownWeight,
        client,
        failureKey: failureKey(book, 'cover'),
      })
    },
    client,
  })
}

async function readUpload(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    if (isShortage(cause)) throw shortage(cause)
    throw new NotFound('The cover file does not exist', { cause })
  }
}
