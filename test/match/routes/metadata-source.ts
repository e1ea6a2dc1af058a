// A source of metadata in memory for tests: series and books by id, found by title; failures on demand.
import { newId } from '../../../lib/base/id.ts'
import { checkedSource } from '../../../lib/sources/check.ts'
import type { FetchedBook, FetchedSeries, Source } from '../../../lib/sources/contract.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import type { Sources } from '../../../lib/sources/open.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'

/** A series with defaults for what a test is not about. */
export const fetchedSeries = (
  externalId: string,
  metadata: Record<string, unknown> = {},
  others: Partial<FetchedSeries> = {},
): FetchedSeries => ({
  ...{ externalId, url: `https://example.org/${externalId}`, hash: null, metadata },
  ...{ externalIds: [], links: [], ratings: [], coverUrl: null },
  ...others,
})

/** A book with defaults for what a test is not about. */
export function fetchedBook(
  externalId: string,
  metadata: Record<string, unknown> = {},
  others: Partial<FetchedBook> = {},
): FetchedBook {
  const { ratings: _, ...book } = fetchedSeries(externalId, metadata)
  return { ...book, ...others }
}

/** `beforeCall` may throw. */
export function createMemorySource(beforeCall = () => {}) {
  const series = new Map<string, FetchedSeries>()
  const books = new Map<string, FetchedBook>()
  const images = new Map<string, Buffer>()
  const calls: string[] = []
  const state = {
    failure: null as SourceFailure | null,
    relevance: 1,
    /** Whether a source has capabilities only once it has described itself, as plugins. */
    isUnknown: false,
  }
  const call = async <T>(name: string, result: () => T): Promise<T> => {
    calls.push(name)
    beforeCall()
    if (state.failure) throw state.failure
    return result()
  }
  const source: Source = {
    describe: () =>
      call('describe', () => ({
        ...{ name: 'memory', displayName: 'Memory', version: '1', homepage: null },
        ...{ capabilities: ['metadata', 'books'], releaseSources: [] },
      })) as ReturnType<Source['describe']>,
    searchSeries: ({ query }) =>
      call(`search ${query}`, () =>
        [...series.values()].flatMap(({ externalId, metadata, url }) => {
          const title = String(metadata.title ?? externalId)
          if (!title.toLowerCase().includes(query.toLowerCase())) return []
          const year = (metadata.year as number) ?? null
          const hit = { alternateTitles: [], year, coverUrl: null, summary: null }
          return [{ ...hit, externalId, title, url, relevance: state.relevance }]
        }),
      ),
    fetchSeries: id => call(`fetch ${id}`, () => series.get(id) ?? null),
    searchBooks: ({ title, author, isbn }) =>
      call(`search ${title} by ${author}, ${isbn}`, () =>
        [...books.values()].flatMap(({ externalId, metadata, url }) => {
          const found = { title: String(metadata.title), isbns: (metadata.isbns as string[]) ?? [] }
          if (found.title !== title && !(isbn !== null && found.isbns.includes(isbn))) return []
          const hit = { alternateTitles: [], authors: [], year: null, coverUrl: null }
          const { relevance } = state
          return [{ ...hit, ...found, externalId, url, summary: null, publisher: null, relevance }]
        }),
      ),
    fetchBook: id => call(`fetch book ${id}`, () => books.get(id) ?? null),
  }
  const send = async ({ url }: { url: string }) => {
    const body = images.get(url)
    if (!body) throw new SourceFailure('example.org answered with status 404', 'status')
    return { status: 200, body, contentType: null, etag: null, lastModified: null, url }
  }
  const sources = {
    open: ({ description }: { description: object | null }) =>
      checkedSource(
        state.isUnknown && description === null ? { describe: source.describe } : source,
      ),
    unreadable: () => null,
    http: { send },
    close: async () => {},
  }
  return { series, books, images, calls, state, sources: sources as unknown as Sources }
}

/** An enabled source; returns its id. */
export async function insertMetadataSource(
  sql: Sql,
  name: string,
  type = 'plugin',
): Promise<string> {
  const id = newId()
  await sql`
    insert into source (id, type, name, display_name, enabled)
    values (${id}, ${type}, ${name}, ${name}, true)`
  return id
}
