// A shelf is a value: where it is in the catalogues, what it can be asked, and the function that finds
// what is on it.
import type { TProperties } from 'typebox'
import type { Viewer } from '../../auth/viewer.ts'
import type { Sql } from '../../postgres/db.ts'
import type { Feed, Paging } from '../feed.ts'
import type { Version } from '../tree.ts'

export type Asked = {
  sql: Sql
  viewer: Viewer
  version: Version
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** From 1. */
  page: number
  pageSize: number
}

export type Shelf = {
  /** Below the root of the catalogue; `''` is the root. */
  path: string
  summary: string
  /** Where it is in one of the catalogues alone. */
  only?: Version
  params?: TProperties
  /** Beside `page` and `pageSize`. */
  query?: TProperties
  find: (asked: Asked) => Promise<Feed>
}

export const pagingOf = ({ page, pageSize }: Asked, total: number): Paging => ({
  page,
  pageSize,
  total,
})

export const offsetOf = ({ page, pageSize }: Asked): number => (page - 1) * pageSize
