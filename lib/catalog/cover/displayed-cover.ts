// Which cover stands for a book, a series, a library: the name of its thumbnail, by one statement that
// also decides whether it is seen at all.
import type { Fragment, Sql } from 'postgres'
import { gathered } from '../../async/batch-loader.ts'
import { seesBook, seesLibrary, seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'

type Row = { cover: string | null }

const own = (sql: Sql) => sql`coalesce(b.custom_cover, b.cover)`

const byId = (rows: readonly (Row & { id: string })[]) =>
  new Map(rows.map(({ id, cover }) => [id, cover]))

const ofBooks = gathered<string | null>(async (sql, viewer, ids) =>
  byId(
    await sql`
      select b.id, encode(${own(sql)}, 'hex') as cover
      from book b join series s on s.id = b.series_id
      where b.id = any(${ids}::uuid[]) and ${seesBook(sql, viewer)}`,
  ),
)

const ofSeriesThat = (shows: (sql: Sql, viewer: Viewer) => Fragment) =>
  gathered<string | null>(async (sql, viewer, ids) =>
    byId(
      await sql`
        select s.id, encode(${inSeries(sql, viewer)}, 'hex') as cover
        from series s
        where s.id = any(${ids}::uuid[]) and ${seesSeries(sql, viewer)} and ${shows(sql, viewer)}`,
    ),
  )

const ofSeries = ofSeriesThat(sql => sql`true`)
const ofShownSeries = ofSeriesThat(
  (sql, viewer) => sql`s.book_count > 0 and ${showsBooks(sql, viewer)}`,
)

/** Hex name of the thumbnail, null when there is none yet. Throws NotFound. */
export async function coverOfBook(sql: Sql, viewer: Viewer, id: string): Promise<string | null> {
  const cover = await ofBooks(sql, viewer, id.toLowerCase())
  if (cover === undefined) throw new NotFound('Book not found')
  return cover
}

/** The series' own cover, else that of the chosen book, else of the first one that has one and is seen. Throws NotFound. */
export async function coverOfSeries(sql: Sql, viewer: Viewer, id: string): Promise<string | null> {
  const cover = await ofSeries(sql, viewer, id.toLowerCase())
  if (cover === undefined) throw new NotFound('Series not found')
  return cover
}

/** The same, where a series is not there for those who see none of its books. */
export async function coverOfShownSeries(
  sql: Sql,
  viewer: Viewer,
  id: string,
): Promise<string | null> {
  const cover = await ofShownSeries(sql, viewer, id.toLowerCase())
  if (cover === undefined) throw new NotFound('Series not found')
  return cover
}

// A library whose first series all lack a cover is shown without one.
export const seriesTried = 24

/** That of the first series in order of title that has one and is seen. Throws NotFound. */
export async function coverOfLibrary(sql: Sql, viewer: Viewer, id: string): Promise<string | null> {
  const [row] = await sql<Row[]>`
    select (
      select encode(cover, 'hex') from (
        select ${inSeries(sql, viewer)} as cover, s.sort_key, s.id from (
          select * from series s
          where s.library_id = l.id and s.book_count > 0 and ${seesSeries(sql, viewer)}
          order by s.sort_key, s.id
          limit ${seriesTried}) s
        offset 0) f
      where cover is not null
      order by sort_key, id
      limit 1) as cover
    from library l
    where l.id = ${id} and l.deleting_at is null and ${seesLibrary(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
  return row.cover
}

/** What is not needed is not looked up: `coalesce` stops at the first that is there. */
function inSeries(sql: Sql, viewer: Viewer): Fragment {
  return sql`coalesce(
    s.custom_cover,
    (select ${own(sql)} from book b
      where b.id = s.cover_book_id and b.series_id = s.id and b.missing_at is null
        and ${seesBook(sql, viewer)}),
    (select ${own(sql)} from book b
      where b.series_id = s.id and b.missing_at is null and ${own(sql)} is not null
        and ${seesBook(sql, viewer)}
      order by b.number_sort nulls last, b.name_key, b.id
      limit 1))`
}
