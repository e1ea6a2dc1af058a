// Groupings: collections of series and read lists of books. Their tables, their events, and which members an
// account sees.
import type { Fragment } from 'postgres'
import {
  beyondAge,
  hasVisibleBook,
  hidesBooks,
  isLimited,
  isUnrestricted,
  type Viewer,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import type { EntityType } from '../../store/event/publish.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf } from '../../store/postgres/statement.ts'

export type Grouping = {
  /** Used in messages. */
  name: 'Collection' | 'Read list'
  table: 'collection' | 'read_list'
  /** The members table, with its columns for the grouping and the member. */
  members: 'collection_series' | 'read_list_book'
  owner: 'collection_id' | 'read_list_id'
  member: 'series_id' | 'book_id'
  /** The field of events that names the members. */
  contents: 'series' | 'books'
  idKey: 'collectionId' | 'readListId'
  events: { created: EntityType; updated: EntityType; deleted: EntityType }
  /** A condition on `members m`: the viewer sees it, and its files are not missing. */
  isShown: (sql: Queryable, viewer: Viewer) => Fragment
  /** Query for those of the ids that exist and are visible, which protects them from deletion. */
  visibleIds: (sql: Queryable, viewer: Viewer, ids: readonly string[]) => Fragment
}

export const collections: Grouping = {
  name: 'Collection',
  table: 'collection',
  members: 'collection_series',
  owner: 'collection_id',
  member: 'series_id',
  contents: 'series',
  idKey: 'collectionId',
  events: {
    created: 'collection_created',
    updated: 'collection_updated',
    deleted: 'collection_deleted',
  },
  isShown: (sql, viewer) =>
    isUnrestricted(viewer)
      ? // Few series have no books.
        sql`(m.series_id in (select s.id from series s where s.book_count = 0)) is not true`
      : sql`(m.series_id in (${shownSeries(sql, viewer)})) is true`,
  visibleIds: (sql, viewer, ids) => sql`
    select s.id from series s
    where s.id = any(${ids as string[]}::uuid[]) and ${visibleSeries(sql, viewer)}
    order by s.id for key share of s`,
}

export const readLists: Grouping = {
  name: 'Read list',
  table: 'read_list',
  members: 'read_list_book',
  owner: 'read_list_id',
  member: 'book_id',
  contents: 'books',
  idKey: 'readListId',
  events: {
    created: 'read_list_created',
    updated: 'read_list_updated',
    deleted: 'read_list_deleted',
  },
  // The member rows contain what is needed, so that no book is read.
  isShown: (sql, viewer) =>
    allOf(sql, [
      sql`m.is_present`,
      ...(hidesBooks(viewer) ? [sql`(${beyondAge(sql, viewer, 'm')}) is not true`] : []),
      ...(isUnrestricted(viewer)
        ? []
        : [sql`(m.series_id in (${visibleSeriesIds(sql, viewer)})) is true`]),
    ]),
  visibleIds: (sql, viewer, ids) => sql`
    select b.id from book b
    where b.id = any(${ids as string[]}::uuid[]) and ${isVisibleBook(sql, viewer)}
    order by b.id for key share of b`,
}

/** Ids of the series that the viewer can browse. */
function shownSeries(sql: Queryable, viewer: Viewer): Fragment {
  return sql`select s.id from series s where ${isShownSeries(sql, viewer)}`
}

/** A condition on `series s`: the viewer can browse it. */
export function isShownSeries(sql: Queryable, viewer: Viewer): Fragment {
  return sql`(s.book_count > 0 and ${visibleSeries(sql, viewer)} and ${hasVisibleBook(sql, viewer)})`
}

/** A condition on `book b`. */
function isVisibleBook(sql: Queryable, viewer: Viewer): Fragment {
  if (isUnrestricted(viewer)) return sql`true`
  return allOf(sql, [
    ...(hidesBooks(viewer) ? [sql`(${beyondAge(sql, viewer)}) is not true`] : []),
    sql`(b.series_id in (select s.id from series s where ${visibleSeries(sql, viewer)})) is true`,
  ])
}

/** Only series with present books, which have an index. A set, computed once for all members. */
const visibleSeriesIds = (sql: Queryable, viewer: Viewer) =>
  sql`select s.id from series s where s.book_count > 0 and ${visibleSeries(sql, viewer)}`

/** Whether nothing is hidden from the account: it also sees groupings without members. */
export const seesEverything = (viewer: Viewer): boolean =>
  isUnrestricted(viewer) || (viewer.hasAllLibraries === true && !isLimited(viewer))

/** Names of the tables and columns for use in statements. */
export function tablesOf(sql: Queryable, { table, members, owner, member }: Grouping) {
  return { c: sql(table), m: sql(members), owner: sql(owner), member: sql(member) }
}

export const groupingNotFound = ({ name }: Grouping) => new NotFound(`${name} not found`)
