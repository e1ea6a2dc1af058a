// Versions of what lists are made of: of the books and series of the catalogue, of the ratings of all accounts, and of what one account has
// read, rated and marked.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { BookField, SeriesField } from '../fields.ts'

/** What statements change: rows of books or of series, their order or who sees them; ratings of series. */
export type ListSubject = 'book' | 'series' | 'rating'

/**
 * An expression: which changes of a subject a statement sees. A crashed server may lose its last commits and
 * count other changes in their place: the time of its start is part of the version.
 */
export function listVersion(sql: Queryable, subject: ListSubject = 'book'): Fragment {
  return sql`(
    select coalesce(sum(count), 0) || ' ' || pg_postmaster_start_time()
    from list_change where subject = ${subject})`
}

/** Between two versions the server was started: transactions that the first has seen may be lost. */
export const isOtherStart = (version: string, other: string): boolean =>
  startOf(version) !== startOf(other)

const startOf = (version: string) => version.slice(version.indexOf(' '))

/** Of the rows that are listed, of books, of what belongs to the account, and of the ratings of all accounts. */
export type Versions = { rows: string; books: string; account: string; ratings: string }

/** An expression: the `Versions` that a statement sees, as JSON. */
export function listVersions(
  sql: Queryable,
  { accountId }: Viewer,
  subject: 'book' | 'series',
): Fragment {
  return sql`json_build_object(
    'rows', ${listVersion(sql, subject)}, 'books', ${listVersion(sql, 'book')},
    'ratings', ${listVersion(sql, 'rating')},
    'account', (
      select coalesce(sum(count), 0)::text from account_list_change where account_id = ${accountId}))`
}

/** An index in memory that was used since then follows the changes, which name books. */
const minCombinedMs = 2 * 60_000

/**
 * Replaces the rows of changes by one sum for each subject and account, and of collections and read lists; those that
 * name books, when they are older than `olderThanMs`.
 */
export async function combineListChanges(
  sql: Sql,
  { olderThanMs = minCombinedMs }: { olderThanMs?: number } = {},
): Promise<void> {
  await sql`
    with combined as (
      delete from list_change where changed_at <= now() - make_interval(secs => ${olderThanMs / 1000})
      returning subject, count, greatest(transaction_id, last_transaction_id) as last_id)
    insert into list_change (subject, count, last_transaction_id)
    select subject, sum(count), (array_agg(last_id order by last_id desc))[1]
    from combined group by subject`
  await sql`
    with combined as (delete from grouping_change returning count)
    insert into grouping_change select sum(count) from combined having count(*) > 0`
  await sql`
    with combined as (delete from account_list_change returning account_id, count)
    insert into account_list_change select account_id, sum(count) from combined
    where exists (select from account a where a.id = account_id) group by account_id`
}

/** Which version the values of a field belong to; null for none. */
type FieldVersion = keyof Versions | null

/** The viewers for whom values of this version are alike: the account, or those who see the same books of a series. */
export function ownerOf(version: FieldVersion, { accountId, ageLimit }: Viewer): string {
  if (version === 'account') return accountId
  return version === 'books' && ageLimit !== null ? `age ${ageLimit}` : ''
}

const ofBooks: Record<BookField, FieldVersion> = {
  libraryId: 'rows',
  seriesId: 'rows',
  genre: 'rows',
  tag: 'rows',
  title: 'rows',
  readStatus: 'account',
  hasError: 'rows',
  titleSort: 'rows',
  summary: 'rows',
  path: 'rows',
  bookType: 'rows',
  format: 'rows',
  pageCount: 'rows',
  releaseDate: 'rows',
  dateAdded: 'rows',
  addedAt: 'rows',
  lastReadAt: 'account',
  wantToRead: 'account',
  userRating: 'account',
  credit: 'rows',
  errorCode: 'rows',
  isbn: 'rows',
  isMissing: 'rows',
  numberSort: 'rows',
  oneShot: 'rows',
  ownTag: 'rows',
  inCollection: null,
  inReadList: null,
  poster: null,
  readListId: null,
  text: 'rows',
}

const ofSeries: Record<SeriesField, FieldVersion> = {
  libraryId: 'rows',
  genre: 'rows',
  tag: 'rows',
  anyTag: 'rows',
  status: 'rows',
  publisher: 'rows',
  language: 'rows',
  name: 'rows',
  title: 'rows',
  readStatus: 'account',
  titleSort: 'rows',
  summary: 'rows',
  author: 'rows',
  credit: 'rows',
  path: 'rows',
  year: 'rows',
  releaseDate: 'rows',
  firstRelease: 'rows',
  dateAdded: 'rows',
  addedAt: 'rows',
  lastReadAt: 'account',
  wantToRead: 'account',
  hasUserRating: 'account',
  userRating: 'account',
  communityRating: 'ratings',
  completion: 'rows',
  complete: 'rows',
  hasExternalSourceId: 'rows',
  sharingTag: 'rows',
  ageRating: 'rows',
  format: 'books',
  hasError: 'books',
  hasMissing: 'books',
  bookCount: 'books',
  pageCount: 'books',
  totalBookCount: 'rows',
  isMissing: 'rows',
  isTracked: 'rows',
  isUnchanged: 'rows',
  oneShot: 'rows',
  readingDirection: 'rows',
  inCollection: null,
  collectionId: null,
  text: null,
}

/** Of a field of a condition on books, or of the plan of one (`expand`). */
export function versionOfBookField(field: string): FieldVersion {
  return field === 'sortTitle' ? 'rows' : ofBooks[field as BookField]
}

/** Of a field of a condition on series. */
export function versionOfSeriesField(field: string): FieldVersion {
  return field === 'seriesId' ? 'rows' : ofSeries[field as SeriesField]
}
