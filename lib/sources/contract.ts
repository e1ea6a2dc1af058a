// Source contract: what provides metadata of series or books, or releases, built in or as a plugin. The schemas check answers of
// plugins and other services; a source has no access to the database.
import type { Static } from 'typebox'
import { json, list, nullable, oneOf, optional, record, Type } from '../base/schema.ts'

/** What a source can do. */
export const capabilities = ['metadata', 'books', 'releases'] as const

export const releaseSourceKinds = [
  'rss-uploader',
  'rss-series',
  'api-feed',
  'metadata-feed',
  'metadata-piggyback',
] as const

// NUL and lone surrogates are removed before the check (check.ts).
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
/** Clients display these as links, so no other schemes are accepted. */
const url = () => Type.String({ maxLength: 4000, pattern: '^https?://[^\\s/?#]' })
const mediaUrl = () =>
  Type.String({ maxLength: 8000, pattern: '^(?:https?://[^\\s/?#]|magnet:\\?)' })

/** One of a source's lists of releases, such as a feed. `key` identifies it within the source. */
export const ReleaseSourceDescription = record({
  key: text(200),
  displayName: text(200),
  kind: oneOf(releaseSourceKinds),
})

export type ReleaseSourceDescription = Static<typeof ReleaseSourceDescription>

/** Answer of `describe`. */
export const SourceDescription = record({
  name: text(100),
  displayName: text(200),
  version: text(50),
  homepage: nullable(url()),
  capabilities: list(oneOf(capabilities)),
  releaseSources: list(ReleaseSourceDescription),
})
export type SourceDescription = Static<typeof SourceDescription>

/** A series found by a search. `relevance` is from 0 to 1. */
export const SeriesHit = record({
  externalId: text(500),
  title: text(1000),
  alternateTitles: list(text(1000)),
  year: nullable(Type.Integer()),
  url: nullable(url()),
  coverUrl: nullable(url()),
  summary: nullable(Type.String({ maxLength: 20_000 })),
  relevance: Type.Number({ minimum: 0, maximum: 1 }),
})
export type SeriesHit = Static<typeof SeriesHit>

/** A book found by a search. `relevance` is from 0 to 1. */
export const BookHit = record({
  ...SeriesHit.properties,
  authors: list(text(500)),
  isbns: list(text(20)),
  publisher: nullable(text(300)),
})
export type BookHit = Static<typeof BookHit>

/** A span of chapters or volumes, including both ends; decimals are allowed. */
export const Span = record({ start: Type.Number(), end: Type.Number() })
export type Span = Static<typeof Span>

export const mediaUrlKinds = ['torrent', 'magnet', 'direct', 'other'] as const

/** A release as stated by a source. The release ledger decides which series it belongs to. */
export const ReleaseItem = record({
  /** Permanent id of the release in its source. */
  externalReleaseId: text(1000),
  title: text(1000),
  payloadUrl: url(),
  mediaUrl: nullable(mediaUrl()),
  mediaUrlKind: nullable(oneOf(mediaUrlKinds)),
  infoHash: nullable(text(100)),
  groupOrUploader: nullable(text(300)),
  language: nullable(text(50)),
  chapters: nullable(list(Span)),
  volumes: nullable(list(Span)),
  formatHints: Type.Record(Type.String(), json()),
  metadata: Type.Record(Type.String(), json()),
  /** Titles of the series: `A / B` has two. If empty, only `seriesIds` identify it. */
  seriesTitles: list(text(1000)),
  /** Ids of the series on other services, by service name. */
  seriesIds: Type.Record(Type.String(), text(500)),
  /** RFC 3339. */
  releasedAt: nullable(
    Type.String({
      maxLength: 40,
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)$',
    }),
  ),
})
export type ReleaseItem = Static<typeof ReleaseItem>

/** A reference to the same series on another service. */
const Reference = record({ source: text(100), externalId: text(500), url: nullable(url()) })

/** A series as a source describes it. */
export const FetchedSeries = record({
  externalId: text(500),
  url: nullable(url()),
  /** Changes when any of this changes; null to compute it from the answer. */
  hash: nullable(text(200)),
  /** By the names of the API's series fields; each value is parsed like an edit of that field. */
  metadata: Type.Record(Type.String(), json()),
  externalIds: list(Reference),
  links: list(record({ source: text(100), url: url() })),
  ratings: list(
    record({
      source: text(100),
      rating: Type.Number({ minimum: 0, maximum: 100 }),
      votes: nullable(Type.Integer({ minimum: 0 })),
    }),
  ),
  coverUrl: nullable(url()),
})
export type FetchedSeries = Static<typeof FetchedSeries>

/** A book as a source describes it; `metadata` is by the names of the API's book fields. */
export const FetchedBook = record(
  (({ ratings: _, ...properties }) => properties)(FetchedSeries.properties),
)
export type FetchedBook = Static<typeof FetchedBook>

/** A tracked series, for sources that list releases of given series. */
export type TrackedSeries = {
  seriesId: string
  titles: string[]
  /** By service name. */
  externalIds: Record<string, string>
}

export type ReleaseQuery = {
  key: string
  /** What the last page of this list returned; null at first. */
  cursor: unknown
  /** At most 100; empty for kinds that list everything (`rss-uploader`, `metadata-feed`). */
  series: readonly TrackedSeries[]
}

/** Releases on one page; longer lists have several pages. */
export const maxReleases = 10_000

/**
 * A page of releases. The cursor (entity tags, times, page numbers) is stored in the transaction that stores the
 * items, and is passed to the next query; `isLast`: there is nothing more for now. `summary` is for administrators:
 * `Not modified`, `3 items without a title`.
 */
export const ReleasePage = record({
  items: list(ReleaseItem, { maxItems: maxReleases }),
  cursor: json(),
  isLast: Type.Boolean(),
  summary: optional(Type.String({ maxLength: 500 })),
})
export type ReleasePage = Static<typeof ReleasePage>

export type SearchQuery = { query: string; limit: number }
/** A book's ISBN has 13 digits. */
export type BookQuery = {
  title: string
  author: string | null
  isbn: string | null
  limit: number
}
export type Call = { signal: AbortSignal }

/** Functions reject with SourceFailure; `searchSeries` and the others exist only with their capability. */
export type Source = {
  describe(call: Call): Promise<SourceDescription>
  /** Best first. */
  searchSeries?(query: SearchQuery, call: Call): Promise<SeriesHit[]>
  /** Null if there is no such series. */
  fetchSeries?(externalId: string, call: Call): Promise<FetchedSeries | null>
  /** Best first. */
  searchBooks?(query: BookQuery, call: Call): Promise<BookHit[]>
  /** Null if there is no such book. */
  fetchBook?(externalId: string, call: Call): Promise<FetchedBook | null>
  listReleases?(query: ReleaseQuery, call: Call): Promise<ReleasePage>
}
