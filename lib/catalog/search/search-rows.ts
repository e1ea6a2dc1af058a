// Writes what searches look into. Scans write the rows of the books they read; whoever changes a
// title, names, authors, genres or tags otherwise calls these, in the same transaction.
import type { Db } from '../list/filter-sql.ts'
import { bookSearchText, searchLine, searchText } from './search-text.ts'

type Person = { name: string }

/** Makes the search rows of books what the books say. */
export async function writeBookSearch(tx: Db, bookIds: string[]): Promise<void> {
  if (bookIds.length === 0) return
  const books = await tx<
    {
      id: string
      title: string
      series: string
      authors: Person[]
      number: string | null
      tags: string[]
    }[]
  >`
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
    on conflict (book_id) do update
    set series_id = excluded.series_id, is_present = excluded.is_present,
      sort_key = excluded.sort_key, text = excluded.text
    where (t.series_id, t.is_present, t.sort_key, t.text)
      is distinct from (excluded.series_id, excluded.is_present, excluded.sort_key, excluded.text)`
}

// Names of authors that a series is found by: those of its first books.
const mostAuthors = 30

/** Makes the search rows of series what the series and their books say, and the series' line in their books' rows. */
export async function writeSeriesSearch(tx: Db, seriesIds: string[]): Promise<void> {
  if (seriesIds.length === 0) return
  const series = await tx<
    {
      id: string
      title: string
      name: string
      alternates: { title: string }[]
      authors: Person[]
      people: string[]
      labels: string[]
      before: string | null
      isChosen: boolean
    }[]
  >`
    select s.id, s.title, s.name, s.alternate_titles as alternates, s.authors,
      s.genres || s.tags as labels, t.text as before,
      coalesce(s.provenance->>'title' = 'user', false) as "isChosen",
      array(
        select a->>'name' from (
          select authors from book b
          where b.series_id = s.id and b.missing_at is null and b.authors <> '[]'
          order by b.number_sort, b.name_key, b.id limit 100) b, jsonb_array_elements(b.authors) a
        group by 1 order by count(*) desc, 1 limit ${mostAuthors}) as people
    from series s
    left join series_search t on t.series_id = s.id
    where s.id = any(${seriesIds})
    order by s.id`
  const rows = series.flatMap(({ id, title, before, isChosen, ...more }) => {
    const text = searchText(title, [
      more.name,
      ...more.alternates.map(other => other.title),
      ...more.authors.map(author => author.name),
      ...more.people,
      ...more.labels,
    ])
    const isRenamed = before === null || before.split('\n', 1)[0] !== text.split('\n', 1)[0]
    // A scan that read books while a user chose the title gave them the one before.
    const line = isRenamed || isChosen ? searchLine(title) : null
    return text === before && line === null ? [] : [{ id, text, line }]
  })
  if (rows.length === 0) return
  await tx`
    insert into series_search as t (series_id, text)
    select id, text from jsonb_to_recordset(${tx.json(rows)}) as g(id uuid, text text)
    on conflict (series_id) do update set text = excluded.text
    where t.text <> excluded.text`
  await tx`
    update book_search t
    set text = regexp_replace(t.text, ${'^([^\n]*\n)[^\n]*'}, ${'\\1 '} || g.line)
    from jsonb_to_recordset(${tx.json(rows.filter(row => row.line !== null))})
      as g(id uuid, line text)
    join book b on b.series_id = g.id
    where t.book_id = b.id and split_part(t.text, ${'\n'}, 2) <> ' ' || g.line`
}
