// The books that came or were released last, for as many pages as anybody turns: each library is
// walked in its order, the walks are merged, and of each book it is asked whether the viewer sees it.
import type { Fragment, Sql } from 'postgres'
import { isLimited, seesBook, type Viewer } from '../../auth/viewer.ts'
import { oneOff } from './unprepared.ts'

type Asked = {
  /** Without a date of release a book is none of the released ones. */
  by: 'created' | 'released'
  libraryId?: string | undefined
  /** More are neither listed nor counted. */
  most: number
  /** From 1. */
  page: number
  pageSize: number
}

const keys = { created: 'created_at', released: 'released' } as const

/** Ids of one page of the present books that the viewer may see, the latest first, and how many there are on all pages. */
export async function latestBooks(
  sql: Sql,
  viewer: Viewer,
  { by, libraryId, most, page, pageSize }: Asked,
): Promise<{ ids: string[]; total: number }> {
  const column = sql(keys[by])
  // As the indexes have it.
  const down = by === 'released' ? sql`desc nulls last` : sql`desc`
  const walk = (where: Fragment) => sql`
    (select b.id, b.series_id, b.age_rating, b.${column} as at from book b
    where b.missing_at is null and b.${column} is not null and ${where}
    order by b.${column} ${down}, b.id desc)`
  const libraries = librariesOf(viewer, libraryId)
  const walks = libraries ? libraries.map(id => walk(sql`b.library_id = ${id}`)) : [walk(sql`true`)]
  if (walks.length === 0) return { ids: [], total: 0 }
  const seen = isLimited(viewer)
    ? sql`join series s on s.id = b.series_id where ${seesBook(sql, viewer)}`
    : sql``
  const offset = (page - 1) * pageSize
  const [row] = await oneOff(sql<{ ids: string[]; total: number }[]>`
    with latest as materialized (
      select b.id, b.at
      from (${walks.reduce((a, b) => sql`${a} union all ${b}`)}) b ${seen}
      order by b.at ${down}, b.id desc
      limit ${most}
    )
    select (select count(*) from latest)::float8 as total, array(
      select id from latest order by at desc, id desc limit ${pageSize} offset ${offset}) as ids`)
  return row!
}

/** Null for all. */
function librariesOf({ libraries }: Viewer, libraryId: string | undefined) {
  if (libraryId === undefined) return libraries
  return libraries === null || libraries.includes(libraryId) ? [libraryId] : []
}
