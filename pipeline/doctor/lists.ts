// Invariants of derived state used by lists and searches: search rows, labels, lowest ages, first releases,
// reading order, metadata of books, reading counters.
import type { Fragment } from 'postgres'
import { authorKeys, refreshAuthorKeys } from '../../lib/catalog/derived/author-key.ts'
import {
  booksMetadataByAge,
  refreshBooksMetadata,
} from '../../lib/catalog/derived/books-metadata.ts'
import { refreshLabels } from '../../lib/catalog/derived/labels.ts'
import { lowestAge, refreshLowestAge } from '../../lib/catalog/derived/lowest-age.ts'
import { refreshReadingOrder, volumeSorts } from '../../lib/catalog/derived/reading-order.ts'
import { refreshBookSearch, refreshSeriesSearch } from '../../lib/catalog/derived/search-rows.ts'
import {
  refreshSeriesReading,
  seriesReadingRows,
} from '../../lib/catalog/derived/series-reading.ts'
import { labelKinds } from '../../lib/catalog/label/label.ts'
import { lockSeries } from '../../lib/catalog/row-locks.ts'
import { firstRelease, refreshFirstRelease } from '../../lib/releases/first-release.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { unionAll } from '../../lib/store/postgres/statement.ts'
import { type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

const batch = 1_000

type Violating = ReturnType<Parameters<typeof violationQuery>[0]>
type Refresh = (tx: Transaction, ids: string[]) => Promise<unknown>

/** Series that meet a condition, unless they are due for a refresh: columns `id` and `note`. */
const seriesWhere =
  (condition: (sql: Sql) => Fragment) =>
  ({ sql, libraries }: DoctorScope) =>
    sql`
    select s.id, s.title || ' (' || s.id || ')' as note
    from series s
    where s.library_id = any(${libraries}) and ${condition(sql)}
      and not exists (select from series_refresh o where o.series_id = s.id)`

/** Books whose search row is missing or differs. */
const booksWithStaleSearch = ({ sql, libraries }: DoctorScope) => sql`
  select b.id, b.title || ' (' || b.id || ')' as note
  from book b
  left join book_search t on t.book_id = b.id
  left join series_search x on x.series_id = b.series_id
    and not exists (select from series_refresh o where o.series_id = b.series_id)
  where b.library_id = any(${libraries})
    and ((t.series_id, t.is_present, t.sort_key)
      is distinct from (b.series_id, b.missing_at is null, b.sort_key)
      or split_part(t.text, chr(10), 2) <> split_part(x.text, chr(10), 1))`

/** Series whose reading counters differ from the progress of their books. */
const seriesWithWrongReading = ({ sql, libraries }: DoctorScope) => {
  const series = sql`select id from series where library_id = any(${libraries})`
  return sql`
    select coalesce(r.series_id, t.series_id) as id,
      coalesce(r.series_id, t.series_id) || ' for ' || coalesce(r.account_id, t.account_id) as note
    from (select * from series_reading where series_id in (${series})) r
    full join (${seriesReadingRows(sql, series, null)}) t
      on t.account_id = r.account_id and t.series_id = r.series_id
    where (r.read_count, r.started_count, r.opened_count, r.last_read_at, r.last_completed_at)
      is distinct from (t.read_count, t.started_count, t.opened_count, t.last_read_at, t.last_completed_at)
      and not exists (
        select from series_refresh o where o.series_id = coalesce(r.series_id, t.series_id))`
}

const seriesWithWrongOrder = ({ sql, libraries }: DoctorScope) => sql`
  select e.series_id as id, 'a book of ' || e.series_id as note
  from ${volumeSorts(sql, tx => tx`library_id = any(${libraries})`)} e
  join book b on b.id = e.id
  where b.volume_sort is distinct from e.volume_sort
    and not exists (select from series_refresh o where o.series_id = e.series_id)`

/** Series with their own genre or tag that filters do not find. */
const seriesWithoutLabels = ({ sql, libraries }: DoctorScope) =>
  unionAll(
    sql,
    labelKinds.map(
      kind => sql`
        select s.id, s.title || ' (' || s.id || ')' as note
        from series s
        where s.library_id = any(${libraries}) and exists (
          select from unnest(s.${sql(`${kind}s`)}) n
          where not exists (
            select from series_label y
            join label l on l.id = y.label_id
            where y.series_id = s.id and y.is_own and l.kind = ${kind} and n = any(l.spellings)))`,
    ),
  ) as Violating

const derived = (
  name: string,
  description: string,
  violating: (scope: DoctorScope) => Violating,
  refresh: Refresh,
): Invariant => ({
  name,
  description,
  check: violationQuery(violating),
  repair: scope => refreshViolating(scope, violating(scope), refresh),
})

export const listInvariants: Invariant[] = [
  derived(
    'search rows of books',
    'Every book has a search row with its series, the title of its series and its sort key.',
    booksWithStaleSearch,
    refreshBookSearch,
  ),
  derived(
    'search rows of series',
    'Every finalized series has a search row.',
    seriesWhere(sql => sql`not exists (select from series_search t where t.series_id = s.id)`),
    refreshSeriesSearch,
  ),
  derived(
    'labels of series',
    'Every series is linked to the labels of its genres and tags.',
    seriesWithoutLabels,
    async (tx, ids) => {
      await refreshLabels(tx, ids)
      await refreshSeriesSearch(tx, ids)
    },
  ),
  derived(
    'authors of series',
    'Every series has the names of its own authors and the authors of its books.',
    seriesWhere(
      sql => sql`exists (
          select from ${authorKeys(sql)} t
          where (s.author_key, s.credit_key, s.credits)
            is distinct from (t.author_key, t.credit_key, t.credits))`,
    ),
    refreshAuthorKeys,
  ),
  derived(
    'lowest ages',
    'The lowest age of every series is the lowest age rating of its books.',
    seriesWhere(sql => sql`s.lowest_age <> ${lowestAge(sql)}`),
    refreshLowestAge,
  ),
  derived(
    'first releases',
    'The release date of every series is the earliest of its books.',
    seriesWhere(sql => sql`s.released is distinct from ${firstRelease(sql)}`),
    refreshFirstRelease,
  ),
  derived(
    'reading order',
    'In every series with repeating numbers, books are ordered by volume first.',
    seriesWithWrongOrder,
    refreshReadingOrder,
  ),
  derived(
    'metadata of books',
    'Every series has the authors, publishers, languages, years and age of its books.',
    seriesWhere(
      sql => sql`exists (
          select from ${booksMetadataByAge(sql)} e
          full join (select * from series_books_metadata where series_id = s.id) m using (age_limit)
          where e.metadata is distinct from m.metadata)`,
    ),
    refreshBooksMetadata,
  ),
  derived(
    'reading counters',
    'The reading counters of every account and series match the totals of its progress.',
    seriesWithWrongReading,
    refreshSeriesReading,
  ),
]

/** Calls a refresh function with the violating ids, a thousand per transaction. */
async function refreshViolating({ sql }: DoctorScope, violating: Violating, refresh: Refresh) {
  const rows = await sql<{ id: string }[]>`select distinct id from (${violating}) x order by id`
  for (let from = 0; from < rows.length; from += batch) {
    const ids = rows.slice(from, from + batch).map(row => row.id)
    await sql.begin(async tx => {
      await lockSeries(tx, ids)
      await refresh(tx, ids)
    })
  }
}
