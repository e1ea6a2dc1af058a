// What there is, for people and their programs: libraries with their sizes as a viewer sees them.
import type { Sql } from 'postgres'
import { isUnrestricted, seesLibrary, seesSeries, type Viewer } from '../auth/viewer.ts'
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

/** `seesUsers`: of the accounts the viewer may know that they are there. */
export async function inventory(
  sql: Sql,
  viewer: Viewer,
  { seesUsers }: { seesUsers: boolean },
): Promise<Inventory> {
  const [libraries, users, size] = await Promise.all([
    librarySizes(sql, viewer),
    seesUsers ? sql<{ count: number }[]>`select count(*)::integer as count from account` : [],
    databaseSize(sql),
  ])
  const sum = (of: (library: LibrarySize) => number) =>
    libraries.reduce((total, library) => total + of(library), 0)
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

/** True when no library is hidden from the viewer, nor anything in one. */
export async function seesEverything(sql: Sql, viewer: Viewer): Promise<boolean> {
  if (!isUnrestricted({ ...viewer, libraries: null })) return false
  if (viewer.libraries === null) return true
  // While a library is being removed, everyone's are listed.
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
    where l.deleting_at is null and ${seesLibrary(sql, viewer)}
    order by lower(l.name), l.id`
}

function sizes(sql: Sql, viewer: Viewer) {
  if (isUnrestricted({ ...viewer, libraries: null }))
    return sql`(
      select l.series_count as series, l.book_count as books, l.page_count as pages, l.size)`
  return sql`(
    select s.series, s.books - h.books as books, s.pages - h.pages as pages, s.size - h.size as size
    from (
      select count(*)::float8 as series, coalesce(sum(book_count), 0)::float8 as books,
        coalesce(sum(page_count), 0)::float8 as pages, coalesce(sum(size), 0)::float8 as size
      from series s
      where s.library_id = l.id and s.book_count > 0 and ${seesSeries(sql, viewer)}
    ) s
    cross join ${tooOld(sql, viewer)} h)`
}

/** Books of series that are seen, hidden by a rating of their own. */
function tooOld(sql: Sql, viewer: Viewer) {
  if (viewer.ageLimit === null)
    return sql`(select 0::float8 as books, 0::float8 as pages, 0::float8 as size)`
  return sql`(
    select count(*)::float8 as books, coalesce(sum(b.page_count), 0)::float8 as pages,
      coalesce(sum(b.size), 0)::float8 as size
    from book b
    join series s on s.id = b.series_id
    where b.library_id = l.id and b.age_rating > ${viewer.ageLimit} and b.missing_at is null
      and ${seesSeries(sql, viewer)})`
}
