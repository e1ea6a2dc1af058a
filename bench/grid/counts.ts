// Independent counts of the books and series that match a condition or a text: row by row, without the
// optimisations of the list engine.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook, visibleSeries } from '../../lib/accounts/viewer.ts'
import {
  type Condition,
  type Predicate,
  parseBookFilter,
  parseSeriesFilter,
} from '../../lib/list/condition.ts'
import { lowerAscii, searchKey } from '../../lib/media/name/text.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { allOf, anyOf } from '../../lib/store/postgres/statement.ts'
import { seriesWords, words } from './search-words.ts'
import type { Entity } from './values.ts'
import { formatsOf, seenBook, valueOfBooks } from './visible-books.ts'

export type CountQuery = {
  entity: Entity
  condition?: object | undefined
  text?: string | undefined
}

const forAdmin = { isAdmin: true }

/** For each query how many present books, or series with present books, are visible and match. */
export async function plainCounts(
  sql: Sql,
  viewer: Viewer,
  entity: Entity,
  queries: CountQuery[],
): Promise<number[]> {
  const isBook = entity === 'book'
  const leafOf = isBook ? bookLeaf : seriesLeaf
  const counts = queries.map(({ condition, text }) => {
    const filter = isBook ? parseBookFilter(condition) : parseSeriesFilter(condition, forAdmin)
    const matches = filter
      ? tree(sql, filter.condition, leaf => leafOf(sql, viewer, leaf))
      : sql`true`
    const hasWords = isBook ? words(sql, text) : seriesWords(sql, viewer, text)
    return sql`count(*) filter (where ${matches} and ${hasWords})::float8`
  })
  const rows = isBook ? visibleBooks(sql, viewer) : visibleSeriesRows(sql, viewer)
  const [row] = await sql<{ counts: number[] }[]>`
    select array[${counts.flatMap((count, i) => (i === 0 ? [count] : [sql`, `, count]))}] as counts ${rows}`
  return row!.counts
}

function visibleBooks(sql: Sql, viewer: Viewer): Fragment {
  return sql`
    from book b
    join series s on s.id = b.series_id
    join directory d on d.id = b.directory_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    left join book_search t on t.book_id = b.id
    cross join lateral (select case when p.is_completed then 'read'
      when p.current_page > 0 then 'in_progress' else 'unread' end as status) r
    where b.missing_at is null and ${visibleBook(sql, viewer)}`
}

function visibleSeriesRows(sql: Sql, viewer: Viewer): Fragment {
  return sql`
    from series s
    left join (
      select b.series_id, count(*) as books, count(*) filter (where p.is_completed) as done,
        count(*) filter (where p.is_completed or p.current_page > 0) as begun
      from book b
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
      where b.missing_at is null and ${seenBook(sql, viewer)}
      group by b.series_id
    ) n on n.series_id = s.id
    left join series_search t on t.series_id = s.id
    cross join lateral (select case when n.done = n.books then 'read'
      when n.begun > 0 then 'in_progress' else 'unread' end as status) r
    where s.book_count > 0 and ${visibleSeries(sql, viewer)}`
}

function tree(sql: Sql, condition: Condition, leaf: (leaf: Predicate) => Fragment): Fragment {
  const parts = (list: Condition[]) => list.map(part => tree(sql, part, leaf))
  if ('all' in condition) return allOf(sql, parts(condition.all))
  if ('any' in condition) return anyOf(sql, parts(condition.any))
  return condition.negated
    ? sql`(${leaf(condition)}) is not true`
    : sql`(${leaf(condition)}) is true`
}

function bookLeaf(sql: Sql, viewer: Viewer, { field, test }: Predicate): Fragment {
  switch (field) {
    case 'genre':
      return hasName(sql, sql`s.genres || b.genres`, test)
    case 'tag':
      return hasName(sql, sql`s.tags || b.tags`, test)
    case 'path':
      return test.kind === 'text'
        ? compareText(
            sql,
            sql`lower(convert_from(d.path || '/'::bytea || b.name, 'UTF8') collate "C")`,
            test,
            lowerAscii(test.value),
          )
        : sql`false`
    case 'hasError':
      return compare(sql, sql`(b.error_code is not null)`, test)
    case 'bookType':
      return compare(sql, sql`b.extra_metadata->>'bookType'`, test)
    case 'titleSort':
      return compare(sql, sql`coalesce(b.title_sort, b.title)`, test)
    case 'dateAdded':
    case 'addedAt':
      return compare(sql, sql`b.created_at`, test)
    case 'releaseDate':
      return compare(sql, releaseTime(sql), test)
    case 'lastReadAt':
      return compare(sql, sql`p.updated_at`, test)
    case 'wantToRead':
      return compare(sql, isWanted(sql, viewer, sql`w.book_id = b.id`), test)
    case 'userRating':
      return compare(sql, ownRating(sql, viewer), test)
    case 'inReadList':
      return compare(sql, sql`exists (select from read_list_book y where y.book_id = b.id)`, test)
    case 'inCollection':
      return compare(sql, isCollected(sql), test)
    default:
      return compare(sql, field === 'readStatus' ? sql`r.status` : columnOf(sql, 'b', field), test)
  }
}

