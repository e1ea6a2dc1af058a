// Predicates on series as subqueries of series ids. PostgreSQL hashes such a set once and probes it for
// each series or book of a walk; each set is read from the narrowest index that has its column.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../../auth/viewer.ts'
import { parseSearchQuery } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Condition, Predicate } from '../condition.ts'
import type { SeriesField } from '../fields.ts'
import { labelKindOf } from './labels.ts'
import { type Column, columnTest, textTest } from './operators.ts'
import { type PlanContext, seriesWhere } from './plan-context.ts'
import { searchedSeries } from './searched-series.ts'
import { seriesOfAuthor, seriesOfCredit } from './series-authors.ts'
import { type BooksField, isOfBooks, isSeenBook, setOfBooks } from './series-of-books.ts'

type SetField =
  | ('genre' | 'tag' | 'anyTag' | 'hasExternalSourceId' | 'isTracked')
  | ('inCollection' | 'collectionId')
type FlagField = 'oneShot' | 'isMissing' | 'isUnchanged'
/** Of the account of the viewer, or of all accounts. */
type OwnField = 'lastReadAt' | 'wantToRead' | 'hasUserRating' | 'userRating' | 'communityRating'
type ColumnField =
  | Exclude<
      SeriesField,
      | SetField
      | BooksField
      | FlagField
      | OwnField
      | ('readStatus' | 'sharingTag' | 'author' | 'credit' | 'text')
    >
  | 'seriesId'

const columns: Record<ColumnField, (sql: Queryable) => Column> = {
  libraryId: sql => ({ text: sql`x.library_id::text` }),
  seriesId: sql => ({ text: sql`x.id::text` }),
  name: sql => ({ folded: sql`x.search_key` }),
  title: sql => ({ folded: sql`x.search_key` }),
  // Few have a title of their own for sorting; the folded form of others is stored.
  titleSort: sql => ({
    folded: sql`(case when x.title_sort is null then x.search_key else folded(x.title_sort) end)`,
  }),
  status: sql => ({ text: sql`x.status` }),
  publisher: sql => ({ text: sql`x.publisher` }),
  language: sql => ({ text: sql`x.language` }),
  summary: sql => ({ key: sql`x.summary_key` }),
  path: sql => ({ key: sql`x.folder_key` }),
  year: sql => ({ integer: sql`x.year` }),
  releaseDate: sql => ({ year: sql`x.year` }),
  dateAdded: sql => ({ date: sql`x.created_at` }),
  addedAt: sql => ({ date: sql`x.created_at` }),
  ageRating: sql => ({ integer: sql`x.age_rating` }),
  totalBookCount: sql => ({ integer: sql`x.total_volume_count` }),
  readingDirection: sql => ({ text: sql`x.reading_direction` }),
}

/** Each null where it is not known. */
const flags: Record<FlagField, (sql: Queryable) => Fragment> = {
  oneShot: sql => sql`x.one_shot`,
  isMissing: sql => sql`(x.book_count = 0)`,
  // In whole seconds, as some clients see both times.
  isUnchanged: sql => sql`(
    date_trunc('second', x.updated_at at time zone 'UTC')
      = date_trunc('second', x.created_at at time zone 'UTC'))`,
}

/** Ids of the series for which the positive form of a predicate on series columns or labels holds. */
export function seriesSet(context: PlanContext, predicate: Predicate): Fragment {
  const { sql } = context
  const { field, test } = predicate
  if (test.kind === 'null' && field === 'libraryId') return seriesWhere(context, sql`false`)
  if (test.kind === 'ids' && field === 'collectionId')
    return sql`
      select y.series_id from collection_series y
      where y.collection_id = any(${test.ids}::uuid[])`
  if (test.kind === 'ids') {
    const column = field === 'libraryId' ? sql`x.library_id` : sql`x.id`
    return seriesWhere(context, sql`${column} = any(${test.ids}::uuid[])`)
  }
  if (test.kind === 'credit') return seriesOfCredit(context, test)
  if (test.kind === 'boolean' && Object.hasOwn(flags, field)) {
    const flag = flags[field as FlagField](sql)
    return seriesWhere(context, test.value ? flag : sql`not ${flag}`)
  }
  if (isOfBooks(field)) return setOfBooks(context, field, test)
  switch (field) {
    case 'genre':
    case 'tag':
      return labelSet(context, predicate, 'own')
    case 'anyTag':
      return anyTagSet(context, predicate)
    case 'text': {
      const search = test.kind === 'text' ? parseSearchQuery(test.value) : null
      if (!search) return seriesWhere(context, sql`false`)
      return sql`select t.series_id from (${searchedSeries(context, search)}) t`
    }
    case 'hasExternalSourceId': {
      const hasId = sql`exists (
        select from external_reference e where e.series_id = x.id and e.kind = 'id')`
      return seriesWhere(context, test.kind === 'boolean' && test.value ? hasId : sql`not ${hasId}`)
    }
    case 'isTracked':
      return sql`select t.series_id from series_tracking t where t.tracked`
    case 'lastReadAt':
      return sql`
        select r.series_id from series_reading r
        where r.account_id = ${context.viewer.accountId}
          and ${existingTest(sql, { date: sql`r.last_read_at` }, test)}`
    case 'wantToRead':
      return sql`
        select w.series_id from want_to_read w
        where w.account_id = ${context.viewer.accountId} and w.series_id is not null`
    case 'hasUserRating':
    case 'userRating':
      return sql`
        select u.series_id from user_rating u
        where u.account_id = ${context.viewer.accountId}
          and ${existingTest(sql, { integer: sql`u.rating` }, test)}`
    case 'communityRating':
      return sql`
        select u.series_id from user_rating u group by u.series_id
        having ${existingTest(sql, { number: sql`avg(u.rating)` }, test)}`
    case 'inCollection':
      return sql`
        select y.series_id from collection_series y
        where y.collection_id not in (select c.id from collection c where c.rule is not null)`
    case 'sharingTag':
      return sharingTagSet(context, test)
    case 'author':
      return seriesOfAuthor(context, test)
    default:
      return seriesWhere(context, columnTest(sql, columns[field as ColumnField](sql), test))
  }
}

