// Fields of books: the SQL of each predicate.
import type { Fragment } from 'postgres'
import { formatNames } from '../../media/format/formats.ts'
import { bookTypes } from '../../media/metadata/values.ts'
import { lowerAscii } from '../../media/name/text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { BookFilter, Condition, Predicate, Test } from '../condition.ts'
import type { BookField } from '../fields.ts'
import {
  booksAmong,
  byBookAuthor,
  creditedBooks,
  hasOwnLabel,
  labeledBooks,
  labeledSeries,
} from './labels.ts'
import { type Column, columnTest, matchingWords, textOperators, valueTest } from './operators.ts'
import { searchedBooks } from './search.ts'
import { collectedSeries, ratedSeries } from './series-fields.ts'
import { type Context, existing, flag, type Match, where } from './where.ts'

type Columns = Record<string, (sql: Queryable) => Column>

/** `sortTitle`: the sort title that the book itself has, a part of `titleSort`. */
const columns = {
  libraryId: sql => ({ text: sql`b.library_id::text` }),
  seriesId: sql => ({ text: sql`b.series_id::text` }),
  title: sql => ({ folded: sql`b.search_key` }),
  sortTitle: sql => ({ text: sql`b.title_sort` }),
  summary: sql => ({ text: sql`b.summary` }),
  bookType: sql => ({ text: sql`(b.extra_metadata->>'bookType')` }),
  format: sql => ({ text: sql`b.format` }),
  pageCount: sql => ({ integer: sql`b.page_count` }),
  releaseDate: sql => ({ day: sql`b.released` }),
  dateAdded: sql => ({ date: sql`b.created_at` }),
  addedAt: sql => ({ date: sql`b.created_at` }),
  numberSort: sql => ({ number: sql`b.number_sort` }),
  errorCode: sql => ({ text: sql`b.error_code` }),
  isbn: sql => ({ text: sql`b.isbn` }),
} as const satisfies Columns

/** All values of a column: a test of its text is one for the words that match. */
const wordsOf: Record<string, readonly string[]> = { bookType: bookTypes, format: formatNames }

/** On `book b`; null for a field that is no column. */
export function bookColumnTest(sql: Queryable, { field, test }: Predicate) {
  if (!Object.hasOwn(columns, field)) return null
  const column = (columns as Columns)[field]!(sql)
  const words = wordsOf[field]
  if (!words || test.kind !== 'text') return columnTest(sql, column, test)
  return columnTest(sql, column, { kind: 'words', words: matchingWords(words, test) })
}

type OtherField = Exclude<BookField, keyof typeof columns | 'titleSort'>

const others: Record<OtherField, (context: Context, predicate: Predicate) => Match> = {
  genre: labeledBooks,
  tag: labeledBooks,
  ownTag: (context, predicate) => {
    const { sql } = context
    const series = labeledSeries(sql, predicate, 'any')
    const has = (book: string) => hasOwnLabel(sql, predicate, book)
    return existing(predicate.test, booksAmong(context, series, has))
  },
  author: byBookAuthor,
  credit: creditedBooks,
  text: searchedBooks,
  path: ({ sql, includesMissing }, { test }) => ({
    ids: sql`
      select y.id from directory d join book y on y.directory_id = d.id
      where ${includesMissing ? sql`true` : sql`y.missing_at is null`} and ${pathTest(sql, test)}`,
  }),
  hasError: ({ sql }, { test }) => flag(test, { test: sql`b.error_code is not null` }),
  isMissing: ({ sql }, { test }) => flag(test, { test: sql`b.missing_at is not null` }),
  poster: ({ sql }, { test }) => ({ test: posterTest(sql, test) }),
  readStatus: ({ sql, viewer }, { test }) => {
    if (test.kind !== 'status') return { test: sql`false` }
    const holds = {
      read: sql`p.is_completed`,
      in_progress: sql`not p.is_completed and p.current_page > 0`,
      unread: sql`(p.is_completed or p.current_page > 0)`,
    }[test.status]
    return {
      ids: sql`
        select p.book_id from progress p where p.account_id = ${viewer.accountId} and ${holds}`,
      isNegated: test.status === 'unread',
    }
  },
  lastReadAt: ({ sql, viewer }, { test }) =>
    existing(test, {
      ids: sql`
        select p.book_id from progress p
        where p.account_id = ${viewer.accountId} and ${valueTest(sql, { date: sql`p.updated_at` }, test)}`,
    }),
  wantToRead: ({ sql, viewer }, { test }) =>
    flag(test, {
      ids: sql`
        select w.book_id from want_to_read w
        where w.account_id = ${viewer.accountId} and w.book_id is not null`,
    }),
  inReadList: ({ sql }, { test }) =>
    flag(test, { ids: sql`select distinct r.book_id from read_list_book r` }),
  readListId: ({ sql }, { test }) => ({
    ids: sql`
      select distinct r.book_id from read_list_book r
      where r.read_list_id = any(${test.kind === 'ids' ? test.ids : []}::uuid[])`,
  }),
  userRating: ({ sql, viewer }, { test }) =>
    existing(test, { series: ratedSeries(sql, viewer, test) }),
  inCollection: ({ sql }, { test }) => flag(test, { series: collectedSeries(sql) }),
  oneShot: ({ sql }, { test }) =>
    flag(test, { series: sql`select x.id from series x where x.one_shot` }),
}

