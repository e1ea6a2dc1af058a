// What a large cover is made of, where a book or a series is shown: an uploaded image, or the file of a book.
import type { Fragment, Sql } from 'postgres'
import { seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { type BookFile, bookFile } from '../book/book-file.ts'
import type { Owner } from './cover.ts'

/** Name and ending of the file of an uploaded image, or the book whose own cover is shown; neither when there is none. */
export type CoverSource =
  | { upload: { name: string; ending: string } }
  | { book: BookFile }
  | { none: true }

type Row = { bookId: string | null; name: string | null; ending: string | null }

/** Throws NotFound for what is not seen. */
export async function coverSource(sql: Sql, viewer: Viewer, owner: Owner): Promise<CoverSource> {
  const [row] = await (owner.kind === 'book' ? ofBook : ofSeries)(sql, viewer, owner.id)
  if (!row) throw new NotFound(owner.kind === 'book' ? 'Book not found' : 'Series not found')
  const { bookId, name, ending } = row
  if (name !== null && ending !== null) return { upload: { name, ending } }
  return bookId === null ? { none: true } : { book: await bookFile(sql, viewer, bookId) }
}

const uploaded = (sql: Sql) => sql`
  encode(coalesce(c.hash, d.hash), 'hex') as name, coalesce(c.original, d.original) as ending`

const ofBook = (sql: Sql, viewer: Viewer, id: string) => sql<Row[]>`
  select b.id as "bookId", encode(c.hash, 'hex') as name, c.original as ending
  from book b
  join series s on s.id = b.series_id
  left join cover c on c.book_id = b.id and c.hash = b.custom_cover
  where b.id = ${id} and ${seesBook(sql, viewer)}`

// The series' own, else that of the book that stands for it.
const ofSeries = (sql: Sql, viewer: Viewer, id: string) => sql<Row[]>`
  select f.id as "bookId", ${uploaded(sql)}
  from (
    select s.id, s.custom_cover, ${standing(sql, viewer)} as book_id
    from series s where s.id = ${id} and ${seesSeries(sql, viewer)}) s
  left join book f on f.id = s.book_id
  left join cover c on c.series_id = s.id and c.hash = s.custom_cover
  left join cover d on d.book_id = f.id and d.hash = f.custom_cover`

/** As in cover-shown.ts; without any cover the first book. */
function standing(sql: Sql, viewer: Viewer): Fragment {
  const hasCover = sql`coalesce(b.custom_cover, b.cover) is not null`
  const seen = sql`b.series_id = s.id and b.missing_at is null and ${seesBook(sql, viewer)}`
  const first = sql`order by b.number_sort nulls last, b.name_key, b.id limit 1`
  return sql`coalesce(
    (select b.id from book b where b.id = s.cover_book_id and ${hasCover} and ${seen}),
    (select b.id from book b where ${hasCover} and ${seen} ${first}),
    (select b.id from book b where ${seen} ${first}))`
}
