// What is recorded about single books in tables of their own, as predicates: when the account of the viewer last
// read them, which it wants to read, which are in a read list. Few beside the books of the catalogue.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Predicate } from '../condition.ts'
import { columnTest } from './operators.ts'

export type OwnField = 'lastReadAt' | 'wantToRead' | 'inReadList' | 'readListId'

/** Each on `o`, with the column `book_id`, one row for a book. A null test stands for any row. */
const ownRows: Record<
  OwnField,
  (sql: Queryable, viewer: Viewer, test: Predicate['test']) => OwnRows
> = {
  lastReadAt: (sql, { accountId }, test) => ({
    table: sql`progress`,
    isOwn: sql`o.account_id = ${accountId}`,
    holds: test.kind === 'null' ? sql`true` : columnTest(sql, { date: sql`o.updated_at` }, test),
  }),
  wantToRead: (sql, { accountId }) => ({
    table: sql`want_to_read`,
    isOwn: sql`o.account_id = ${accountId} and o.book_id is not null`,
    holds: sql`true`,
  }),
  inReadList: sql => ({
    table: sql`(select distinct book_id from read_list_book)`,
    isOwn: sql`true`,
    holds: sql`true`,
  }),
  readListId: (sql, _, test) => ({
    table: sql`(
      select distinct book_id from read_list_book
      where read_list_id = any(${test.kind === 'ids' ? test.ids : []}::uuid[]))`,
    isOwn: sql`true`,
    holds: sql`true`,
  }),
}
type OwnRows = { table: Fragment; isOwn: Fragment; holds: Fragment }

const isOwnField = (field: string): field is OwnField => Object.hasOwn(ownRows, field)

/** As a source of rows (row-sources.ts); null for other predicates. */
export function ownRowSource(sql: Queryable, viewer: Viewer, { field, test }: Predicate) {
  if (!isOwnField(field)) return null
  const { table, isOwn, holds } = ownRows[field](sql, viewer, test)
  // Looked up one by one: joined, all books would be read.
  const rows = sql`
    select y.id, y.series_id from (
      select o.book_id from ${table} o where ${isOwn} and ${holds} offset 0) o
    cross join lateral (
      select y.id, y.series_id from book y where y.id = o.book_id and ${presentBook(sql, 'y')}
      offset 0) y`
  return { holds: rows, fails: null, isCostly: true }
}

/** Ids of the books, missing ones, too; null for other predicates. */
export function ownBooks(sql: Queryable, viewer: Viewer, { field, test }: Predicate) {
  if (!isOwnField(field)) return null
  const { table, isOwn, holds } = ownRows[field](sql, viewer, test)
  return sql`select o.book_id from ${table} o where ${isOwn} and ${holds}`
}

/** In three-valued form (book-predicates.ts); null for other predicates. */
export function ownPredicate(sql: Queryable, viewer: Viewer, { field, test }: Predicate) {
  if (!isOwnField(field)) return null
  const { table, isOwn, holds } = ownRows[field](sql, viewer, test)
  return {
    definite: null,
    possible: sql`
      select y.series_id from ${table} o join book y on y.id = o.book_id where ${isOwn} and ${holds}`,
    exact: sql`((select ${holds} from ${table} o where ${isOwn} and o.book_id = b.id) is true)`,
  }
}
