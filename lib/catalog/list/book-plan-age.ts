// The books within an age, when nothing else is asked of them: of every series those beyond it are
// counted, so that none of its books is looked at by itself.
import type { Fragment, Sql } from 'postgres'
import type { BookPlan } from './book-plan.ts'

// Ids that a statement holds in a hash without doubt, whatever memory the server gives it.
const mostHeld = 300_000

/** `where` is on `series s`. Missing books are no part of the list. */
export async function planWithinAge(
  sql: Sql,
  limit: number,
  { where, withKeys = false }: { where: Fragment; withKeys?: boolean | undefined },
): Promise<BookPlan> {
  const beyond = sql`from book y where y.age_rating > ${limit} and y.missing_at is null`
  const [row] = await sql<{ isHeld: boolean }[]>`
    select count(*) <= ${mostHeld} as "isHeld" from (select ${beyond} limit ${mostHeld + 1}) y`
  const key = withKeys ? sql`, sort_key` : sql``
  const ctes = sql`
    facts as materialized (
      select s.id, s.book_count ${withKeys ? sql`, s.sort_key` : sql``},
        s.book_count - coalesce(h.n, 0) as n
      from series s
      left join (select y.series_id, count(*) as n ${beyond} group by y.series_id) h
        on h.series_id = s.id
      where ${where}
    ), m as materialized (
      select id, book_count ${key}, n, false as is_open, n = book_count as is_whole
      from facts where n > 0
    )`
  return row!.isHeld
    ? { ctes, exact: sql`((b.id in (select y.id ${beyond})) is not true)`, readsRow: false }
    : { ctes, exact: sql`((b.age_rating > ${limit}) is not true)`, readsRow: true }
}
