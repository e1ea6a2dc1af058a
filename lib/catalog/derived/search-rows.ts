// Search rows of books and series: `book_search` and `series_search` contain the normalized text that
// searches match. Scans write the rows of the books they read themselves.

import {
  bookSearchText,
  joinedLine,
  normalizeSearchText,
  seriesSearchText,
} from '../../media/name/search-text.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { readingOrder } from './reading-order.ts'

type Person = { name: string }

type SearchedBook = {
  id: string
  title: string
  series: string
  authors: Person[]
  number: string | null
  tags: string[]
}

/** Writes the search rows of books where they differ. */
export async function refreshBookSearch(tx: Queryable, bookIds: string[]): Promise<void> {
  if (bookIds.length === 0) return
  const books = await tx<SearchedBook[]>`
    select b.id, b.title, s.title as series, b.authors, b.number, b.tags
    from book b join series s on s.id = b.series_id
    where b.id = any(${bookIds})`
  const rows = books.map(book => ({ id: book.id, text: bookSearchText(book) }))
  await tx`
    insert into book_search as t (book_id, series_id, is_present, sort_key, text)
    select b.id, b.series_id, b.missing_at is null, b.sort_key, g.text
    from jsonb_to_recordset(${tx.json(rows)}) as g(id uuid, text text)
    join book b on b.id = g.id
    order by b.id
    -- A book being deleted must not leave a row.
    for key share of b
    on conflict (book_id) do update
    set series_id = excluded.series_id, is_present = excluded.is_present,
      sort_key = excluded.sort_key, text = excluded.text
    where (t.series_id, t.is_present, t.sort_key, t.text)
      is distinct from (excluded.series_id, excluded.is_present, excluded.sort_key, excluded.text)`
}

// Authors of the first books, by which a series can be found.
const maxAuthors = 30

type SearchedSeries = {
  id: string
  title: string
  name: string
  alternateTitles: { title: string }[]
  authors: Person[]
  bookAuthors: string[]
  labels: string[]
}

/**
 * Writes the search rows of series where they differ, and the series title line in the rows of their books. The latter
 * are always compared: a batch writes them with the title it expects, while users and scans change it.
 */
export async function refreshSeriesSearch(tx: Queryable, seriesIds: string[]): Promise<void> {
  if (seriesIds.length === 0) return
  const series = await tx<SearchedSeries[]>`
    select s.id, s.title, s.name, s.alternate_titles as "alternateTitles", s.authors,
      s.genres || s.tags as labels,
      array(
        select a->>'name' from (
          select authors from book b
          where b.series_id = s.id and b.missing_at is null and b.authors <> '[]'
          order by ${readingOrder(tx, 'b')} limit 100) b, jsonb_array_elements(b.authors) a
        group by 1 order by count(*) desc, 1 limit ${maxAuthors}) as "bookAuthors"
    from series s
    where s.id = any(${seriesIds})
    order by s.id`
  const rows = series.map(({ id, title, ...more }) => ({
    id,
    line: normalizeSearchText(title),
    joined: joinedLine(normalizeSearchText(title)),
    text: seriesSearchText({
      title,
      otherTitles: [more.name, ...more.alternateTitles.map(other => other.title)],
      values: [...more.authors.map(author => author.name), ...more.labels],
      books: more.bookAuthors,
    }),
  }))
  await tx`
    insert into series_search as t (series_id, text)
    select id, text from jsonb_to_recordset(${tx.json(rows)}) as g(id uuid, text text)
    on conflict (series_id) do update set text = excluded.text
    where t.text <> excluded.text`
  await tx`
    update book_search t
    set text = regexp_replace(
      t.text, ${'^([^\n]*\n)[^\n]*(\n.*\\^[^\n]*\n)[^\n]*'}, ${'\\1 '} || g.line || ${'\\2'} || g.joined)
    from jsonb_to_recordset(${tx.json(rows)})
      as g(id uuid, line text, joined text)
    join book b on b.series_id = g.id
    where t.book_id = b.id and split_part(t.text, ${'\n'}, 2) <> ' ' || g.line`
}