function seriesLeaf(sql: Sql, viewer: Viewer, { field, test }: Predicate): Fragment {
  if (field === 'format') return hasName(sql, formatsOf(sql, viewer), test)
  const ofBooks = valueOfBooks(sql, viewer, field)
  if (ofBooks) return compare(sql, ofBooks, test)
  switch (field) {
    case 'genre':
      return hasName(sql, sql`s.genres`, test)
    case 'tag':
      return hasName(sql, sql`s.tags`, test)
    case 'author':
      return hasName(
        sql,
        sql`array(
          select a->>'name' from jsonb_array_elements(s.authors) a
          union all
          select a->>'name' from book b, jsonb_array_elements(b.authors) a
          where b.series_id = s.id and b.missing_at is null and ${seenBook(sql, viewer)})`,
        test,
      )
    case 'sharingTag':
      return hasName(
        sql,
        sql`array(
          select t.name from series_sharing_tag y join sharing_tag t on t.id = y.tag_id
          where y.series_id = s.id)`,
        test,
      )
    case 'isTracked':
      return compare(
        sql,
        sql`exists (select from series_tracking t where t.series_id = s.id and t.tracked)`,
        test,
      )
    case 'completion':
      return compare(sql, sql`(coalesce(n.books, 0) >= s.total_volume_count)`, test)
    case 'hasExternalSourceId':
      return compare(
        sql,
        sql`exists (select from external_reference e where e.series_id = s.id and e.kind = 'id')`,
        test,
      )
    case 'name':
      return compare(sql, sql`s.title`, test)
    case 'titleSort':
      return compare(sql, sql`coalesce(s.title_sort, s.title)`, test)
    case 'path':
      return compare(sql, sql`s.folder`, test)
    case 'dateAdded':
    case 'addedAt':
      return compare(sql, sql`s.created_at`, test)
    case 'releaseDate':
      return compare(sql, sql`make_timestamptz(s.year, 1, 1, 0, 0, 0, 'UTC')`, test)
    case 'lastReadAt':
      return compare(
        sql,
        sql`(select r.last_read_at from series_reading r
          where r.account_id = ${viewer.accountId} and r.series_id = s.id)`,
        test,
      )
    case 'wantToRead':
      return compare(sql, isWanted(sql, viewer, sql`w.series_id = s.id`), test)
    case 'hasUserRating':
      return compare(sql, sql`(${ownRating(sql, viewer)} is not null)`, test)
    case 'userRating':
      return compare(sql, ownRating(sql, viewer), test)
    case 'communityRating':
      return compare(
        sql,
        sql`(select avg(u.rating) from user_rating u where u.series_id = s.id)`,
        test,
      )
    case 'inCollection':
      return compare(sql, isCollected(sql), test)
    default:
      return compare(sql, field === 'readStatus' ? sql`r.status` : columnOf(sql, 's', field), test)
  }
}

const isCollected = (sql: Sql) =>
  sql`exists (select from collection_series y where y.series_id = s.id)`

const ownRating = (sql: Sql, { accountId }: Viewer) => sql`(
  select u.rating from user_rating u where u.account_id = ${accountId} and u.series_id = s.id)`

const isWanted = (sql: Sql, { accountId }: Viewer, isItem: Fragment) => sql`exists (
  select from want_to_read w where w.account_id = ${accountId} and ${isItem})`

/** The first moment of the release date of `book b`; a day without a month is not known. */
const releaseTime = (sql: Sql) =>
  sql`make_timestamptz(b.year, coalesce(b.month, 1),
    case when b.month is null then 1 else coalesce(b.day, 1) end, 0, 0, 0, 'UTC')`

/** The column named like a field; `seriesId` of books has the same form. */
function columnOf(sql: Sql, alias: string, field: string): Fragment {
  const column = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return sql`${sql(alias)}.${sql(column)}`
}

function compare(sql: Sql, value: Fragment, test: Predicate['test']): Fragment {
  switch (test.kind) {
    case 'null':
      return sql`${value} is null`
    case 'text':
      return compareText(sql, sql`folded(${value}::text)`, test)
    case 'ids':
      return sql`${value} = any(${test.ids}::uuid[])`
    case 'status':
      return sql`${value} = ${test.status}`
    case 'boolean':
      return sql`${value} = ${test.value}`
    case 'compare':
      return sql`${value} ${signs[test.operator](sql)} ${bound(sql, test.value)}`
    case 'between':
      return sql`${value} >= coalesce(${bound(sql, test.from)}, ${value})
        and ${value} <= coalesce(${bound(sql, test.to)}, ${value})`
    default:
      throw new Error(`Conditions of the API have no test of the kind ${test.kind}`)
  }
}

const signs = {
  '=': (sql: Sql) => sql`=`,
  '<': (sql: Sql) => sql`<`,
  '<=': (sql: Sql) => sql`<=`,
  '>': (sql: Sql) => sql`>`,
  '>=': (sql: Sql) => sql`>=`,
}

function bound(sql: Sql, value: number | Date | null): Fragment {
  if (value === null) return sql`null`
  return value instanceof Date ? sql`${value}::timestamptz` : sql`${value}::double precision`
}

type TextTest = Extract<Predicate['test'], { kind: 'text' }>

function compareText(
  sql: Sql,
  folded: Fragment,
  { operator, value }: TextTest,
  key = searchKey(value),
): Fragment {
  if (operator === 'equals') return sql`${folded} = ${key}`
  if (operator === 'contains') return sql`strpos(${folded}, ${key}) > 0`
  if (operator === 'beginsWith') return sql`left(${folded}, ${key.length}) = ${key}`
  return sql`right(${folded}, ${key.length}) = ${key}`
}

function hasName(sql: Sql, names: Fragment, test: Predicate['test']): Fragment {
  if (test.kind === 'null') return sql`cardinality(${names}) = 0`
  if (test.kind !== 'text') return sql`false`
  return sql`exists (
    select from unnest(${names}) as name where ${compareText(sql, sql`folded(name)`, test)})`
}
