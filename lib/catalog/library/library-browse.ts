// A library as readers browse it: its name and how many series there are to see.
import type { Sql } from 'postgres'
import { isLimited, seesLibrary, seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'

export type LibraryName = { id: string; name: string; updatedAt: Date }
export type LibraryShelf = LibraryName & { seriesCount: number }

/** One page of the libraries that the viewer sees, by name, and how many there are. */
export async function libraryShelves(
  sql: Sql,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: LibraryShelf[]; total: number }> {
  const { count, join } = counted(sql, viewer)
  const [data, [all]] = await Promise.all([
    sql<LibraryShelf[]>`
      select ${named(sql)}, ${count} as "seriesCount"
      from library l ${join}
      where ${sees(sql, viewer)}
      order by lower(l.name), l.id
      limit ${pageSize} offset ${offset}`,
    sql<{ total: number }[]>`
      select count(*)::float8 as total from library l where ${sees(sql, viewer)}`,
  ])
  return { data: [...data], total: all!.total }
}

/** Throws NotFound for a library that is not there or is hidden from the viewer. */
export async function libraryName(sql: Sql, viewer: Viewer, id: string): Promise<LibraryName> {
  const [library] = await sql<LibraryName[]>`
    select ${named(sql)} from library l where l.id = ${id} and ${sees(sql, viewer)}`
  if (!library) throw new NotFound('Library not found')
  return library
}

const named = (sql: Sql) =>
  sql`l.id, l.name, greatest(l.updated_at, l.last_scanned_at) as "updatedAt"`

const sees = (sql: Sql, viewer: Viewer) =>
  sql`(l.deleting_at is null and ${seesLibrary(sql, viewer)})`

/** The counters hold for whoever sees all of a library; for others its series are counted. */
function counted(sql: Sql, viewer: Viewer) {
  if (!isLimited(viewer)) return { count: sql`l.series_count`, join: sql`` }
  const join = sql`
    left join (
      select s.library_id, count(*) as series
      from series s
      where s.book_count > 0 and ${seesSeries(sql, viewer)} and ${showsBooks(sql, viewer)}
      group by s.library_id) n on n.library_id = l.id`
  return { count: sql`coalesce(n.series, 0)::float8`, join }
}