/** Series with one of the tags, of their own or of books that the viewer sees. */
function anyTagSet(context: PlanContext, predicate: Predicate): Fragment {
  const { sql, viewer, labels } = context
  const tagged = labelSet(context, predicate, 'any')
  if (!hidesBooks(viewer)) return tagged
  const isTagged =
    predicate.test.kind === 'null'
      ? sql`y.tags <> '{}'`
      : sql`y.tags && ${labels(predicate).spellings}::text[]`
  return sql`
    select t.series_id from (${tagged}) t
    where t.series_id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
      or t.series_id in (${labelSet(context, predicate, 'own')})
      or exists (
        select from book y
        where y.series_id = t.series_id and ${isSeenBook(sql, viewer)} and ${isTagged})`
}

/** Series with one of the labels of their own, or, for `any`, also through some of their books. */
export function labelSet(
  { sql, labels }: PlanContext,
  predicate: Predicate,
  source: 'own' | 'any',
): Fragment {
  const isOwn = source === 'own' ? sql`and y.is_own` : sql``
  if (predicate.test.kind === 'null') {
    return sql`
      select y.series_id from series_label y join label l on l.id = y.label_id
      where l.kind = ${labelKindOf(predicate)!} ${isOwn}`
  }
  return sql`
    select y.series_id from series_label y
    where y.label_id = any(${labels(predicate).ids}::uuid[]) ${isOwn}`
}

/**
 * Inverts predicates whose positive form matches nearly everything, because the rare values have an
 * index: "has no label" becomes "not: has a label" (a null test then stands for "has a label"), "has no
 * error" becomes "not: has an error".
 */
export function toRarePredicate(predicate: Predicate): Predicate {
  const { field, test, negated } = predicate
  if (rareFlags.includes(field) && test.kind === 'boolean' && !test.value)
    return { ...predicate, test: { kind: 'boolean', value: true }, negated: !negated }
  if (oftenNull.includes(field) && test.kind === 'null') return { ...predicate, negated: !negated }
  return predicate
}

/** With predicates as toRarePredicate makes them. */
export function withRarePredicates(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(withRarePredicates) }
  if ('any' in condition) return { any: condition.any.map(withRarePredicates) }
  return toRarePredicate(condition)
}

const rareFlags = [
  ...['hasError', 'wantToRead', 'hasUserRating', 'inCollection', 'inReadList'],
  ...['oneShot', 'isMissing', 'isUnchanged', 'isTracked', 'hasMissing'],
]
const oftenNull = [
  ...['genre', 'tag', 'anyTag', 'ownTag', 'sharingTag', 'author'],
  ...['lastReadAt', 'userRating', 'communityRating', 'isTracked'],
]

/** On rows that exist only where there is a value. */
function existingTest(sql: Queryable, column: Column, test: Predicate['test']): Fragment {
  return test.kind === 'null' || test.kind === 'boolean' ? sql`true` : columnTest(sql, column, test)
}

function sharingTagSet({ sql }: PlanContext, test: Predicate['test']): Fragment {
  if (test.kind !== 'text') return sql`select y.series_id from series_sharing_tag y`
  return sql`
    select y.series_id from series_sharing_tag y join sharing_tag t on t.id = y.tag_id
    where ${textTest(sql, sql`folded(t.name)`, test)}`
}
