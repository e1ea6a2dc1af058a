// Lookup of libraries: by enclosing path, by id, and as entries for browsing.

import type { Fragment } from 'postgres'
import {
  hasVisibleBook,
  isLimited,
  type Viewer,
  visibleLibrary,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { newestChangeOfSeries } from '../../list/newest-change.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'

export type LibraryRow = { id: string; name: string; root: Buffer; bookCount: number }

/** The library whose root is `path` or a parent of it, or null. */
export async function findEnclosingLibrary(
  sql: Queryable,
  path: Buffer,
): Promise<LibraryRow | null> {
  const rows = await sql<LibraryRow[]>`
    select id, name, root, book_count as "bookCount"
    from library
    where root = any(${selfAndParents(path)}::text[]::bytea[]) and deleting_at is null
    order by length(root) desc
    limit 1`
  return rows[0] ?? null
}

/** The path and its parent folders as bytea literals. */
function selfAndParents(path: Buffer): string[] {
  const ends = path.toString('latin1').matchAll(/\/|$/g)
  return [...ends].map(({ index }) => `\\x${path.toString('hex', 0, index)}`)
}

/** Throws NotFound unless the viewer may see this library. */
export async function requireLibrary(sql: Queryable, viewer: Viewer, id: string): Promise<void> {
  const [row] = await sql`
    select 1 from library l where l.id = ${id} and ${isVisible(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
}

/** `updatedAt`: when the library or one of its visible series last changed. */
export type LibraryName = { id: string; name: string; updatedAt: Date }
export type LibraryEntry = LibraryName & { seriesCount: number }

/** One page of the visible libraries, by name, and their total. */
export async function browseLibraries(
  sql: Sql,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: LibraryEntry[]; total: number }> {
  const { count, join } = seriesCount(sql, viewer)
  const [data, [totals]] = await Promise.all([
    sql<LibraryEntry[]>`
      select ${titleColumns(sql, viewer)}, ${count} as "seriesCount"
      from library l ${join}
      where ${isVisible(sql, viewer)}
      order by lower(l.name), l.id
      limit ${pageSize} offset ${offset}`,
    sql<{ total: number }[]>`
      select count(*)::float8 as total from library l where ${isVisible(sql, viewer)}`,
  ])
  return { data: [...data], total: totals!.total }
}

/** Throws NotFound for an unknown or hidden library. */
export async function libraryName(sql: Sql, viewer: Viewer, id: string): Promise<LibraryName> {
  const [library] = await sql<LibraryName[]>`
    select ${titleColumns(sql, viewer)} from library l where l.id = ${id} and ${isVisible(sql, viewer)}`
  if (!library) throw new NotFound('Library not found')
  return library
}

/** Visible libraries with equal names get a number in their titles, except the first. */
function titleColumns(sql: Sql, viewer: Viewer): Fragment {
  const newest = newestChangeOfSeries(sql, viewer, sql`s.library_id = l.id`)
  return sql`l.id, greatest(l.updated_at, ${newest}) as "updatedAt",
    l.name || (
      select case when count(*) > 0 then ' (' || count(*) + 1 || ')' else '' end
      from library o
      where lower(o.name) = lower(l.name) and (o.created_at, o.id) < (l.created_at, l.id)
        and o.deleting_at is null
        and ${viewer.libraries === null ? sql`true` : sql`o.id = any(${viewer.libraries as string[]}::uuid[])`}) as name`
}

/** A condition on `library l`. */
export const isVisible = (sql: Queryable, viewer: Viewer) =>
  sql`(l.deleting_at is null and ${visibleLibrary(sql, viewer)})`

/** The stored counter for a viewer who sees all series of a library; otherwise counts the visible series. */
function seriesCount(sql: Sql, viewer: Viewer) {
  if (!isLimited(viewer)) return { count: sql`l.series_count`, join: sql`` }
  const join = sql`
    left join (
      select s.library_id, count(*) as series
      from series s
      where s.book_count > 0 and ${visibleSeries(sql, viewer)} and ${hasVisibleBook(sql, viewer)}
      group by s.library_id) n on n.library_id = l.id`
  return { count: sql`coalesce(n.series, 0)::float8`, join }
}
