// Genres and tags: queries of the labels that a predicate names, and of the series that have them.
import type { Fragment } from 'postgres'
import type { LabelKind } from '../../catalog/label/label.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { Predicate } from '../condition.ts'
import { textTest } from './operators.ts'
import { type Context, existing, type Match } from './where.ts'

const kinds: Record<string, LabelKind> = {
  genre: 'genre',
  tag: 'tag',
  anyTag: 'tag',
  ownTag: 'tag',
}

/** On `label l`: it is one that the predicate names; any with a test for null. */
function isNamed(sql: Queryable, { field, test }: Predicate): Fragment {
  const isOfKind = sql`l.kind = ${kinds[field]!}`
  if (test.kind === 'null') return isOfKind
  if (test.kind !== 'text') return sql`false`
  return sql`${isOfKind} and ${textTest(sql, sql`l.key`, test)}`
}

/** Series with one of the labels: of their own, through some of their books alone, or either. */
export function labeledSeries(
  sql: Queryable,
  predicate: Predicate,
  source: 'own' | 'books' | 'any',
): Fragment {
  const isOwn = { own: sql`and y.is_own`, books: sql`and not y.is_own`, any: sql`` }[source]
  return sql`
    select distinct y.series_id from label l join series_label y on y.label_id = l.id ${isOwn}
    where ${isNamed(sql, predicate)}`
}

/** On a book of that alias: it has one of the labels itself. */
export function hasOwnLabel(sql: Queryable, predicate: Predicate, book: string): Fragment {
  const names = sql`${sql(book)}.${sql(predicate.field === 'genre' ? 'genres' : 'tags')}`
  if (predicate.test.kind === 'null') return sql`${names} <> '{}'`
  return sql`${names} && array(
    select n.name from label l, unnest(l.spellings) n(name) where ${isNamed(sql, predicate)})`
}

/**
 * Books for which a test of a book of some alias holds: `series` has those of all present ones. They are looked up by
 * series, which is faster than to read all books.
 */
export function booksAmong(
  { sql, includesMissing, isOfFew }: Context,
  series: Fragment,
  test: (book: string) => Fragment,
): Match {
  if (isOfFew) return { test: test('b') }
  const missing = sql`
    union all select y.id from book y where y.missing_at is not null and ${test('y')}`
  return {
    ids: sql`
      select y.id from (${series}) m
      cross join lateral (
        select y.id from book y
        where y.series_id = m.series_id and y.missing_at is null and ${test('y')} offset 0) y
      ${includesMissing ? missing : sql``}`,
  }
}

/** Books with a label of their series, or of their own. */
export function labeledBooks(context: Context, predicate: Predicate): Match {
  const { sql } = context
  const partly = labeledSeries(sql, predicate, 'books')
  return existing(predicate.test, {
    series: labeledSeries(sql, predicate, 'own'),
    ...booksAmong(context, partly, book => hasOwnLabel(sql, predicate, book)),
  })
}
