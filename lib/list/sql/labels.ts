// Genres and tags: queries of the labels that a predicate names, and of the series that have them. Books and series by their
// authors: series without those that only books have that an age limit hides.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../accounts/viewer.ts'
import { creditRole } from '../../catalog/derived/author-key.ts'
import type { LabelKind } from '../../catalog/label/label.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf } from '../../store/postgres/statement.ts'
import type { Predicate } from '../condition.ts'
import { literal, type TextOperatorName, textOperators, textTest } from './operators.ts'
import { isSeenBook } from './seen-books.ts'
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

type CreditTest = Extract<Predicate['test'], { kind: 'credit' }>
type AuthorTest = {
  /** On `series s`: an author of its own or of any of its books. */
  stored: Fragment
  /** The same on author `a`, which is JSON. */
  isOne: Fragment
}

/** Series by an author of any role. */
export function bySeriesAuthor(context: Context, { test }: Predicate): Match {
  const { sql } = context
  const isOne = test.kind === 'text' ? nameTest(sql, test.operator, test.value) : sql`true`
  return existing(test, withAuthor(context, { stored: hasAuthor(sql, test), isOne }))
}

/** Books by an author of any role. */
export function byBookAuthor(context: Context, { test }: Predicate): Match {
  const { sql } = context
  const isOne = test.kind === 'text' ? bookNameTest(sql, test.operator, test.value) : sql`true`
  const series = sql`select s.id as series_id from series s where ${hasAuthor(sql, test)}`
  return existing(
    test,
    booksAmong(
      context,
      series,
      book => sql`exists (
        select from jsonb_array_elements(${sql(book)}.authors) a where ${isOne})`,
    ),
  )
}

/** On `series s`: it or one of its books has an author of the test; any with a test for null. */
function hasAuthor(sql: Queryable, test: Predicate['test']): Fragment {
  if (test.kind !== 'text') return sql`s.author_key <> ''`
  const { value, operator } = test
  const start = operator === 'equals' || operator === 'beginsWith' ? '\n' : ''
  const end = operator === 'equals' || operator === 'endsWith' ? '\n' : ''
  return sql`(s.author_key <> '' and s.author_key like ${`%${start}${literal(keyOf(value))}${end}%`})`
}

export function bySeriesCredit(context: Context, { test }: Predicate): Match {
  if (test.kind !== 'credit') return { test: context.sql`false` }
  return withAuthor(context, {
    stored: hasCredit(context.sql, test),
    isOne: creditTest(context.sql, test),
  })
}

export function creditedBooks(context: Context, { test }: Predicate): Match {
  const { sql } = context
  if (test.kind !== 'credit') return { test: sql`false` }
  const series = sql`select s.id as series_id from series s where ${hasCredit(sql, test)}`
  return booksAmong(
    context,
    series,
    book => sql`exists (
      select from jsonb_array_elements(${sql(book)}.authors) a
      where ${allOf(sql, [
        ...(test.name === null ? [] : [bookNameTest(sql, test.operator, test.name)]),
        ...roleTest(sql, test),
      ])})`,
  )
}

/** On `series s`, whose credits are lines of name, tab, role. */
function hasCredit(sql: Queryable, { operator, name, role }: CreditTest): Fragment {
  const ofRole = role === null ? '' : literal(line(role))
  if (name === null)
    return role === null ? sql`s.credit_key <> ''` : sql`s.credit_key like ${`%\t${ofRole}\n%`}`
  const part = literal(keyOf(name))
  if (operator === 'equals')
    return sql`s.credit_key like ${`%\n${part}\t${role === null ? '' : `${ofRole}\n`}%`}`
  // A name that contains the text, not one name and the role of another.
  const inLine = role === null ? sql`` : sql`and split_part(c.line, ${'\t'}, 2) = ${role}`
  return sql`(s.credit_key like ${`%${part}%`} and exists (
    select from string_to_table(s.credit_key, ${'\n'}) c(line)
    where split_part(c.line, ${'\t'}, 1) like ${`%${part}%`} ${inLine}))`
}

const line = (text: string) => text.replaceAll(/[\n\t]/g, ' ')
const keyOf = (name: string) => line(searchKey(name))

/** On author `a`, which is JSON, as keys of series have the name. */
const nameTest = (sql: Queryable, operator: TextOperatorName, name: string) =>
  textOperators[operator].sql(sql, sql`translate(folded(a->>'name'), ${'\n\t'}, '  ')`, keyOf(name))
const bookNameTest = (sql: Queryable, operator: TextOperatorName, value: string) =>
  textTest(sql, sql`folded(a->>'name')`, { kind: 'text', operator, value })
const roleTest = (sql: Queryable, { role }: CreditTest) =>
  role === null ? [] : [sql`${creditRole(sql)} = ${role}`]

function creditTest(sql: Queryable, test: CreditTest): Fragment {
  const { name, operator } = test
  return allOf(sql, [
    ...(name === null ? [] : [nameTest(sql, operator, name)]),
    ...roleTest(sql, test),
  ])
}

function withAuthor({ sql, viewer }: Context, { stored, isOne }: AuthorTest): Match {
  if (!hidesBooks(viewer)) return { test: stored }
  const isOneOf = (authors: Fragment) =>
    sql`exists (select from jsonb_array_elements(${authors}) a where ${isOne})`
  return {
    test: sql`(${stored} and (
      s.id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
      or ${isOneOf(sql`s.authors`)}
      or exists (
        select from book y
        where y.series_id = s.id and ${isSeenBook(sql, viewer)} and ${isOneOf(sql`y.authors`)})))`,
  }
}
