// `series.author_key`, `credit_key` and `credits`: the author names of a series and its books, without and with
// their roles, in the form conditions compare, and as written.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'

/** Refreshes series whose books were added, removed or moved, or whose authors changed. */
export async function refreshAuthorKeys(tx: Queryable, seriesIds: string[]): Promise<void> {
  await tx`
    update series s set author_key = t.author_key, credit_key = t.credit_key, credits = t.credits
    from (select s.id, t.* from series s, ${authorKeys(tx)} t where s.id = any(${seriesIds})) t
    where s.id = t.id
      and (s.author_key, s.credit_key, s.credits)
        is distinct from (t.author_key, t.credit_key, t.credits)`
}

/**
 * The expected values for `series s`, a lateral table of one row: a line break before and after each name, and
 * before and after each name with its role; empty without authors.
 */
export function authorKeys(sql: Queryable): Fragment {
  const lines = (text: Fragment) => sql`
    coalesce(${'\n'} || string_agg(distinct ${text}, ${'\n'}) || ${'\n'}, '') collate "C"`
  return sql`lateral (
    select ${lines(sql`k.name`)} as author_key,
      ${lines(sql`k.name || ${'\t'} || k.role`)} as credit_key,
      coalesce(string_agg(distinct k.written || ${'\t'} || k.role, ${'\n'}), '') as credits
    from (
      select s.authors
      union
      select b.authors from book b where b.series_id = s.id and b.missing_at is null) y,
      jsonb_array_elements(y.authors) a,
      lateral (
        select translate(folded(a->>'name'), ${'\n\t'}, '  ') as name,
          translate(a->>'name', ${'\n\t'}, '  ') as written,
          translate(${creditRole(sql)}, ${'\n\t'}, '  ') as role) k)`
}

/** A query of lines like those in `credits`, for `book b` or for the authors stated by `series s` itself. */
export function creditsOf(sql: Queryable, alias: 'b' | 's' | 'y'): Fragment {
  return sql`
    select translate(a->>'name', ${'\n\t'}, '  ') || ${'\t'}
      || translate(${creditRole(sql)}, ${'\n\t'}, '  ')
    from jsonb_array_elements(${sql(alias)}.authors) a`
}

/** The role of author `a`, which is JSON, in the form used by credits: in lower case, `writer` if absent. */
export function creditRole(sql: Queryable): Fragment {
  return sql`coalesce(nullif(lower(trim(a->>'role')), ''), 'writer')`
}
