// HTTP source: any service that responds with JSON, described by URL templates and a mapping of fields.
import { Invalid } from '../../base/errors.ts'
import { maybe, oneOf, type Static, strict, Type, text } from '../../base/schema.ts'
import type {
  BookQuery,
  Call,
  ReleaseItem,
  ReleasePage,
  ReleaseQuery,
  Source,
} from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import type { HttpClient, Outgoing } from '../http/client.ts'
import type { SourceRow, SourceType } from '../source-type.ts'
import { compilePath, maxPathLength } from './json-path.ts'
import { compileRelease, ReleaseMapping } from './releases.ts'
import { Auth, compileAuth, compileRequest, requestSettings } from './request.ts'
import {
  BookHitMapping,
  BookMapping,
  compileBook,
  compileBookHit,
  compileHit,
  compileSeries,
  HitMapping,
  SeriesMapping,
  withBookRelevance,
  withRelevance,
} from './series.ts'

const Path = (description: string) => text(maxPathLength, { minLength: 1, description })
const releaseKinds = ['api-feed', 'rss-series'] as const

const HttpConfig = strict({
  auth: maybe(Auth),
  limits: maybe(
    strict(
      {
        perMinute: maybe(Type.Integer({ minimum: 1, maximum: 600, default: 60 })),
        perDay: maybe(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      },
      {
        description: 'Requests that the service allows. They count for its host, in each process.',
      },
    ),
  ),
  search: maybe(
    strict({
      ...requestSettings('`query` and `limit`'),
      items: Path('JSON path of the hits.'),
      fields: HitMapping,
    }),
  ),
  series: maybe(
    strict({
      ...requestSettings('`externalId`'),
      root: maybe(Path('JSON path of the series; defaults to the whole response.')),
      fields: SeriesMapping,
    }),
  ),
  bookSearch: maybe(
    strict({
      ...requestSettings('`isbn`, or `title` and `author`, and `limit`'),
      items: Path('JSON path of the hits.'),
      fields: BookHitMapping,
    }),
  ),
  book: maybe(
    strict({
      ...requestSettings('`externalId`'),
      root: maybe(Path('JSON path of the book; defaults to the whole response.')),
      fields: BookMapping,
    }),
  ),
  releases: maybe(
    strict({
      ...requestSettings(
        '`cursor` and, for rss-series, `title`, `titles` and `externalIds` of a tracked series',
      ),
      kind: maybe(oneOf(releaseKinds, { default: 'api-feed' })),
      items: Path('JSON path of the releases.'),
      fields: ReleaseMapping,
      next: maybe(
        Path('JSON path of the cursor of the next page; a page without a value is the last.'),
      ),
      language: maybe(text(50, { description: 'Language of releases that state none (BCP 47).' })),
    }),
  ),
})
export type HttpConfig = Static<typeof HttpConfig>

/** Per poll. */
const maxPages = 20
const accept = 'application/json'

export const http: SourceType<HttpConfig> = {
  Config: HttpConfig,
  check({ config, credentials }) {
    compileAuth(config.auth, credentials)
    const { search, series, bookSearch, book, releases } = config
    if (!search !== !series) throw new Invalid('config.search and config.series require each other')
    if (!bookSearch !== !book)
      throw new Invalid('config.bookSearch and config.book require each other')
    if (!search && !bookSearch && !releases)
      throw new Invalid('config.search, config.bookSearch or config.releases is required')
    compile({ name: 'x', config })
  },
  releaseSources: ({ config: { releases }, displayName }) =>
    releases ? [{ key: 'releases', displayName, kind: releases.kind ?? 'api-feed' }] : [],
  open: (row, { http: client }) => openHttp(row, client),
}

/** Throws Invalid. */
function compile({ name, config }: Pick<SourceRow<HttpConfig>, 'name' | 'config'>) {
  const { search, series, bookSearch, book, releases } = config
  return {
    search: search && {
      request: compileRequest(search, 'config.search'),
      items: compilePath(search.items, 'config.search.items'),
      hit: compileHit(search.fields, 'config.search.fields'),
    },
    series: series && {
      request: compileRequest(series, 'config.series'),
      root: compilePath(series.root ?? '$', 'config.series.root'),
      series: compileSeries(series.fields, name, 'config.series.fields'),
    },
    bookSearch: bookSearch && {
      request: compileRequest(bookSearch, 'config.bookSearch'),
      items: compilePath(bookSearch.items, 'config.bookSearch.items'),
      hit: compileBookHit(bookSearch.fields, 'config.bookSearch.fields'),
    },
    book: book && {
      request: compileRequest(book, 'config.book'),
      root: compilePath(book.root ?? '$', 'config.book.root'),
      book: compileBook(book.fields, name, 'config.book.fields'),
    },
    releases: releases && {
      request: compileRequest(releases, 'config.releases'),
      kind: releases.kind ?? 'api-feed',
      items: compilePath(releases.items, 'config.releases.items'),
      next: releases.next === undefined ? null : compilePath(releases.next, 'config.releases.next'),
      release: compileRelease(releases.fields, {
        ...{ source: name, language: releases.language, label: 'config.releases.fields' },
      }),
    },
  }
}
type Compiled = ReturnType<typeof compile>

function openHttp(row: SourceRow<HttpConfig>, client: HttpClient): Source {
  const { search, series, bookSearch, book, releases } = compile(row)
  const { auth, limits } = row.config
  const authorize = compileAuth(auth, row.credentials)
  const getJson = async (request: Outgoing, { signal }: Call): Promise<unknown> => {
    const sent = { ...authorize(request), accept, limits, signal }
    const { status, body } = await client.send(sent)
    if (status !== 200) return null
    try {
      return JSON.parse(body.toString())
    } catch (cause) {
      throw new SourceFailure('The response is not JSON', 'invalid', { cause })
    }
  }
  return {
    async describe(call) {
      // The shortest possible request shows whether the service responds.
      if (search) await getJson(search.request({ query: 'a', limit: 1 }), call)
      else if (bookSearch) await getJson(bookSearch.request({ ...anyBook, limit: 1 }), call)
      else await getJson(releases!.request({ cursor: null, titles: [], externalIds: {} }), call)
      return {
        ...{ name: row.name.slice(0, 100), displayName: row.displayName, version: '1' },
        homepage: null,
        capabilities: [
          ...(search ? (['metadata'] as const) : []),
          ...(bookSearch ? (['books'] as const) : []),
          ...(releases ? (['releases'] as const) : []),
        ],
        releaseSources: http.releaseSources(row) ?? [],
      }
    },
    ...(search && {
      async searchSeries({ query, limit }, call) {
        const items = search.items(await getJson(search.request({ query, limit }), call))
        const hits = items.flatMap(item => search.hit(item) ?? [])
        return hits.slice(0, 100).map(hit => withRelevance(hit, query))
      },
    }),
    ...(series && {
      async fetchSeries(externalId, call) {
        const [document] = series.root(await getJson(series.request({ externalId }), call))
        return isMissing(document) ? null : series.series(document, externalId)
      },
    }),
    ...(bookSearch && {
      async searchBooks(query, call) {
        const find = async (wanted: BookQuery) => {
          const items = bookSearch.items(await getJson(bookSearch.request(wanted), call))
          const hits = items.flatMap(item => bookSearch.hit(item) ?? [])
          return hits.slice(0, 100).map(hit => withBookRelevance(hit, query))
        }
        const found = query.isbn === null ? [] : await find(query)
        // Other editions of the book have another ISBN.
        return found.length > 0 || query.title === '' ? found : await find({ ...query, isbn: null })
      },
    }),
    ...(book && {
      async fetchBook(externalId, call) {
        const [document] = book.root(await getJson(book.request({ externalId }), call))
        return isMissing(document) ? null : book.book(document, externalId)
      },
    }),
    ...(releases && {
      listReleases: (query, call) =>
        listReleases(releases, query, request => getJson(request, call)),
    }),
  }
}

const anyBook = { title: 'a', author: null, isbn: null }

/** Some services answer with an empty list. */
const isMissing = (document: unknown) =>
  document === undefined || document === null || (Array.isArray(document) && document.length === 0)

type Releases = NonNullable<Compiled['releases']>
type Get = (request: Outgoing) => Promise<unknown>

async function listReleases(
  releases: Releases,
  query: ReleaseQuery,
  get: Get,
): Promise<ReleasePage> {
  if (releases.kind === 'rss-series') {
    const items: ReleaseItem[] = []
    for (const { titles, externalIds } of query.series) {
      const request = releases.request({
        cursor: null,
        title: titles[0] ?? '',
        titles,
        externalIds,
      })
      items.push(...releasesIn(releases, await get(request)))
    }
    return { items, cursor: null, isLast: true, summary: `${query.series.length} series` }
  }
  const { next = null, page = 1 } = (query.cursor ?? {}) as { next?: unknown; page?: number }
  const document = await get(releases.request({ cursor: next, titles: [], externalIds: {} }))
  const items = releasesIn(releases, document)
  const following = releases.next?.(document)[0] ?? null
  const isLast = following === null || items.length === 0 || page >= maxPages
  return { items, cursor: isLast ? null : { next: following, page: page + 1 }, isLast }
}

const releasesIn = ({ items, release }: Releases, document: unknown) =>
  items(document).flatMap(item => release(item) ?? [])
