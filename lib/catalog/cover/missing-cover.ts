// Which book a cover can be made of at once, where a book, a series or a library is shown without one.
import type { Fragment, Sql } from 'postgres'
import { seesBook, seesLibrary, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { seriesTried } from './displayed-cover.ts'

export type Shown = 'book' | 'series' | 'library'
export type Due = { libraryId: string; bookId: string }

type Asked = {
  viewer: Viewer
  kind: Shown
  id: string
  /** Hex name of a thumbnail that the catalogue knows and whose file is gone; else null. */
  lost: string | null
}

/** Null when nothing can be made: no such book is seen, is present and has an image to offer. */
export async function dueCover(sql: Sql, asked: Asked): Promise<Due | null> {
  const { viewer, kind, id } = asked
  const columns = sql`b.id as "bookId", b.library_id as "libraryId"`
  const isDue = sql`${wanted(sql, asked)} and ${seesBook(sql, viewer)}`
  const first = sql`
    order by (b.id = s.cover_book_id) is true desc, b.number_sort nulls last, b.name_key, b.id
    limit 1`
  const [due] =
    kind === 'library'
      ? await sql<Due[]>`
          select first.* from (
            select s.* from series s join library l on l.id = s.library_id
            where l.id = ${id} and l.deleting_at is null and s.book_count > 0
              and ${seesLibrary(sql, viewer)} and ${seesSeries(sql, viewer)}
            order by s.sort_key, s.id
            limit ${seriesTried}) s
          cross join lateral (
            select ${columns} from book b where b.series_id = s.id and ${isDue} ${first}) first
          order by s.sort_key, s.id
          limit 1`
      : await sql<Due[]>`
          select ${columns}
          from book b join series s on s.id = b.series_id
          where ${kind === 'book' ? sql`b.id = ${id}` : sql`s.id = ${id}`} and ${isDue} ${first}`
  return due ?? null
}

function wanted(sql: Sql, { lost }: Asked): Fragment {
  if (lost === null) return wantsCover(sql)
  return sql`${isPresentable(sql)} and b.missing_at is null and b.cover = decode(${lost}, 'hex')`
}

/** A condition on `book b`: it has no cover, and one can be made. */
export function wantsCover(sql: Sql): Fragment {
  return sql`b.missing_at is null and b.cover is null and b.cover_error is null
    and ${isPresentable(sql)}`
}

// Whether an EPUB without images has a cover is known when it is made; any other needs a page.
function isPresentable(sql: Sql) {
  return sql`b.error_code is null and (b.page_count > 0 or b.format = 'epub')`
}
