// Feed model of both catalogs, written as Atom (OPDS 1.2) or JSON (OPDS 2.0). Paths are relative to the root of a
// catalog (`/series/ID`); `''` is the root.
import type { Links, Query } from '../publication/links.ts'
import type { Publication } from '../publication/publication.ts'

/** What feed writers need besides the feed. */
export type FeedContext = {
  links: Links
  /** Name of this server. */
  serverName: string
  /** Permissions of the caller: links it may not follow are left out. */
  allows: { pageStreaming: boolean; progressSync: boolean }
  /** Timestamp for feeds that contain nothing with a timestamp of its own. */
  catalogUpdatedAt: Date
}

/** A reference to a feed. */
export type FeedRef = { path: string; query?: Query; title: string; kind: FeedKind }
/** Navigation feeds link to feeds, acquisition feeds to books; no feed does both (OPDS 1.2 §2). */
export type FeedKind = 'navigation' | 'acquisition'

/** An entry of a navigation feed. */
export type NavigationEntry = FeedRef & {
  /** Id of the series or library that it represents; without one, its identity derives from the path. */
  id?: string
  updatedAt: Date | null
  /** Number of items in the feed. */
  count?: number
  /** Relation, if more specific than `subsection`. */
  rel?: 'http://opds-spec.org/sort/new' | 'http://opds-spec.org/sort/popular'
  /** Path of the entity with the cover (`/series/ID`). */
  cover?: string
  /** What the feed contains, in one line: number of items, authors, summary. */
  description?: string
}

/** Filters or sort orders of a feed. One facet of each group is active. */
export type FacetGroup = { title: string; facets: Facet[] }
export type Facet = { title: string; query: Query; count: number; isActive: boolean }

/** `page` counts from 1. */
export type Paging = { page: number; pageSize: number; total: number }

type Common = {
  path: string
  /** Every parameter that has an effect, except `page` and `pageSize`. */
  query: Query
  title: string
  /** Id of the series or library of the feed, which is then its identity. */
  id?: string
  /** Null when it derives from the items. */
  updatedAt: Date | null
  up: FeedRef | null
  /** Null when the feed is not paged. */
  paging: Paging | null
  facets: FacetGroup[]
  related: FeedRef[]
  /** Excerpts of other feeds, in OPDS 2.0 only. */
  groups: Group[]
}

export type NavigationFeed = Common & {
  kind: 'navigation'
  entries: NavigationEntry[]
}
export type AcquisitionFeed = Common & {
  kind: 'acquisition'
  books: Publication[]
  /** The books belong to several series. */
  isMixed: boolean
}
export type Feed = NavigationFeed | AcquisitionFeed

/** The first items of another feed. */
export type Group = FeedRef & { total: number } & (
    | { kind: 'acquisition'; books: Publication[] }
    | { kind: 'navigation'; entries: NavigationEntry[] }
  )

const defaults = {
  ...{ query: {}, updatedAt: null, paging: null },
  ...{ facets: [], related: [], groups: [] },
}
export const navigationRef = (path: string, title: string): FeedRef => ({
  ...{ path, title, kind: 'navigation' },
})
export const catalogRoot = navigationRef('', 'Catalog')

type FeedOptions<F extends Feed> = Pick<F, 'path' | 'title'> & Partial<Omit<F, 'kind'>>

export function navigationFeed(options: FeedOptions<NavigationFeed>): NavigationFeed {
  const feed = { ...defaults, up: catalogRoot, entries: [], ...options }
  return { ...feed, kind: 'navigation' }
}

export function acquisitionFeed(options: FeedOptions<AcquisitionFeed>): AcquisitionFeed {
  const feed = { ...defaults, up: catalogRoot, books: [], isMixed: true, ...options }
  return { ...feed, kind: 'acquisition' }
}

const defaultPageSize = 50

export type PageLink = { rel: 'self' | 'first' | 'previous' | 'next' | 'last'; href: string }

/** Links to the feed itself and, if it is paged, to other pages (RFC 5005). */
export function pageLinks({ path, query, paging }: Feed, links: Links): PageLink[] {
  if (paging === null) return [{ rel: 'self', href: links.to(path, query) }]
  const { page, pageSize } = paging
  const last = lastPage(paging)
  const size = pageSize === defaultPageSize ? undefined : pageSize
  const to = (page: number) =>
    links.to(path, { ...query, page: page === 1 ? undefined : page, pageSize: size })
  return [
    { rel: 'self', href: to(page) },
    { rel: 'first', href: to(1) },
    ...(page > 1 ? [{ rel: 'previous' as const, href: to(Math.min(page - 1, last)) }] : []),
    ...(page < last ? [{ rel: 'next' as const, href: to(page + 1) }] : []),
    { rel: 'last', href: to(last) },
  ]
}

/** 1-based; an empty feed has one page. */
const lastPage = ({ total, pageSize }: Paging): number => Math.max(1, Math.ceil(total / pageSize))

/** RFC 3339 in UTC, rounded down to seconds. */
export const formatTimestamp = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`

/** The start of a date, which may be a year or a month: `2020-01` is 2020-01-01T00:00:00Z. */
export const startOfDate = (date: string): string =>
  `${date}${'-01-01'.slice(date.length - 4)}T00:00:00Z`

/** When the newest item of a feed last changed; never the current time, which would prevent caching. */
export function feedUpdatedAt(
  feed: Feed,
  { catalogUpdatedAt }: Pick<FeedContext, 'catalogUpdatedAt'>,
): Date {
  const items = feed.kind === 'acquisition' ? feed.books : feed.entries
  if (items.length === 0) return feed.updatedAt ?? catalogUpdatedAt
  return new Date(Math.max(...items.map(({ updatedAt }) => Number(updatedAt ?? catalogUpdatedAt))))
}
