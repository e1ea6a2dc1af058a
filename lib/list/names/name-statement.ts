// Statements of the names in the metadata of series, with the number of series that a viewer sees for each: the series that a
// filter by the name lists.
import type { Fragment } from 'postgres'
import {
  fromBooksBeyondAge,
  hidesBooks,
  isUnrestricted,
  unseenSeries,
  type Viewer,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { creditsOf } from '../../catalog/derived/author-key.ts'
import { labelKinds } from '../../catalog/label/label.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import { isSeenBook } from '../sql/seen-books.ts'

/** `role`: only people with it, in lower case. */
export type NameSource = { of: 'author' | 'publisher' | 'genre' | 'tag'; role?: string | undefined }

/** `key`: folded for searches. `value`: the name, of labels the id. */
export type NameRow = { key: string; value: string; count: number }

/** Limit of a list: the most frequent names. */
const maxNames = 200_000

/** In the order of keys. */
export async function readNames(sql: Sql, viewer: Viewer, source: NameSource): Promise<NameRow[]> {
  const names = statementOf(sql, viewer, source)
  return await unprepared(sql<NameRow[]>`
    select key, value, count::float8 as count
    from (select * from (${names}) n order by count desc, key collate "C" limit ${maxNames}) n
    order by key collate "C", value collate "C"`)
}

function statementOf(sql: Queryable, viewer: Viewer, { of, role }: NameSource): Fragment {
  const kind = labelKinds.find(known => known === of)
  if (kind) return labels(sql, viewer, kind)
  if (of === 'publisher') return spelled(sql, publishers(sql, viewer))
  const ofRole = role === undefined ? sql`true` : sql`c.role = ${role}`
  return spelled(
    sql,
    sql`select c.series_id, c.name from (${credits(sql, viewer)}) c where ${ofRole}`,
  )
}

/** Genres or tags that series have themselves; an unrestricted viewer gets unused ones, too. */
function labels(sql: Queryable, viewer: Viewer, kind: 'genre' | 'tag'): Fragment {
  return sql`
    with counted as (
      select y.label_id, count(*) as n
      from series_label y
      where y.label_id = any(array(select id from label where kind = ${kind})) and y.is_own
        and ((y.series_id in (
          select s.id from series s where s.book_count = 0
          union all
          ${unseenSeries(sql, visibleSeries(sql, viewer))})) is not true)
      group by y.label_id
    )
    select l.key, l.id::text as value, coalesce(c.n, 0) as count
    from label l left join counted c on c.label_id = l.id
    where l.kind = ${kind} and (${isUnrestricted(viewer)} or c.n > 0)`
}

const publishers = (sql: Queryable, viewer: Viewer) => sql`
  select s.id as series_id, s.publisher as name from series s
  where s.book_count > 0 and s.publisher > '' and ${visibleSeries(sql, viewer)}`

/** Roles that people of visible series have. */
export async function readRoles(sql: Sql, viewer: Viewer): Promise<string[]> {
  const rows = await unprepared(sql<{ role: string }[]>`
    select distinct c.role from (${credits(sql, viewer)}) c where c.role <> '' order by 1`)
  return rows.map(({ role }) => role)
}

/** Series, names and roles. Of series with books beyond an age limit, what the series and the other books state. */
function credits(sql: Queryable, viewer: Viewer): Fragment {
  const listed = sql`s.book_count > 0 and ${visibleSeries(sql, viewer)}`
  const parts = (from: Fragment, where: Fragment) => sql`
    select s.id as series_id, split_part(c.line, ${'\t'}, 1) as name,
      split_part(c.line, ${'\t'}, 2) as role
    from series s cross join lateral (${from}) c(line)
    where ${listed} and ${where}`
  const stored = sql`select string_to_table(s.credits, ${'\n'})`
  if (!hidesBooks(viewer)) return parts(stored, sql`s.credits <> ''`)
  const partly = sql`select y.series_id ${fromBooksBeyondAge(sql, viewer)}`
  const seen = sql`
    ${creditsOf(sql, 's')}
    union all
    select x.line from book y cross join lateral (${creditsOf(sql, 'y')}) x(line)
    where y.series_id = s.id and ${isSeenBook(sql, viewer)}`
  return sql`
    ${parts(stored, sql`s.credits <> '' and s.id not in (${partly})`)}
    union all
    ${parts(seen, sql`s.id in (${partly})`)}`
}

/** Names that differ only in case or accents are one, in its most frequent spelling. `named`: series and names. */
function spelled(sql: Queryable, named: Fragment): Fragment {
  return sql`
    with named as materialized (${named}
    ), spelling as materialized (
      select name, count(*) as n, folded(name) as key from named where name <> '' group by name
    ), counted as (
      select key, count(*) as n
      from (select distinct p.key, m.series_id from named m join spelling p on p.name = m.name) m
      group by key
    )
    select c.key, c.n as count, p.name as value
    from counted c join (
      select distinct on (key) key, name from spelling order by key, n desc, name collate "C") p
      on p.key = c.key`
}
