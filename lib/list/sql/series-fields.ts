// Fields of series: the SQL of each predicate.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks, type Viewer } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { Condition, Predicate, SeriesFilter, Test } from '../condition.ts'
import type { SeriesField } from '../fields.ts'
import { bySeriesAuthor, bySeriesCredit, hasOwnLabel, labeledSeries } from './labels.ts'
import { type Column, columnTest, textTest, valueTest } from './operators.ts'
import { searchedSeries } from './search.ts'
import * as seen from './seen-books.ts'
import { type Context, existing, flag, type Match, where } from './where.ts'

const columns = {
  libraryId: sql => ({ text: sql`s.library_id::text` }),
  seriesId: sql => ({ text: sql`s.id::text` }),
  name: sql => ({ folded: sql`s.search_key` }),
  title: sql => ({ folded: sql`s.search_key` }),
  // Few have a title of their own for sorting; the folded form of others is stored.
  titleSort: sql => ({
    folded: sql`(case when s.title_sort is null then s.search_key else folded(s.title_sort) end)`,
  }),
  status: sql => ({ text: sql`s.status` }),
  publisher: sql => ({ text: sql`s.publisher` }),
  language: sql => ({ text: sql`s.language` }),
  summary: sql => ({ key: sql`s.summary_key` }),
  path: sql => ({ key: sql`s.folder_key` }),
  year: sql => ({ integer: sql`s.year` }),
  releaseDate: sql => ({ year: sql`s.year` }),
  dateAdded: sql => ({ date: sql`s.created_at` }),
  addedAt: sql => ({ date: sql`s.created_at` }),
  ageRating: sql => ({ integer: sql`s.age_rating` }),
  totalBookCount: sql => ({ integer: sql`s.total_volume_count` }),
  readingDirection: sql => ({ text: sql`s.reading_direction` }),
} as const satisfies Record<string, (sql: Queryable) => Column>

type OtherField = Exclude<SeriesField, keyof typeof columns>

const others: Record<OtherField, (context: Context, predicate: Predicate) => Match> = {
  genre: ({ sql }, predicate) =>
    existing(predicate.test, { ids: labeledSeries(sql, predicate, 'own') }),
  tag: ({ sql }, predicate) =>
    existing(predicate.test, { ids: labeledSeries(sql, predicate, 'own') }),
  anyTag: (context, predicate) =>
    existing(predicate.test, { ids: taggedSeries(context, predicate) }),
  text: searchedSeries,
  author: bySeriesAuthor,
  credit: bySeriesCredit,
  format: seen.byFormat,
  hasError: seen.byError,
  hasMissing: seen.byMissing,
  bookCount: seen.byBookCount,
  pageCount: seen.byPageCount,
  completion: seen.byCompleteness,
  complete: seen.byCompleteness,
  firstRelease: seen.byFirstRelease,
  readStatus: seen.byReadStatus,
  oneShot: ({ sql }, { test }) => flag(test, { test: sql`s.one_shot` }),
  isMissing: ({ sql }, { test }) => flag(test, { test: sql`s.book_count = 0` }),
  // In whole seconds, as some clients see both times.
  isUnchanged: ({ sql }, { test }) =>
    flag(test, {
      test: sql`
        date_trunc('second', s.updated_at at time zone 'UTC')
          = date_trunc('second', s.created_at at time zone 'UTC')`,
    }),
  isTracked: ({ sql }, { test }) =>
    flag(test, { ids: sql`select t.series_id from series_tracking t where t.tracked` }),
  hasExternalSourceId: ({ sql }, { test }) =>
    flag(test, {
      ids: sql`select e.series_id from external_reference e where e.kind = 'id' and e.series_id is not null`,
    }),
  lastReadAt: ({ sql, viewer }, { test }) =>
    existing(test, {
      ids: sql`
        select r.series_id from series_reading r
        where r.account_id = ${viewer.accountId}
          and ${valueTest(sql, { date: sql`r.last_read_at` }, test)}`,
    }),
  wantToRead: ({ sql, viewer }, { test }) =>
    flag(test, {
      ids: sql`
        select w.series_id from want_to_read w
        where w.account_id = ${viewer.accountId} and w.series_id is not null`,
    }),
  hasUserRating: ({ sql, viewer }, { test }) => flag(test, { ids: ratedSeries(sql, viewer, test) }),
  userRating: ({ sql, viewer }, { test }) =>
    existing(test, { ids: ratedSeries(sql, viewer, test) }),
  communityRating: ({ sql }, { test }) =>
    existing(test, {
      ids: sql`
        select u.series_id from user_rating u group by u.series_id
        having ${valueTest(sql, { number: sql`avg(u.rating)` }, test)}`,
    }),
  inCollection: ({ sql }, { test }) => flag(test, { ids: collectedSeries(sql) }),
  collectionId: ({ sql }, { test }) => ({
    ids: sql`
      select y.series_id from collection_series y
      where y.collection_id = any(${test.kind === 'ids' ? test.ids : []}::uuid[])`,
  }),
  sharingTag: ({ sql }, { test }) =>
    existing(test, {
      ids: sql`
        select y.series_id from series_sharing_tag y join sharing_tag t on t.id = y.tag_id
        where ${test.kind === 'text' ? textTest(sql, sql`folded(t.name)`, test) : sql`true`}`,
    }),
}

export function seriesMatch(context: Context, predicate: Predicate): Match {
  const { sql } = context
  const { field, test } = predicate
  if (test.kind === 'ids' && (field === 'libraryId' || field === 'seriesId'))
    return {
      test: sql`s.${sql(field === 'libraryId' ? 'library_id' : 'id')} = any(${test.ids}::uuid[])`,
    }
  const column = Object.hasOwn(columns, field) && columns[field as keyof typeof columns](sql)
  if (column) return { test: columnTest(sql, column, test) }
  return others[field as OtherField](context, predicate)
}

/** On `series s`. */
export const seriesWhere = (context: Context, condition: Condition): Fragment =>
  where(context, { row: 's', matchOf: seriesMatch }, condition)

/** Series that the account of the viewer has rated so. */
export const ratedSeries = (sql: Queryable, { accountId }: Viewer, test: Test): Fragment => sql`
  select u.series_id from user_rating u
  where u.account_id = ${accountId} and ${valueTest(sql, { integer: sql`u.rating` }, test)}`

/** Series that are in a collection without a rule. */
export const collectedSeries = (sql: Queryable): Fragment => sql`
  select y.series_id from collection_series y
  where y.collection_id not in (select c.id from collection c where c.rule is not null)`

/** Series with one of the tags, of their own or of books that the viewer sees. */
function taggedSeries({ sql, viewer }: Context, predicate: Predicate): Fragment {
  const tagged = labeledSeries(sql, predicate, 'any')
  if (!hidesBooks(viewer)) return tagged
  return sql`
    select t.series_id from (${tagged}) t
    where t.series_id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
      or t.series_id in (${labeledSeries(sql, predicate, 'own')})
      or exists (
        select from book y
        where y.series_id = t.series_id and ${seen.isSeenBook(sql, viewer)}
          and ${hasOwnLabel(sql, predicate, 'y')})`
}

/** The series that are listed beside their condition. */
export type SeriesScope = {
  filter: SeriesFilter | null
  libraryId?: string | undefined
  /** Leaves out series all of whose books are hidden from the viewer by their own age ratings. */
  onlyWithVisibleBooks?: boolean | undefined
  /** Also series all of whose books are missing. */
  includeDeleted?: boolean | undefined
}
