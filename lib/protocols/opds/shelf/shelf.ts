// Shelf: a feed of the catalogs as a value, with its path, its parameters and the function that loads it.
import type { TProperties } from 'typebox'
import type { Viewer } from '../../../accounts/viewer.ts'
import { Invalid } from '../../../base/errors.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import type { Services } from '../../../store/services.ts'
import type { OpdsVersion } from '../../publication/catalog-path.ts'
import type { Feed, FeedRef, Paging } from '../feed.ts'

export type ShelfRequest = {
  sql: Sql
  services: Services
  viewer: Viewer
  version: OpdsVersion
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** 1-based. */
  page: number
  pageSize: number
}

export type Shelf = {
  /** Relative to the root of the catalog; `''` is the root. */
  path: string
  /** For the OpenAPI document. */
  summary: string
  /** Set for a shelf that exists in only one of the catalogs. */
  onlyVersion?: OpdsVersion
  params?: TProperties
  /** In addition to `page` and `pageSize`. */
  query?: TProperties
  load: (request: ShelfRequest) => Promise<Feed>
}

export const pagingOf = ({ page, pageSize }: ShelfRequest, total: number): Paging => ({
  page,
  pageSize,
  total,
})

export const offsetOf = ({ page, pageSize }: ShelfRequest): number => (page - 1) * pageSize

/** Limit of search words and of names in queries, in characters. */
export const maxSearchLength = 500

/** Search words without surrounding spaces; undefined if blank. Throws Invalid for text with a null character. */
export function searchText(value: string | undefined): string | undefined {
  if (value?.includes('\0')) throw new Invalid('The search contains a null character')
  return value?.trim().toWellFormed() || undefined
}

/** The search feed. Its parameter is OpenSearch's `{searchTerms}` in OPDS 1.2, `{?query}` in OPDS 2.0. */
export function searchRef(version: OpdsVersion, words: string): FeedRef {
  return {
    path: '/search',
    query: version === 1 ? { q: words } : { query: words },
    title: 'Matching books',
    kind: 'acquisition',
  }
}
