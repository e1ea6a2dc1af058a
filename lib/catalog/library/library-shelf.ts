// A library as readers browse it: its name and how many series there are to see.
import type { Sql } from 'postgres'
import { NotFound } from '../../errors.ts'
import { isLimited, seesItsBooks, seesLibrary, seesSeries, type Viewer } from '../viewer.ts'

export type LibraryShelf = { id: string; name: string; seriesCount: number; updatedAt: Date }

/** One page of the libraries that the viewer sees, by name, and how many there are. */
export async function libraryShelves(
  sql: Sql,
  viewer: Viewer,
  { offset, pageSize }: { offset: number; pageSize: number },
): Promise<{ data: LibraryShelf[]; total: number }> {
  const [data, [all]] = await Promise.all([
    sql<LibraryShelf[]>`
      ${select(sql, viewer)}
      where ${sees(sql, viewer)}
      order by lower(l.name), l.id
      limit ${pageSize} offset ${offset}`,
    sql<{ total: number }[]>`
      select count(*)::float8 as total from library l where ${sees(sql, viewer)}`,
  ])
  return { data: [...data], total: all!.total }
}

/** Throws NotFound for a library that is not there or is hidden from the viewer. */
export async function libraryShelf(sql: Sql, viewer: Viewer, id: string): Promise<LibraryShelf> {
  const [library] = await sql<LibraryShelf[]>`
    ${select(sql, viewer, id)} where l.id = ${id} and ${sees(sql, viewer)}`
  if (!library) throw new NotFound('Library not found')
  return library
}

const sees = (sql: Sql, viewer: Viewer) =>
  sql`(l.deleting_at is null and ${seesLibrary(sql, viewer)})`

function select(sql: Sql, viewer: Viewer, id?: string) {
  const columns = sql`l.id, l.name, greatest(l.updated_at, l.last_scanned_at) as "updatedAt"`
  // The counters hold for whoever sees all of a library.
  if (!isLimited(viewer))
    return sql`select ${columns}, l.series_count as "seriesCount" from library l`
  return sql`
    select ${columns}, coalesce(n.series, 0)::float8 as "seriesCount"
    from library l
    left join (
      select s.library_id, count(*) as series
      from series s
      where s.book_count > 0 and ${id ? sql`s.library_id = ${id}` : sql`true`}
        and ${seesSeries(sql, viewer)} and ${seesItsBooks(sql, viewer)}
      group by s.library_id) n on n.library_id = l.id`
}
