// The columns that each condition, sort order and restriction of lists reads, and what must make its lists stale.
import type { PendingQuery, Row, Sql } from 'postgres'
import { type Viewer, visibleSeries } from '../../lib/accounts/viewer.ts'
import type { Predicate, Test } from '../../lib/list/condition.ts'
import { bookFields, type FieldKind, seriesFields } from '../../lib/list/fields.ts'
import { versionOfBookField, versionOfSeriesField } from '../../lib/list/list-version.ts'
import {
  type SeriesColumnSort,
  seriesOrderBy,
  seriesSortColumns,
  seriesSortJoin,
} from '../../lib/list/sort.ts'
import { booksWhere } from '../../lib/list/sql/book-fields.ts'
import { bookOrdering } from '../../lib/list/sql/book-order.ts'
import { seriesWhere } from '../../lib/list/sql/series-fields.ts'
import { listedSeries } from '../../lib/list/sql/series-statement.ts'
import { collections, readLists } from '../../lib/organize/grouping/grouping.ts'
import { type Effect, rolledBack } from './column-writes.ts'
import type { innerTests } from './inner-facts.ts'
import { sorts } from './plain-list.ts'

/** `follows`: any of these makes it known that a column changed; null for what each list reads. */
export type Reader = { name: string; columns: string[]; follows: Effect[] | null }
type Query = { name: string; query: PendingQuery<Row[]>; follows: Effect[] | null }

/** What a version of lib/list/list-version.ts follows, beside the rows of the list. */
const followed: Record<string, Effect[]> = {
  rows: [],
  books: ['book', 'counts'],
  account: ['account'],
  ratings: ['rating'],
  labels: ['label'],
  all: ['book', 'counts', 'account'],
}

const text: Test = { kind: 'text', operator: 'contains', value: 'x' }
const none: Test = { kind: 'null' }
const testsOf: Record<FieldKind, Test[]> = {
  id: [none, text, { kind: 'ids', ids: [] }],
  text: [none, text],
  status: [
    { kind: 'status', status: 'unread' },
    { kind: 'status', status: 'in_progress' },
  ],
  number: [none, { kind: 'compare', operator: '>', value: 1 }],
  date: [none, { kind: 'compare', operator: '>', value: new Date(0) }],
  boolean: [{ kind: 'boolean', value: true }],
}

function predicatesOf(
  fields: Record<string, FieldKind>,
  inner: Record<string, () => Test>,
): Predicate[] {
  const own = Object.entries(fields).map(([field, kind]) => ({ field, tests: testsOf[kind] }))
  const others = Object.entries(inner).map(([field, test]) => ({
    field,
    tests: Array.from({ length: 6 }, test),
  }))
  return [...own, ...others].flatMap(({ field, tests }) =>
    tests.map(test => ({ field, test, negated: false })),
  )
}

type Context = { sql: Sql; viewer: Viewer; inner: ReturnType<typeof innerTests> }

/** All that lists of the viewer read. */
export async function readersOf(context: Context): Promise<Reader[]> {
  const generated = await generatedColumns(context.sql)
  const readers = new Map<string, Reader>()
  const queries = [...conditions(context), ...orders(context), ...restrictions(context)]
  for (const { name, query, follows } of queries) {
    const read = await columnsOf(context.sql, query)
    const columns = new Set([
      ...(readers.get(name)?.columns ?? []),
      ...read.flatMap(column => generated.get(column) ?? [column]),
    ])
    readers.set(name, { name, columns: [...columns], follows })
  }
  return [...readers.values()]
}

function conditions({ sql, viewer, inner }: Context): Query[] {
  const context = { sql, viewer, includesMissing: true }
  const books = predicatesOf(bookFields, inner.book).map((predicate): Query => {
    const version = versionOfBookField(predicate.field)
    return {
      name: `books by ${predicate.field}`,
      query: sql`select b.id from book b where ${booksWhere(context, predicate)}`,
      follows: version && ['book', ...followed[version]!],
    }
  })
  const series = predicatesOf(seriesFields, inner.series).map((predicate): Query => {
    const version = versionOfSeriesField(predicate.field, viewer)
    return {
      name: `series by ${predicate.field}`,
      query: sql`select s.id from series s where ${seriesWhere(context, predicate)}`,
      follows: version && ['series', ...followed[version]!],
    }
  })
  return [...books, ...series]
}

function orders({ sql, viewer }: Context): Query[] {
  const books = sorts.map((sort): Query => {
    const { joins, by } = bookOrdering(sql, viewer, { search: null, sort, direction: 'asc' })
    return {
      name: `books in the order ${sort}`,
      query: sql`select b.id from book b ${joins} order by ${by}`,
      follows: ['book', 'account'],
    }
  })
  const names = [...Object.keys(seriesSortColumns), ...joinedSorts] as SeriesColumnSort[]
  const series = names.map((sort): Query => {
    const scope = { accountId: viewer.accountId }
    return {
      name: `series in the order ${sort}`,
      query: sql`
        select s.id from series s ${seriesSortJoin(sql, sort, scope)}
        order by ${seriesOrderBy(sql, { sort, direction: 'asc' })}`,
      follows: ['series', 'account', 'rating'],
    }
  })
  return [...books, ...series]
}

/** Without the order of a collection, which each list reads. */
const joinedSorts = ['read', 'rating', 'communityRating', 'externalRating', 'random']

function restrictions({ sql, viewer }: Context): Query[] {
  const listed = { filter: null, onlyWithVisibleBooks: true, includeDeleted: true }
  return [
    {
      name: 'the books that an account sees',
      query: sql`
        select b.id, b.age_rating, b.missing_at from book b join series s on s.id = b.series_id
        where ${visibleSeries(sql, viewer)}`,
      follows: ['book'],
    },
    {
      name: 'the series that an account sees',
      query: sql`select s.id from series s where ${listedSeries(sql, viewer, listed)}`,
      follows: ['series'],
    },
    ...[collections, readLists].map(
      ({ members, owner, isShown }): Query => ({
        name: `the counts of ${members}`,
        query: sql`select m.${sql(owner)} from ${sql(members)} m where ${isShown(sql, viewer)}`,
        follows: ['book', 'counts', 'grouping'],
      }),
    ),
  ]
}

/** The columns `table.column` that a query reads, as PostgreSQL records them of a view. */
async function columnsOf(sql: Sql, query: PendingQuery<Row[]>): Promise<string[]> {
  const { string, types } = await query.describe()
  return await rolledBack(sql, async tx => {
    const parameters = await tx<{ type: string }[]>`
      select format_type(t, null) as type from unnest(${types}::oid[]) with ordinality as u(t, i)
      order by i`
    const withoutValues = string.replaceAll(
      /\$(\d+)/g,
      (_, number) => `null::${parameters[Number(number) - 1]!.type}`,
    )
    await tx.unsafe(`create temp view reading as ${withoutValues}`)
    const columns = await tx<{ name: string }[]>`
      select distinct d.refobjid::regclass::text || '.' || a.attname as name
      from pg_rewrite r
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid and a.attnum > 0
      where r.ev_class = 'reading'::regclass`
    return columns.map(({ name }) => name)
  })
}

/** Generated columns, with those that they are made of. */
async function generatedColumns(sql: Sql): Promise<Map<string, string[]>> {
  const columns = await sql<{ name: string; sources: string[] }[]>`
    select table_name || '.' || dependent_column as name,
      array_agg(table_name || '.' || column_name) as sources
    from information_schema.column_column_usage where table_schema = 'public' group by 1`
  return new Map(columns.map(({ name, sources }) => [name, sources]))
}
