// Versions of what lists are made of: of the catalogue, and of what an account has read, rated and marked.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { BookField } from '../fields.ts'

/**
 * An expression: which changes of books, their order and their visibility a statement sees. A crashed server may
 * lose its last commits and count other changes in their place: the time of its start is part of the version.
 */
export function listVersion(sql: Queryable): Fragment {
  return sql`(
    select coalesce(sum(count), 0) || ' ' || pg_postmaster_start_time() from list_change)`
}

/** An expression: which changes of what belongs to the account a statement sees. */
export function accountVersion(sql: Queryable, { accountId }: Viewer): Fragment {
  return sql`(
    select coalesce(sum(count), 0)::text from account_list_change where account_id = ${accountId})`
}

/** Replaces the rows of changes by one with their sum, of collections and read lists, too, and for each account. */
export async function combineListChanges(sql: Sql): Promise<void> {
  await sql`
    with combined as (delete from list_change returning count)
    insert into list_change select sum(count) from combined having count(*) > 0`
  await sql`
    with combined as (delete from grouping_change returning count)
    insert into grouping_change select sum(count) from combined having count(*) > 0`
  await sql`
    with combined as (delete from account_list_change returning account_id, count)
    insert into account_list_change select account_id, sum(count) from combined
    where exists (select from account a where a.id = account_id) group by account_id`
}

/** Which version the values of a field belong to; null for none. */
const versions: Record<BookField, 'catalogue' | 'account' | null> = {
  libraryId: 'catalogue',
  seriesId: 'catalogue',
  genre: 'catalogue',
  tag: 'catalogue',
  title: 'catalogue',
  readStatus: 'account',
  hasError: 'catalogue',
  titleSort: 'catalogue',
  summary: 'catalogue',
  path: 'catalogue',
  bookType: 'catalogue',
  format: 'catalogue',
  pageCount: 'catalogue',
  releaseDate: 'catalogue',
  dateAdded: 'catalogue',
  addedAt: 'catalogue',
  lastReadAt: 'account',
  wantToRead: 'account',
  userRating: 'account',
  credit: 'catalogue',
  errorCode: 'catalogue',
  isbn: 'catalogue',
  isMissing: 'catalogue',
  numberSort: 'catalogue',
  oneShot: 'catalogue',
  ownTag: 'catalogue',
  inCollection: null,
  inReadList: null,
  poster: null,
  readListId: null,
  text: null,
}

/** Of a field of a condition, or of the plan of one (`expand`). */
export function versionOfField(field: string): 'catalogue' | 'account' | null {
  return field === 'sortTitle' ? 'catalogue' : versions[field as BookField]
}
