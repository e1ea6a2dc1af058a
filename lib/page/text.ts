// Text of PDF books: words of pages, cached like rendered pages, searches over a part of the pages, tables of contents.
import { hash } from 'node:crypto'
import type { FileBody } from '../download/file-body.ts'
import { contentVersion } from '../download/range.ts'
import type { OutlineEntry } from '../media/format/pdf/outline.ts'
import type { FoundText, TextSearch } from '../media/format/pdf/text.ts'
import type { CacheTarget } from './cache-write.ts'
import { bookRefOf, type Engine, type PageBook, retryOnChange } from './engine.ts'
import { failureKey, type PagesVersion, pagesKey } from './etag.ts'
import { makeImage } from './page-source.ts'
import type { Client } from './pool.ts'

// Images of the page are not decoded.
const weight = 8 * 1024 * 1024

export function createTexts(engine: Engine) {
  return {
    /** The words of page `index` (from 0) as JSON. Throws NotFound, Unreadable, Unavailable. */
    async page(book: PageBook, index: number, client: Client): Promise<FileBody> {
      return await retryOnChange(book, async (current, isCataloged) => {
        const snapshot = { ...current, isCataloged }
        const key = textKey(current, index)
        const cached = await engine.cache.read(key)
        if (cached) return cached
        const render = async (target: CacheTarget | null, client: Client) =>
          engine.pool.run(
            'text',
            { book: bookRefOf(engine, snapshot), index, target },
            { weight, client, failureKey: failureKey(current, `text ${index}`) },
          )
        return await makeImage(engine, key, { render, client })
      })
    },
    /** Matches on some of the pages, and where to go on. Throws NotFound, Unreadable, Unavailable. */
    async search(book: PageBook, search: TextSearch, client: Client): Promise<FoundText> {
      return await retryOnChange(book, async (current, isCataloged) => {
        const request = { book: bookRefOf(engine, { ...current, isCataloged }), ...search }
        return await engine.pool.run('searchText', request, { weight, client })
      })
    },
    /** The table of contents. Throws NotFound, Unreadable, Unavailable. */
    async contents(book: PageBook, client: Client): Promise<OutlineEntry[]> {
      const { entries } = await retryOnChange(book, async (current, isCataloged) => {
        const request = bookRefOf(engine, { ...current, isCataloged })
        const options = { weight, client, failureKey: failureKey(current, 'outline') }
        return await engine.pool.run('outline', request, options)
      })
      return entries
    },
  }
}

/** Changes with the file. */
export const textKey = (version: PagesVersion, index: number): string =>
  hash('sha256', `text ${contentVersion} ${pagesKey(version)} ${index}`, 'hex').slice(0, 32)
