// Columns of books that conditions compare, and their tests.
import type { Fragment } from 'postgres'
import { formatNames } from '../../../format/formats.ts'
import { bookTypes } from '../../../metadata/values.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Condition, Predicate } from '../condition.ts'
import type { BookField } from '../fields.ts'
import { type Column, columnTest, wordTest } from './operators.ts'
import type { OwnField } from './own-rows.ts'

type SetField =
  | 'libraryId'
  | 'seriesId'
  | 'genre'
  | 'tag'
  | 'userRating'
  | 'inCollection'
  | 'oneShot'
type RowField = 'hasError' | 'path' | 'ownTag' | 'credit' | 'poster' | 'isMissing' | 'text'
/** `sortTitle`: the sort title that the book itself has, a part of `titleSort`. */
type ColumnField =
  | Exclude<BookField, SetField | RowField | OwnField | 'readStatus' | 'titleSort'>
  | 'sortTitle'
type BookColumn = {
  of: (sql: Queryable, alias: string) => Column
  isNullable: boolean
  /** All values. */
  words?: readonly string[]
  /** The folded text, where it is stored. */
  key?: (sql: Queryable, alias: string) => Fragment
}

const columns: Record<ColumnField, BookColumn> = {
  title: { of: (sql, y) => ({ folded: sql`${sql(y)}.search_key` }), isNullable: false },
  sortTitle: { of: (sql, y) => ({ text: sql`${sql(y)}.title_sort` }), isNullable: true },
  summary: {
    of: (sql, y) => ({ text: sql`${sql(y)}.summary` }),
    isNullable: true,
    key: (sql, y) => sql`(select t.key from book_summary t where t.book_id = ${sql(y)}.id)`,
  },
  bookType: {
    of: (sql, y) => ({ text: sql`(${sql(y)}.extra_metadata->>'bookType')` }),
    isNullable: true,
    words: bookTypes,
  },
  format: {
    of: (sql, y) => ({ text: sql`${sql(y)}.format` }),
    isNullable: true,
    words: formatNames,
  },
  pageCount: { of: (sql, y) => ({ integer: sql`${sql(y)}.page_count` }), isNullable: false },
  releaseDate: { of: (sql, y) => ({ day: sql`${sql(y)}.released` }), isNullable: true },
  dateAdded: { of: (sql, y) => ({ date: sql`${sql(y)}.created_at` }), isNullable: false },
  addedAt: { of: (sql, y) => ({ date: sql`${sql(y)}.created_at` }), isNullable: false },
  numberSort: { of: (sql, y) => ({ number: sql`${sql(y)}.number_sort` }), isNullable: true },
  errorCode: { of: (sql, y) => ({ text: sql`${sql(y)}.error_code` }), isNullable: true },
  isbn: { of: (sql, y) => ({ text: sql`${sql(y)}.isbn` }), isNullable: true },
}

/**
 * On a book: the positive form of the predicate, null where the column is; and `fails`, where it does not
 * hold. Null for a field that is no column.
 */
export function bookColumnTest(
  sql: Queryable,
  { field, test }: Predicate,
  alias: 'b' | 'w' | 'y',
): { test: Fragment; fails: Fragment } | null {
  if (!Object.hasOwn(columns, field)) return null
  const { of, isNullable, words, key } = columns[field as ColumnField]
  const column = key && test.kind === 'text' ? { key: key(sql, alias) } : of(sql, alias)
  const [value] = Object.values(column) as [Fragment]
  if (test.kind === 'null') return { test: sql`${value} is null`, fails: sql`${value} is not null` }
  const holds =
    words && test.kind === 'text'
      ? wordTest(sql, column, words, test)
      : columnTest(sql, column, test)
  if (!isNullable) return { test: holds, fails: sql`not ${holds}` }
  // As the predicates of indexes without null have it.
  const known = sql`(${value} is not null and ${holds})`
  return { test: known, fails: sql`${known} is not true` }
}

/** A test of the title by which a book is sorted: its sort title, or else its title. */
export function sortTitleCondition(predicate: Predicate): Condition {
  const { test, negated } = predicate
  if (test.kind === 'null') return negated ? { all: [] } : { any: [] }
  const own: Predicate = { field: 'sortTitle', test, negated: false }
  const title: Predicate = { field: 'title', test, negated: false }
  const hasNone: Predicate = { field: 'sortTitle', test: { kind: 'null' }, negated: false }
  if (!negated) return { any: [{ all: [title, hasNone] }, own] }
  const not = (predicate: Predicate) => ({ ...predicate, negated: true })
  return { all: [{ any: [not(title), not(hasNone)] }, not(own)] }
}
