// What a feed holds, however it is written: both catalogues are made of these values. Paths are below
// the root of a catalogue (`/series/ID`), without its address; `''` is the root itself.
import type { Publication } from './publication.ts'

export type Query = Record<string, string | number | undefined>
/** Another feed, and what it is of. */
export type Ref = { path: string; query?: Query; title: string; kind: Kind }
/** Navigation leads to feeds, acquisition to books; no feed does both (OPDS 1.2 §2). */
export type Kind = 'navigation' | 'acquisition'

/** An entry of a navigation feed. */
export type Entry = Ref & {
  /** Of the series or library that it stands for; else its identity is made of its path. */
  id?: string
  updated: Date | null
  /** Items of the feed that it leads to. */
  count?: number
  /** When it is more than a subsection. */
  rel?: 'http://opds-spec.org/sort/new' | 'http://opds-spec.org/sort/popular'
  /** Path of what its cover is below (`/series/ID`): `cover.jpg`, `thumbnail.jpg`. */
  cover?: string
}

/** Ways to see less of a feed, or in another order. One of each group is active. */
export type FacetGroup = { title: string; facets: Facet[] }
export type Facet = { title: string; query: Query; count: number; isActive: boolean }

/** From 1. */
export type Paging = { page: number; pageSize: number; total: number }

type Common = {
  /** With `query` the address; alone, unless `own` says more, the identity. */
  path: string
  /** Every parameter that was understood, but for `page` and `pageSize`. */
  query: Query
  title: string
  /** Id of the series or library that the feed is of: its identity then. */
  id?: string
  /** Null where it follows from what is in it. */
  updated: Date | null
  up: Ref | null
  /** Null: it is not paged. */
  paging: Paging | null
  facets: FacetGroup[]
  related: Ref[]
}

export type NavigationFeed = Common & {
  kind: 'navigation'
  entries: Entry[]
  /** Shelves shown on a home; OPDS 2.0 alone knows groups. */
  groups: Group[]
}
export type AcquisitionFeed = Common & {
  kind: 'acquisition'
  books: Publication[]
  /** Its books are of several series. */
  isMixed: boolean
}
export type Feed = NavigationFeed | AcquisitionFeed

/** Some of another feed's items. */
export type Group = Ref & { total: number } & (
    | { kind: 'acquisition'; books: Publication[] }
    | { kind: 'navigation'; entries: Entry[] }
  )

const plain = { query: {}, updated: null, paging: null, facets: [], related: [] }
export const catalogue: Ref = { path: '', title: 'Catalogue', kind: 'navigation' }

type Said<F extends Feed> = Pick<F, 'path' | 'title'> & Partial<Omit<F, 'kind'>>

export function navigation(said: Said<NavigationFeed>): NavigationFeed {
  return { ...plain, up: catalogue, groups: [], entries: [], ...said, kind: 'navigation' }
}

export function acquisition(said: Said<AcquisitionFeed>): AcquisitionFeed {
  return { ...plain, up: catalogue, books: [], isMixed: true, ...said, kind: 'acquisition' }
}
