// Invariants of series and library counters. Check and repair use the same comparison.
import type { Sql } from '../../lib/store/postgres/db.ts'
import { type Invariant, violationQuery } from './invariant.ts'

const counterColumns = (sql: Sql) => sql`
  count(b.id) filter (where b.missing_at is null) as book_count,
  count(b.id) filter (where b.missing_at is not null) as missing_count,
  coalesce(sum(b.page_count) filter (where b.missing_at is null), 0) as page_count,
  coalesce(sum(b.size) filter (where b.missing_at is null), 0) as size`

const seriesCounters = (sql: Sql, libraries: string[]) => sql`
  select s.id, ${counterColumns(sql)}
  from series s
  left join book b on b.series_id = s.id
  where s.library_id = any(${libraries})
  group by s.id`

const libraryCounters = (sql: Sql, libraries: string[]) => sql`
  select l.id, ${counterColumns(sql)},
    (select count(*) from series where library_id = l.id and book_count > 0) as series_count
  from library l
  left join book b on b.library_id = l.id
  where l.id = any(${libraries})
  group by l.id`

const differs = (sql: Sql, table: string) => sql`
  (${sql(table)}.book_count, ${sql(table)}.missing_count, ${sql(table)}.page_count, ${sql(table)}.size)
    is distinct from (t.book_count, t.missing_count, t.page_count, t.size)`

export const counterInvariants: Invariant[] = [
  {
    name: 'series counters',
    description: 'The counters of every series match the totals of its books.',
    check: violationQuery(
      ({ sql, libraries }) => sql`
        select series.title || ' (' || series.id || ')' as note
        from series
        join (${seriesCounters(sql, libraries)}) t on t.id = series.id
        where ${differs(sql, 'series')}`,
    ),
    repair: async ({ sql, libraries }) => {
      await sql`
        update series
        set book_count = t.book_count, missing_count = t.missing_count,
          page_count = t.page_count, size = t.size
        from (${seriesCounters(sql, libraries)}) t
        where t.id = series.id and ${differs(sql, 'series')}`
    },
  },
  {
    name: 'library counters',
    description: 'The counters of every library match the totals of its series and books.',
    check: violationQuery(
      ({ sql, libraries }) => sql`
        select library.name as note
        from library
        join (${libraryCounters(sql, libraries)}) t on t.id = library.id
        where ${differs(sql, 'library')} or library.series_count <> t.series_count`,
    ),
    repair: async ({ sql, libraries }) => {
      await sql`
        update library
        set book_count = t.book_count, missing_count = t.missing_count,
          page_count = t.page_count, size = t.size, series_count = t.series_count
        from (${libraryCounters(sql, libraries)}) t
        where t.id = library.id
          and (${differs(sql, 'library')} or library.series_count <> t.series_count)`
    },
  },
]
