// Versions of what lists are made of: of the books and series of the catalog, of the ratings of all accounts, and of what one account has
// read, rated and marked.
import type { Fragment, Sql } from 'postgres'
import { hidesBooks, type Viewer } from '../accounts/viewer.ts'
import type { Queryable } from '../store/postgres/db.ts'
import type { BookField, SeriesField } from './fields.ts'

/**
 * What statements change: rows of books or of series, their order or who sees them; ratings of series; names of labels;
 * members of collections and read lists. The rules at the end of sql/0001_baseline.sql have which columns belong to which.
 */
export type ListSubject = 'book' | 'series' | 'rating' | 'label' | 'grouping'

/**
 * An expression: which changes of a subject a statement sees. A crashed server may lose its last commits and
 * count other changes in their place: the times of its start and of its last recovery, which resets statistics, are part of the version.
 */
export function listVersion(sql: Queryable, subject: ListSubject = 'book'): Fragment {
  return sql`(
    select concat_ws(' ', coalesce(sum(count), 0), pg_postmaster_start_time(),
      pg_stat_get_bgwriter_stat_reset_time())
    from list_change where subject = ${subject})`
}

/** How many changes are between two versions; null if the server was started in between: what the first saw may be lost. */
export function changesBetween(before: string, after: string): number | null {
  const [[first, start], [last, otherStart]] = [partsOf(before), partsOf(after)]
  return start === otherStart ? Number(last) - Number(first) : null
}

function partsOf(version: string): [count: string, start: string] {
  const end = version.indexOf(' ')
  return [version.slice(0, end), version.slice(end)]
}

/** Versions of the rows that are listed, of books, of what belongs to the account, of the ratings of all accounts, and of labels. */
export type Versions = {
  rows: string
  books: string
  account: string
  ratings: string
  labels: string
  /** Rows, books and the account together. */
  all: string
}

/** An expression: the `Versions` that a statement sees, as JSON. */
export function listVersions(
  sql: Queryable,
  { accountId }: Viewer,
  subject: 'book' | 'series',
): Fragment {
  return sql`(
    select json_build_object('rows', v.rows, 'books', v.books, 'account', v.account,
      'ratings', ${listVersion(sql, 'rating')}, 'labels', ${listVersion(sql, 'label')},
      'all', concat_ws(' ', v.rows, v.books, v.account))
    from (
      select ${listVersion(sql, subject)} as rows, ${listVersion(sql, 'book')} as books, (
        select coalesce(sum(count), 0)::text from account_list_change
        where account_id = ${accountId}) as account) v)`
}

/** Rows are combined when they are older: an index in memory that was used since then follows them. */
const minCombinedMs = 2 * 60_000
/** Rows that name books while there are few rows: an index at rest since then follows them, too. */
const minFewCombinedMs = 24 * 60 * 60_000
const fewRows = 500

/**
 * Replaces the rows of changes by one sum for each subject and account. Those of subjects if they are older than
 * `olderThanMs`, by default 2 minutes, or 24 hours for rows that name books while the table has at most 500 rows; or those
 * that a snapshot of PostgreSQL sees.
 */
export async function combineListChanges(
  sql: Sql,
  { olderThanMs, seenBy }: { olderThanMs?: number; seenBy?: string } = {},
): Promise<void> {
  const isFew = sql`(
    subject = 'book' and transaction_id is not null and (select count(*) from list_change) <= ${fewRows})`
  const ms =
    olderThanMs ?? sql`case when ${isFew} then ${minFewCombinedMs} else ${minCombinedMs} end`
  const isCombined = seenBy
    ? sql`(transaction_id is null or pg_visible_in_snapshot(transaction_id, ${seenBy}::pg_snapshot))`
    : sql`changed_at <= now() - make_interval(secs => (${ms})::float8 / 1000)`
  await sql`
    with combined as (delete from list_change where ${isCombined} returning subject, count)
    insert into list_change (subject, count, transaction_id)
    select subject, sum(count), null from combined group by subject`
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
  if (version === 'all') return `${accountId} age ${ageLimit}`
  return version === 'books' && ageLimit !== null ? `age ${ageLimit}` : ''
}

const versionsOf = <Field extends string>(
  fields: Partial<Record<keyof Versions | 'none', readonly Field[]>>,
): ReadonlyMap<string, FieldVersion> =>
  new Map(
    Object.entries(fields).flatMap(([version, names]) =>
      names.map(name => [name, version === 'none' ? null : (version as keyof Versions)] as const),
    ),
  )

// Values of other fields change with the rows of the list (test/list/changes.test.ts).
const ofBooks = versionsOf<BookField>({
  labels: ['genre', 'tag', 'ownTag'],
  account: ['readStatus', 'lastReadAt', 'wantToRead', 'userRating'],
  none: ['inCollection', 'inReadList', 'poster', 'readListId'],
})
const ofSeries = versionsOf<SeriesField>({
  account: ['readStatus', 'lastReadAt', 'wantToRead', 'hasUserRating', 'userRating'],
  ratings: ['communityRating'],
  books: ['completion', 'complete', 'format', 'hasError', 'hasMissing', 'bookCount', 'pageCount'],
  none: ['inCollection', 'collectionId'],
})

/** For a field of a condition on books. */
export const versionOfBookField = (field: string): FieldVersion => versionIn(ofBooks, field)

// Computed from the books of a series that the viewer sees.
const ofSeenBooks = ['anyTag', 'author', 'credit', 'firstRelease', 'readStatus']

/** For a field of a condition on series. */
export function versionOfSeriesField(field: string, viewer: Viewer): FieldVersion {
  if (hidesBooks(viewer) && ofSeenBooks.includes(field)) return 'all'
  if (hidesBooks(viewer) && field === 'text') return 'books'
  return versionIn(ofSeries, field)
}

function versionIn(versions: typeof ofBooks, field: string): FieldVersion {
  const version = versions.get(field)
  return version === undefined ? 'rows' : version
}
