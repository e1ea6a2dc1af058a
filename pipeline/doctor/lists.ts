// What lists and searches read instead of the books: made of them, and made again where it differs.
import type { Sql } from 'postgres'
import { labelKinds, settleLabels } from '../../lib/catalog/label/label.ts'
import { lockSeries, readingOf, recountReading } from '../../lib/catalog/progress/series-reading.ts'
import { writeBookSearch, writeSeriesSearch } from '../../lib/catalog/search/search-rows.ts'
import { lowestAge, settleLowestAge } from '../../lib/catalog/series/lowest-age.ts'
import { broken, type Invariant, type Scope } from './invariant.ts'

const batch = 1_000

/** Books whose search row is not there or follows them no more. */
const unsearchedBooks = ({ sql, libraries }: Scope) => sql`
  select b.id, b.title || ' (' || b.id || ')' as note
  from book b
  left join book_search t on t.book_id = b.id
  left join series_search x on x.series_id = b.series_id
    and not exists (select from touched_series o where o.series_id = b.series_id)
  where b.library_id = any(${libraries})
    and ((t.series_id, t.is_present, t.sort_key)
      is distinct from (b.series_id, b.missing_at is null, b.sort_key)
      or split_part(t.text, chr(10), 2) <> split_part(x.text, chr(10), 1))`

const unsearchedSeries = ({ sql, libraries }: Scope) => sql`
  select s.id, s.title || ' (' || s.id || ')' as note
  from series s
  where s.library_id = any(${libraries})
    and not exists (select from series_search t where t.series_id = s.id)
    and not exists (select from touched_series t where t.series_id = s.id)`

/** Series that began to be read otherwise than is noted. */
const misread = ({ sql, libraries }: Scope) => {
  const series = sql`select id from series where library_id = any(${libraries})`
  return sql`
    select coalesce(r.series_id, t.series_id) as id,
      coalesce(r.series_id, t.series_id) || ' for ' || coalesce(r.account_id, t.account_id) as note
    from (select * from series_reading where series_id in (${series})) r
    full join (${readingOf(sql, series, null)}) t
      on t.account_id = r.account_id and t.series_id = r.series_id
    where (r.read_count, r.started_count, r.opened_count, r.last_read_at, r.last_completed_at)
      is distinct from (t.read_count, t.started_count, t.opened_count, t.last_read_at, t.last_completed_at)
      and not exists (
        select from touched_series o where o.series_id = coalesce(r.series_id, t.series_id))`
}

const misrated = ({ sql, libraries }: Scope) => sql`
  select s.id, s.title || ' (' || s.id || ')' as note
  from series s
  where s.library_id = any(${libraries}) and s.lowest_age <> ${lowestAge(sql)}
    and not exists (select from touched_series o where o.series_id = s.id)`

/** Series with a genre or tag of their own that no condition would find. */
const unlabelled = ({ sql, libraries }: Scope) => {
  const lacking = labelKinds.map(
    kind => sql`
      select s.id, s.title || ' (' || s.id || ')' as note
      from series s
      where s.library_id = any(${libraries}) and exists (
        select from unnest(s.${sql(`${kind}s`)}) n
        where not exists (
          select from series_label y
          join label l on l.id = y.label_id
          where y.series_id = s.id and y.is_own and l.kind = ${kind} and n = any(l.spellings)))`,
  )
  return lacking.reduce((all, one) => sql`${all} union all ${one}`)
}

export const listInvariants: Invariant[] = [
  {
    name: 'search rows of books',
    sentence:
      'Every book has a row that searches look into, of its series with its title, and its order.',
    look: broken(unsearchedBooks),
    repair: scope => mend(scope, unsearchedBooks(scope), writeBookSearch),
  },
  {
    name: 'search rows of series',
    sentence: 'Every series that was settled has a row that searches look into.',
    look: broken(unsearchedSeries),
    repair: scope => mend(scope, unsearchedSeries(scope), writeSeriesSearch),
  },
  {
    name: 'labels of series',
    sentence: 'The genres and tags of every series are labels that it is found by.',
    look: broken(unlabelled),
    repair: scope =>
      mend(scope, unlabelled(scope), async (tx, ids) => {
        await settleLabels(tx, ids)
        await writeSeriesSearch(tx, ids)
      }),
  },
  {
    name: 'lowest ages',
    sentence: 'Every series says from which age any of its books is seen.',
    look: broken(misrated),
    repair: scope => mend(scope, misrated(scope), settleLowestAge),
  },
  {
    name: 'places of readers',
    sentence: 'How far an account is in a series is what its progress adds up to.',
    look: broken(misread),
    repair: scope => mend(scope, misread(scope), recountReading),
  },
]

type Breach = ReturnType<typeof misread>
type Work = (tx: Parameters<typeof recountReading>[0], ids: string[]) => Promise<unknown>

async function mend({ sql }: { sql: Sql }, breach: Breach, work: Work) {
  const rows = await sql<{ id: string }[]>`select distinct id from (${breach}) x order by id`
  for (let from = 0; from < rows.length; from += batch) {
    const ids = rows.slice(from, from + batch).map(row => row.id)
    await sql.begin(async tx => {
      await lockSeries(tx, ids)
      await work(tx, ids)
    })
  }
}
