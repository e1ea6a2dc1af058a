// Inventory for the metrics API: library sizes as visible to a viewer.
import type { Sql } from 'postgres'
import {
  hidesBooks,
  isLimited,
  presentBeyondAge,
  type Viewer,
  visibleLibrary,
  visibleSeries,
} from '../../accounts/viewer.ts'
import type { WithServices } from '../services.ts'
import { databaseSize } from './database.ts'

export type LibrarySize = {
  id: string
  name: string
  seriesCount: number
  bookCount: number
  pageCount: number
  totalSize: number
}
export type Inventory = {
  libraryCount: number
  seriesCount: number
  bookCount: number
  pageCount: number
  totalBookSize: number
  userCount: number
  databaseSize: number
  libraries: LibrarySize[]
}

/** `includesUsers`: whether the viewer may see the number of accounts. */
export async function inventory(
  { sql, services }: WithServices,
  viewer: Viewer,
  { includesUsers }: { includesUsers: boolean },
): Promise<Inventory> {
  const [libraries, users, size] = await Promise.all([
    librarySizes(sql, viewer),
    includesUsers ? sql<{ count: number }[]>`select count(*)::integer as count from account` : [],
    // Also grows with hidden content.
    hasFullAccess(sql, viewer).then(hasAll => (hasAll ? databaseSize(services) : 0)),
  ])
  const sum = (value: (library: LibrarySize) => number) =>
    libraries.reduce((total, library) => total + value(library), 0)
  return {
    libraryCount: libraries.length,
    seriesCount: sum(library => library.seriesCount),
    bookCount: sum(library => library.bookCount),
    pageCount: sum(library => library.pageCount),
    totalBookSize: sum(library => library.totalSize),
    userCount: users[0]?.count ?? 1,
    databaseSize: size ?? 0,
    libraries,
  }
}

/** Whether the viewer has access to all libraries and everything in them. */
export async function hasFullAccess(sql: Sql, viewer: Viewer): Promise<boolean> {
  if (isLimited(viewer)) return false
  if (viewer.libraries === null) return true
  // While a library is being deleted, all viewers' libraries are listed explicitly.
  const [hidden] = await sql`
    select from library
    where deleting_at is null and id <> all(${viewer.libraries as string[]}::uuid[])
    limit 1`
  return hidden === undefined
}

async function librarySizes(sql: Sql, viewer: Viewer): Promise<LibrarySize[]> {
  return await sql<LibrarySize[]>`
    select l.id, l.name, v.series as "seriesCount", v.books as "bookCount", v.pages as "pageCount",
      v.size as "totalSize"
    from library l
    cross join lateral ${sizes(sql, viewer)} v
    where l.deleting_at is null and ${visibleLibrary(sql, viewer)}
    order by lower(l.name), l.id`
}

function sizes(sql: Sql, viewer: Viewer) {
  if (!isLimited(viewer))
    return sql`(
      select l.series_count as series, l.book_count as books, l.page_count as pages, l.size)`
  return sql`(
    select s.series, s.books - h.books as books, s.pages - h.pages as pages, s.size - h.size as size
    from (
      select count(*)::float8 as series, coalesce(sum(book_count), 0)::float8 as books,
        coalesce(sum(page_count), 0)::float8 as pages, coalesce(sum(size), 0)::float8 as size
      from series s
      where s.library_id = l.id and s.book_count > 0 and ${visibleSeries(sql, viewer)}
    ) s
    cross join ${ageRestricted(sql, viewer)} h)`
}

/** Books of visible series that are hidden by their own age rating. */
function ageRestricted(sql: Sql, viewer: Viewer) {
  if (!hidesBooks(viewer))
    return sql`(select 0::float8 as books, 0::float8 as pages, 0::float8 as size)`
  return sql`(
    select count(*)::float8 as books, coalesce(sum(b.page_count), 0)::float8 as pages,
      coalesce(sum(b.size), 0)::float8 as size
    from book b
    join series s on s.id = b.series_id
    where b.library_id = l.id and ${presentBeyondAge(sql, viewer)}
      and ${visibleSeries(sql, viewer)})`
}
