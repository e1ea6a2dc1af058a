// What the books of a series state together: the most frequent value of each field with votes, and the status.
import type { Fragment } from 'postgres'
import { calibreSources, metadataSources } from '../../media/metadata/metadata.ts'
import { bookMajorityFields } from '../../media/metadata/series-fields.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { commaList } from '../../store/postgres/statement.ts'

const columns = bookMajorityFields.map(({ column }) => column)

/**
 * A lateral item of `from` for `series s` of `library l`: one row with a column for each field. If votes are equal, the
 * value stated by the source with the highest priority in any book wins. The status is ended when as many books are
 * present as they state, or the one with the last number is.
 */
export function votesOfBooks(sql: Queryable): Fragment {
  const priority = sql`case l.series_strategy
    when 'calibre' then ${[...calibreSources]}::text[] else ${[...metadataSources]}::text[] end`
  const rank = (column: string) => sql(`${column}_rank`)
  const ranks = columns.map(
    column => sql`
      array_position(priority.sources, coalesce(b.provenance->>${column}, 'folder')) as ${rank(column)}`,
  )
  const winners = columns.map(
    column => sql`(
      select ${sql(column)} from fact where ${sql(column)} is not null
      group by 1 order by sum(books) desc, min(${rank(column)}), 1 limit 1) as ${sql(column)}`,
  )
  const grouped = columns.flatMap(column => [sql`${sql(column)}`, sql`${rank(column)}`])
  // Grouped first, because most books of a series state the same values.
  return sql`lateral (
    with fact as materialized (
      select ${commaList(
        sql,
        columns.map(column => sql`b.${sql(column)}`),
      )},
        ${commaList(sql, ranks)}, count(*) as books,
        max((b.extra_metadata->>'count')::integer) as stated_count,
        max(b.number_sort) filter (where b.number is not null) as last_number
      from book b, (select ${priority} as sources) priority
      where b.series_id = s.id and b.missing_at is null
      group by ${commaList(sql, grouped)})
    select ${commaList(sql, winners)}, (
      select case when max(stated_count) <= greatest(sum(books), max(last_number)) then 'ended'
        when count(*) > 0 then 'unknown' end from fact) as status)`
}
