// `series.author_key`: the names of the authors of a series and of its books, as conditions compare them.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../postgres/db.ts'

/** Refreshes series whose books were added, removed or moved, or whose authors changed. */
export async function refreshAuthorKeys(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    update series s set author_key = t.author_key
    from (select s.id, ${authorKey(tx)} as author_key from series s where s.id = any(${seriesIds})) t
    where s.id = t.id and s.author_key <> t.author_key`
}

/** The expected value for `series s`: a line break before and after each name; empty without authors. */
export function authorKey(sql: Queryable): Fragment {
  return sql`coalesce((
    select ${'\n'} || string_agg(distinct k.name, ${'\n'}) || ${'\n'}
    from (
      select s.authors
      union
      select b.authors from book b where b.series_id = s.id and b.missing_at is null) y,
      jsonb_array_elements(y.authors) a,
      translate(folded(a->>'name'), ${'\n'}, ' ') k(name)), '') collate "C"`
}