export function bookMatch(context: Context, predicate: Predicate): Match {
  const { sql, includesMissing } = context
  const { field, test } = predicate
  if (test.kind === 'ids' && (field === 'libraryId' || field === 'seriesId'))
    return {
      test: sql`b.${sql(field === 'libraryId' ? 'library_id' : 'series_id')} = any(${test.ids}::uuid[])`,
    }
  if (field === 'summary' && test.kind !== 'null') {
    const isListed = includesMissing ? sql`true` : sql`t.is_present`
    const holds = columnTest(sql, { key: sql`t.key` }, test)
    return { ids: sql`select t.book_id from book_summary t where ${isListed} and ${holds}` }
  }
  const column = bookColumnTest(sql, predicate)
  return column ? { test: column } : others[field as OtherField](context, predicate)
}

/** On `book b`. */
export const booksWhere = (context: Context, condition: Condition): Fragment =>
  where(context, { row: 'b', matchOf: bookMatch }, expand(condition))

/** The condition in terms of stored columns. */
export function expand(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(expand) }
  if ('any' in condition) return { any: condition.any.map(expand) }
  return condition.field === 'titleSort' ? sortTitleCondition(condition) : condition
}

/** A test of the title by which a book is sorted: its sort title, or else its title. */
function sortTitleCondition({ test, negated }: Predicate): Condition {
  if (test.kind === 'null') return negated ? { all: [] } : { any: [] }
  const own: Predicate = { field: 'sortTitle', test, negated }
  const title: Predicate = { field: 'title', test, negated }
  const hasNone: Predicate = { field: 'sortTitle', test: { kind: 'null' }, negated }
  if (!negated) return { any: [{ all: [title, hasNone] }, own] }
  return { all: [{ any: [title, hasNone] }, own] }
}

/** The books that are listed beside their condition. */
export type BookScope = {
  filter: BookFilter | null
  libraryId?: string | undefined
  seriesId?: string | undefined
  /** Missing books, too. */
  includeDeleted?: boolean | undefined
}

/** Paths are bytes, compared as characters of Latin-1; only letters of ASCII without case. */
function pathTest(sql: Queryable, test: Test): Fragment {
  if (test.kind !== 'text') return sql`false`
  const path = sql`d.path || case when d.path = '' then '' else '/' end::bytea || y.name`
  const folded = sql`lower(convert_from(${path}, 'LATIN1') collate "C")`
  const key = Buffer.from(lowerAscii(test.value)).toString('latin1')
  return textOperators[test.operator].sql(sql, folded, key)
}

function posterTest(sql: Queryable, test: Test): Fragment {
  if (test.kind !== 'poster') return sql`false`
  const { source, isSelected } = test
  const isGenerated = sql`(
    exists (select from book_artifact a where a.book_id = b.id and a.cover is not null)
    and ${isSelected === null ? sql`true` : sql`(b.custom_cover is null) = ${isSelected}`})`
  const isUploaded = sql`exists (
    select from cover c
    where c.book_id = b.id
      and ${isSelected === null ? sql`true` : sql`c.is_selected = ${isSelected}`})`
  if (source === 'generated') return isGenerated
  return source === 'uploaded' ? isUploaded : sql`(${isGenerated} or ${isUploaded})`
}
