// The books within an age, when nothing else is asked of them: of every series those beyond it are
// counted, so that none of its books is looked at by itself.
import type { Fragment, Sql } from 'postgres'
import { itsBooks, type Viewer } from '../../auth/viewer.ts'
import type { BookPlan } from './book-plan.ts'

// Ids that a statement holds in a hash without doubt, whatever memory the server gives it.
const mostHeld = 300_000

type Asked = { where: Fragment; withKeys?: boolean | undefined }

/** `where` is on `series s`; the viewer has an age limit. Missing books are no part of the list: there is no `facts`. */
export async function planWithinAge(
  sql: Sql,
  viewer: Viewer,
  { where, withKeys = false }: Asked,
): Promise<BookPlan> {
  const limit = viewer.ageLimit
  const beyond = sql`from book y where y.age_rating > ${limit} and y.missing_at is null`
  const [row] = await sql<{ isHeld: boolean }[]>`
    select count(*) <= ${mostHeld} as "isHeld" from (select ${beyond} limit ${mostHeld + 1}) y`
  const isHidden = sql`(b.id in (select y.id ${beyond}))`
  if (row!.isHeld && !withKeys)
    return {
      ctes: sql`
        m as materialized (
          select s.id, s.book_count, 0 as n, false as is_open, false as is_whole
          from series s where ${where}
        )`,
      exact: sql`(${isHidden} is not true)`,
      readsRow: false,
      total: sql`
        (select coalesce(sum(book_count), 0) from m)
        - (select count(*) ${beyond} and (y.series_id in (select id from m)) is true)`,
    }
  const { join, shown } = itsBooks(sql, viewer)
  const ctes = sql`
    m as materialized (
      select s.id, s.book_count ${withKeys ? sql`, s.sort_key` : sql``}, ${shown} as n,
        false as is_open, ${shown} = s.book_count as is_whole
      from series s ${join}
      where ${where} and ${shown} > 0
    )`
  return row!.isHeld
    ? { ctes, exact: sql`(${isHidden} is not true)`, readsRow: false }
    : { ctes, exact: sql`((b.age_rating > ${limit}) is not true)`, readsRow: true }
}
