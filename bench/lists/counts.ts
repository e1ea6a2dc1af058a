// Independent counts of books and series that match a condition or a text, row by row without the
// optimisations of the list engine: over all books, their labels, their progress.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../lib/auth/viewer.ts'
import { labelKey } from '../../lib/catalog/label/label.ts'
import type {
  BookFilter,
  Condition,
  Predicate,
  SeriesFilter,
} from '../../lib/catalog/list/condition.ts'
import { parseSearchQuery } from '../../lib/name/search-text.ts'
import type { Sql } from '../../lib/postgres/db.ts'

type CountQuery<Filter> = { filter?: Filter | null; text?: string }

export async function countBooks(
  sql: Sql,
  viewer: Viewer,
  { filter, text }: CountQuery<BookFilter>,
) {
  const status = sql`case when p.is_completed then 'read' when p.current_page > 0 then 'in_progress' else 'unread' end`
  const where = filter
    ? tree(sql, filter.condition, leaf => plain(sql, leaf, status))
    : words(sql, text ?? '', sql`t.text`)
  const [row] = await sql<{ count: number }[]>`
    select count(*) from book b
    join series s on s.id = b.series_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    left join book_search t on t.book_id = b.id
    where b.missing_at is null and ${where}`
  return row!.count
}

export async function countSeries(
  sql: Sql,
  viewer: Viewer,
  { filter, text }: CountQuery<SeriesFilter>,
) {
  const status = sql`case when r.done = r.books then 'read' when r.begun > 0 then 'in_progress' else 'unread' end`
  const where = filter
    ? tree(sql, filter.condition, leaf => plain(sql, leaf, status))
    : words(sql, text ?? '', sql`t.text`)
  const [row] = await sql<{ count: number }[]>`
    select count(*) from series s
    join (
      select b.series_id, count(*) as books, count(*) filter (where p.is_completed) as done,
        count(*) filter (where p.is_completed or p.current_page > 0) as begun
      from book b
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
      where b.missing_at is null
      group by b.series_id
    ) r on r.series_id = s.id
    left join series_search t on t.series_id = s.id
    where ${where}`
  return row!.count
}

function tree(sql: Sql, condition: Condition, leaf: (leaf: Predicate) => Fragment): Fragment {
  if ('all' in condition)
    return sql`(true ${condition.all.map(part => sql`and ${tree(sql, part, leaf)}`)})`
  if ('any' in condition)
    return sql`(false ${condition.any.map(part => sql`or ${tree(sql, part, leaf)}`)})`
  return condition.negated
    ? sql`(${leaf(condition)}) is not true`
    : sql`(${leaf(condition)}) is true`
}

function plain(sql: Sql, { field, test }: Predicate, status: Fragment): Fragment {
  if (test.kind === 'status') return sql`${status} = ${test.status}`
  if (test.kind === 'ids') return sql`s.library_id = any(${test.ids}::uuid[])`
  if (test.kind !== 'text') throw new Error(`no plain form of ${field}`)
  const names = field === 'genre' ? sql`s.genres` : sql`s.tags`
  const key = labelKey(test.value)
  return sql`exists (
    select from unnest(${names}) n
    where ${test.operator === 'equals' ? sql`folded(n) = ${key}` : sql`strpos(folded(n), ${key}) > 0`})`
}

function words(sql: Sql, text: string, column: Fragment): Fragment {
  const query = parseSearchQuery(text)
  return sql`(true ${(query?.patterns ?? []).map(pattern => sql`and strpos(${column}, ${pattern.replaceAll('%', '')}) > 0`)})`
}
