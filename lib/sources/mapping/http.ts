// HTTP source: any service that responds with JSON, described by URL templates and a mapping of fields.
import { Invalid } from '../../base/errors.ts'
import { maybe, oneOf, type Static, strict, Type, text } from '../../base/schema.ts'
import type { Call, ReleaseItem, ReleasePage, ReleaseQuery, Source } from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import type { HttpClient } from '../http/client.ts'
import { checkHeaders } from '../http/headers.ts'
import type { SourceRow, SourceType } from '../source-type.ts'
import { sourceTemplate } from './fields.ts'
import { compilePath, maxPathLength } from './json-path.ts'
import { compileRelease, ReleaseMapping } from './releases.ts'
import { compileHit, compileSeries, HitMapping, SeriesMapping, withRelevance } from './series.ts'

// The host is not part of a template, so that no value can change it.
const UrlTemplate = (description: string) =>
  Type.String({ maxLength: 2000, pattern: '^https?://[^\\s/?#{}@]+(?:[/?#]|$)', description })
const Path = (description: string) => text(maxPathLength, { minLength: 1, description })
const releaseKinds = ['api-feed', 'rss-series'] as const

const HttpConfig = strict({
  search: maybe(
    strict({
      url: UrlTemplate('Handlebars template with `query` and `limit`; values are URL-encoded.'),
      items: Path('JSON path of the hits.'),
      fields: HitMapping,
    }),
  ),
  series: maybe(
    strict({
      url: UrlTemplate('Handlebars template with `externalId`.'),
      root: maybe(Path('JSON path of the series; defaults to the whole response.')),
      fields: SeriesMapping,
    }),
  ),
  releases: maybe(
    strict({
      url: UrlTemplate(
        'Handlebars template with `cursor` and, for rss-series, `title`, `titles` and `externalIds` of a tracked series.',
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
type HttpConfig = Static<typeof HttpConfig>

/** Per poll. */
const maxPages = 20
const accept = 'application/json'

export const http: SourceType<HttpConfig> = {
  Config: HttpConfig,
  check({ config, credentials }) {
    checkHeaders(credentials)
    const { search, series, releases } = config
    if (!search !== !series) throw new Invalid('config.search and config.series require each other')
    if (!search && !releases) throw new Invalid('config.search or config.releases is required')
    compile({ name: 'x', config })
  },
  releaseSources: ({ config: { releases }, displayName }) =>
    releases ? [{ key: 'releases', displayName, kind: releases.kind ?? 'api-feed' }] : [],
  open: (row, { http: client }) => openHttp(row, client),
}

/** Throws Invalid. */
function compile({ name, config }: Pick<SourceRow<HttpConfig>, 'name' | 'config'>) {
  const { search, series, releases } = config
  const url = (source: string, label: string) => {
    // A lone surrogate cannot be encoded in a URL.
    const escapeText = (text: string) => encodeURIComponent(text.toWellFormed())
    const render = sourceTemplate(source, label, { escapeText })
    return (context: unknown) => withoutDotSegments(render(context))
  }
  return {
    search: search && {
      url: url(search.url, 'config.search.url'),
      items: compilePath(search.items, 'config.search.items'),
      hit: compileHit(search.fields, 'config.search.fields'),
    },
    series: series && {
      url: url(series.url, 'config.series.url'),
      root: compilePath(series.root ?? '$', 'config.series.root'),
      series: compileSeries(series.fields, name, 'config.series.fields'),
    },
    releases: releases && {
      url: url(releases.url, 'config.releases.url'),
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

// Also matches escaped separators: some services decode a path before resolving it. Parsing drops tabs and line breaks.
const dotSegment = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

/** A value such as `..` cannot be escaped: it would lead to another address of the service, with its credentials. */
function withoutDotSegments(url: string): string {
  const [path = ''] = url.replace(/[\t\r\n]/g, '').split(/[?#]/, 1)
  if (dotSegment.test(path))
    throw new SourceFailure('The request URL contains a . or .. segment', 'invalid')
  return url
}

function openHttp(row: SourceRow<HttpConfig>, client: HttpClient): Source {
  const { search, series, releases } = compile(row)
  const getJson = async (url: string, { signal }: Call): Promise<unknown> => {
    const { status, body } = await client.get({ url, headers: row.credentials, accept, signal })
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
      if (search) await getJson(search.url({ query: 'a', limit: 1 }), call)
      else await getJson(releases!.url({ cursor: null, titles: [], externalIds: {} }), call)
      return {
        ...{ name: row.name.slice(0, 100), displayName: row.displayName, version: '1' },
        homepage: null,
        capabilities: [
          ...(search ? (['metadata'] as const) : []),
          ...(releases ? (['releases'] as const) : []),
        ],
        releaseSources: http.releaseSources(row) ?? [],
      }
    },
    ...(search && {
      async searchSeries({ query, limit }, call) {
        const items = search.items(await getJson(search.url({ query, limit }), call))
        const hits = items.flatMap(item => search.hit(item) ?? [])
        return hits.slice(0, 100).map(hit => withRelevance(hit, query))
      },
    }),
    ...(series && {
      async fetchSeries(externalId, call) {
        const [document] = series.root(await getJson(series.url({ externalId }), call))
        return document === undefined || document === null
          ? null
          : series.series(document, externalId)
      },
    }),
    ...(releases && {
      listReleases: (query, call) => listReleases(releases, query, url => getJson(url, call)),
    }),
  }
}

type Releases = NonNullable<Compiled['releases']>
type Get = (url: string) => Promise<unknown>

async function listReleases(
  releases: Releases,
  query: ReleaseQuery,
  get: Get,
): Promise<ReleasePage> {
  if (releases.kind === 'rss-series') {
    const items: ReleaseItem[] = []
    for (const { titles, externalIds } of query.series) {
      const url = releases.url({ cursor: null, title: titles[0] ?? '', titles, externalIds })
      items.push(...releasesIn(releases, await get(url)))
    }
    return { items, cursor: null, isLast: true, summary: `${query.series.length} series` }
  }
  const { next = null, page = 1 } = (query.cursor ?? {}) as { next?: unknown; page?: number }
  const document = await get(releases.url({ cursor: next, titles: [], externalIds: {} }))
  const items = releasesIn(releases, document)
  const following = releases.next?.(document)[0] ?? null
  const isLast = following === null || items.length === 0 || page >= maxPages
  return { items, cursor: isLast ? null : { next: following, page: page + 1 }, isLast }
}

const releasesIn = ({ items, release }: Releases, document: unknown) =>
  items(document).flatMap(item => release(item) ?? [])
