// Which cover is displayed for a book, a series or a library: its thumbnail, its original, and the events
// when it changes. Each choice is one statement, which also checks visibility.
import type { Fragment } from 'postgres'
import {
  hasVisibleBook,
  type Viewer,
  visibleBook,
  visibleLibrary,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { createBatchLoader } from '../../base/async/batch-loader.ts'
import { NotFound } from '../../base/errors.ts'
import { bookEvents, type NewEvent, seriesEvents } from '../../store/event/publish.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { type BookFile, bookFile } from '../book/book-file.ts'
import { joinArtifact } from '../book/visible-books.ts'
import { readingOrder } from '../derived/reading-order.ts'
import { found, type Owner } from '../owner.ts'

type Row = { cover: string | null }

const bookCover = (sql: Sql) => sql`coalesce(b.custom_cover, a.cover)`

const byId = (rows: readonly (Row & { id: string })[]) =>
  new Map(rows.map(({ id, cover }) => [id, cover]))

const loadBookCover = createBatchLoader<Sql, Viewer, string | null>(async (sql, viewer, ids) =>
  byId(
    await sql`
      select b.id, encode(${bookCover(sql)}, 'hex') as cover
      from book b join series s on s.id = b.series_id ${joinArtifact(sql)}
      where ${isOneOf(sql, sql`b.id`, ids)} and ${visibleBook(sql, viewer)}`,
  ),
)

const seriesCoverLoader = (condition: (sql: Sql, viewer: Viewer) => Fragment) =>
  createBatchLoader<Sql, Viewer, string | null>(async (sql, viewer, ids) =>
    byId(
      await sql`
        select s.id, encode(${seriesCover(sql, viewer)}, 'hex') as cover
        from series s
        where ${isOneOf(sql, sql`s.id`, ids)} and ${visibleSeries(sql, viewer)}
          and ${condition(sql, viewer)}`,
    ),
  )

const loadSeriesCover = seriesCoverLoader(sql => sql`true`)
const loadBrowsableSeriesCover = seriesCoverLoader(
  (sql, viewer) => sql`s.book_count > 0 and ${hasVisibleBook(sql, viewer)}`,
)

const coverBy =
  (kind: Owner['kind'], load: typeof loadBookCover) =>
  async (sql: Sql, viewer: Viewer, id: string): Promise<string | null> =>
    found(kind, await load(sql, viewer, id.toLowerCase()))

/** Hex name of the thumbnail, null if there is none yet. Throws NotFound. */
export const coverOfBook = coverBy('book', loadBookCover)

/** Cover of the series itself, else of the selected book, of its folder, or of the first visible book that has one. Throws NotFound. */
export const coverOfSeries = coverBy('series', loadSeriesCover)

/** Like `coverOfSeries`, but NotFound also for a series without visible books. */
export const coverOfBrowsableSeries = coverBy('series', loadBrowsableSeriesCover)

// Bounds the search: a library whose first 24 series all lack a cover is shown without one.
export const maxSeriesTried = 24

/** Cover of the first visible series, by title, that has one. Throws NotFound. */
export async function coverOfLibrary(sql: Sql, viewer: Viewer, id: string): Promise<string | null> {
  const [row] = await sql<Row[]>`
    select (
      select encode(cover, 'hex') from (
        select ${seriesCover(sql, viewer)} as cover, s.sort_key, s.id from (
          select * from series s
          where s.library_id = l.id and s.book_count > 0 and ${visibleSeries(sql, viewer)}
          order by s.sort_key, s.id
          limit ${maxSeriesTried}) s
        offset 0) f
      where cover is not null
      order by sort_key, id
      limit 1) as cover
    from library l
    where l.id = ${id} and l.deleting_at is null and ${visibleLibrary(sql, viewer)}`
  if (!row) throw new NotFound('Library not found')
  return row.cover
}

/** Lazy, because `coalesce` stops at the first non-null argument. */
function seriesCover(sql: Sql, viewer: Viewer): Fragment {
  return sql`coalesce(
    s.custom_cover,
    (select ${bookCover(sql)} from book b ${joinArtifact(sql)}
      where b.id = s.cover_book_id and b.series_id = s.id and b.missing_at is null
        and ${visibleBook(sql, viewer)}),
    s.artwork_cover,
    (select ${bookCover(sql)} from book b ${joinArtifact(sql)}
      where b.series_id = s.id and b.missing_at is null and ${bookCover(sql)} is not null
        and ${visibleBook(sql, viewer)}
      order by ${readingOrder(sql, 'b')}
      limit 1))`
}

/** File of an uploaded image, or the book whose cover is displayed, or none; local artwork has only a thumbnail. */
export type CoverSource =
  | { upload: { name: string; extension: string } }
  | { book: BookFile }
  | { none: true }

type SourceRow = { bookId: string | null; name: string | null; extension: string | null }

/** What a large version of the displayed cover is made from. Throws NotFound. */
export async function coverSource(sql: Sql, viewer: Viewer, owner: Owner): Promise<CoverSource> {
  const query = owner.kind === 'book' ? bookCoverSource : seriesCoverSource
  const [row] = await query(sql, viewer, owner.id)
  const { bookId, name, extension } = found(owner.kind, row)
  if (name !== null && extension !== null) return { upload: { name, extension } }
  return bookId === null ? { none: true } : { book: await bookFile(sql, viewer, bookId) }
}

const bookCoverSource = (sql: Sql, viewer: Viewer, id: string) => sql<SourceRow[]>`
  select case when a.artwork is null then b.id end as "bookId", encode(c.hash, 'hex') as name,
    c.original as extension
  from book b
  join series s on s.id = b.series_id ${joinArtifact(sql)}
  left join cover c on c.book_id = b.id and c.hash = b.custom_cover
  where b.id = ${id} and ${visibleBook(sql, viewer)}`

/** The series' upload, otherwise the upload of the book whose cover it displays. */
const seriesCoverSource = (sql: Sql, viewer: Viewer, id: string) => sql<SourceRow[]>`
  select case when a.artwork is null then f.id end as "bookId",
    encode(coalesce(c.hash, d.hash), 'hex') as name,
    coalesce(c.original, d.original) as extension
  from (
    select s.id, s.custom_cover, ${coverBook(sql, viewer)} as book_id
    from series s where s.id = ${id} and ${visibleSeries(sql, viewer)}) s
  left join book f on f.id = s.book_id
  left join book_artifact a on a.book_id = f.id
  left join cover c on c.series_id = s.id and c.hash = s.custom_cover
  left join cover d on d.book_id = f.id and d.hash = f.custom_cover`

/** Book whose cover `series s` displays, as in seriesCover; the first book if none has a cover. Null for artwork. */
function coverBook(sql: Sql, viewer: Viewer): Fragment {
  const hasCover = sql`${bookCover(sql)} is not null`
  const visible = sql`b.series_id = s.id and b.missing_at is null and ${visibleBook(sql, viewer)}`
  const first = sql`order by ${readingOrder(sql, 'b')} limit 1`
  return sql`coalesce(
    (select b.id from book b ${joinArtifact(sql)}
      where b.id = s.cover_book_id and ${hasCover} and ${visible}),
    case when s.artwork_cover is null then coalesce(
      (select b.id from book b ${joinArtifact(sql)} where ${hasCover} and ${visible} ${first}),
      (select b.id from book b where ${visible} ${first})) end)`
}

/** Events for series whose artwork changed, unless they display a different cover. */
export async function artworkEvents(
  tx: Transaction,
  series: { id: string; libraryId: string }[],
): Promise<NewEvent[]> {
  if (series.length === 0) return []
  const displaying = await tx<{ id: string; libraryId: string }[]>`
    select s.id, s.library_id as "libraryId"
    from series s
    where s.id = any(${series.map(({ id }) => id)}::uuid[]) and s.custom_cover is null
      and not exists (
        select from book b ${joinArtifact(tx)}
        where b.id = s.cover_book_id and b.series_id = s.id and b.missing_at is null
          and coalesce(b.custom_cover, a.cover) is not null)
    order by s.id`
  return seriesEvents('cover_updated', displaying)
}

// Bounds the event query: a series whose first three books lack a cover displays a later one, for which no event
// is published.
const maxBooksTried = 3

/** Events for books that got a new cover, and for the series that display one of them. */
export async function coverEvents(
  tx: Transaction,
  books: { id: string; libraryId: string; seriesId: string }[],
  ofBooks: Pick<NewEvent, 'fields'> = {},
): Promise<NewEvent[]> {
  if (books.length === 0) return []
  const ids = [...new Set(books.map(book => book.seriesId))]
  // Planning the next statement for its specific values takes ten times as long as running it.
  const planning = tx`set local plan_cache_mode = force_generic_plan`.execute()
  // The choice of seriesCover for a viewer without restrictions.
  const selected = tx<{ id: string; libraryId: string }[]>`
    select s.id, s.library_id as "libraryId"
    from series s
    cross join lateral (
      select coalesce(
        (select b.id from book b ${joinArtifact(tx)}
          where b.id = s.cover_book_id and b.series_id = s.id and b.missing_at is null
            and coalesce(b.custom_cover, a.cover) is not null),
        (select id from (
            select b.id, coalesce(b.custom_cover, a.cover) as cover, b.volume_sort, b.number_sort, b.name_key
            from book b ${joinArtifact(tx)}
            where b.series_id = s.id and b.missing_at is null
            order by ${readingOrder(tx, 'b')}
            limit ${maxBooksTried}) b
          where cover is not null and s.artwork_cover is null
          order by ${readingOrder(tx, 'b')}
          limit 1)) as id) displayed
    where s.id = any(${ids}::uuid[]) and s.custom_cover is null
      and displayed.id = any(${books.map(book => book.id)}::uuid[])
    order by s.id`
  const [series] = await Promise.all([selected, planning])
  return [...bookEvents('cover_updated', books, ofBooks), ...seriesEvents('cover_updated', series)]
}
