// Values of `series s` that come from the books that a viewer sees, book by book.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook } from '../../lib/accounts/viewer.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'

const present = (sql: Sql, viewer: Viewer) => sql`
  from book b where b.series_id = s.id and b.missing_at is null and ${visibleBook(sql, viewer)}`

export const formatsOf = (sql: Sql, viewer: Viewer): Fragment =>
  sql`array(select b.format ${present(sql, viewer)} and b.format is not null)`

/** Null for other fields. */
export function valueOfBooks(sql: Sql, viewer: Viewer, field: string): Fragment | null {
  switch (field) {
    case 'hasError':
      return sql`exists (select ${present(sql, viewer)} and b.error_code is not null)`
    case 'hasMissing':
      return sql`exists (
        select from book b
        where b.series_id = s.id and b.missing_at is not null and ${visibleBook(sql, viewer)})`
    case 'bookCount':
      return sql`(select count(*) ${present(sql, viewer)})`
    case 'pageCount':
      return sql`(select coalesce(sum(b.page_count), 0) ${present(sql, viewer)})`
    default:
      return null
  }
}

/** Conditions on `book b` in a visible series. */
export const seenBook = (sql: Sql, { ageLimit }: Viewer) =>
  ageLimit === null ? sql`true` : sql`(b.age_rating is null or b.age_rating <= ${ageLimit})`
