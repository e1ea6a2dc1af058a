// The most recently added or released books: an index of each library is walked in order and the walks
// are merged.
import type { Fragment, Sql } from 'postgres'
import { isLimited, presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { unionAll, unprepared } from '../../postgres/statement.ts'
import { type IdPage, idsInOrder, nearestEnd } from './page.ts'
import { bookOrderBy, bookSortColumns, type Direction } from './sort.ts'

type NewestRequest = {
  /** Books without a release date are not among the released ones. */
  by: 'created' | 'released'
  libraryId?: string | undefined
  direction?: Direction | undefined
  offset: number
  limit: number
  /**
   * The most books that are listed and counted; each is checked for visibility. Without it the total
   * comes from the counters of libraries: only by `created`, and only if `isLimited` is false.
   */
  cap?: number | undefined
}

/** A page of the present books that are visible, and the number on all pages. */
export async function newestBooks(
  sql: Sql,
  viewer: Viewer,
  { by, libraryId, direction = 'desc', offset, limit, cap }: NewestRequest,
): Promise<IdPage> {
  const libraries = librariesOf(viewer, libraryId)
  if (libraries?.length === 0) return { ids: [], total: 0 }
  const sorting = { sort: by, direction }
  if (cap !== undefined)
    return await pageOfCapped(sql, viewer, { ...sorting, libraries, offset, limit, cap })
  return await pageOfAll(sql, { ...sorting, libraries, offset, limit })
}

type Sorting = { sort: NewestRequest['by']; direction: Direction }
type Walks = Sorting & { libraries: readonly string[] | null }
type Window = { offset: number; limit: number }

async function pageOfAll(sql: Sql, request: Walks & Window): Promise<IdPage> {
  const total = await countBooks(sql, request.libraries)
  const { skip, take, reversed } = nearestEnd({ ...request, total })
  if (take === 0) return { ids: [], total }
  const rows = await unprepared(sql<{ id: string }[]>`
    select b.id from (${mergedWalks(sql, request, { reversed })}) b
    order by ${bookOrderBy(sql, 'b', { ...request, reversed })}
    limit ${take} offset ${skip}`)
  return { ids: idsInOrder(rows, reversed), total }
}

async function pageOfCapped(
  sql: Sql,
  viewer: Viewer,
  { cap, offset, limit, ...request }: Walks & Window & { cap: number },
): Promise<IdPage> {
  const column = sql(bookSortColumns[request.sort].column)
  const orderBy = (alias: string) => bookOrderBy(sql, alias, { ...request, reversed: false })
  const withRating = isLimited(viewer)
  const visible = withRating
    ? sql`join series s on s.id = b.series_id where ${visibleBook(sql, viewer)}`
    : sql``
  const [row] = await unprepared(sql<IdPage[]>`
    with newest as materialized (
      select b.id, b.${column}
      from (${mergedWalks(sql, request, { withRating })}) b ${visible}
      order by ${orderBy('b')}
      limit ${cap}
    )
    select (select count(*) from newest)::float8 as total, array(
      select id from newest order by ${orderBy('newest')} limit ${limit} offset ${offset}) as ids`)
  return row!
}

/** One ordered walk for each library. `withRating`: with the columns that visibility needs. */
function mergedWalks(
  sql: Queryable,
  { libraries, ...sorting }: Walks,
  { reversed = false, withRating = false },
): Fragment {
  const column = sql(bookSortColumns[sorting.sort].column)
  const columns = withRating
    ? sql`b.id, b.series_id, b.age_rating, b.${column}`
    : sql`b.id, b.${column}`
  const isDated = sorting.sort === 'released' ? sql`and b.${column} is not null` : sql``
  const walk = (scope: Fragment) => sql`
    (select ${columns} from book b
    where ${scope} and ${presentBook(sql)} ${isDated}
    order by ${bookOrderBy(sql, 'b', { ...sorting, reversed })})`
  return unionAll(
    sql,
    libraries ? libraries.map(id => walk(sql`b.library_id = ${id}`)) : [walk(sql`true`)],
  )
}

/** The requested libraries that the viewer has access to; null for all. */
function librariesOf({ libraries }: Viewer, libraryId: string | undefined) {
  if (libraryId === undefined) return libraries
  return libraries === null || libraries.includes(libraryId) ? [libraryId] : []
}

async function countBooks(sql: Queryable, libraries: readonly string[] | null): Promise<number> {
  const scope = libraries === null ? sql`true` : sql`id = any(${libraries as string[]}::uuid[])`
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count), 0)::float8 as total from library where ${scope}`
  return row!.total
}
