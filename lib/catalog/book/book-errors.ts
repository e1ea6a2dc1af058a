// Books whose files cannot be read: a page of them by error code, with the number of each code.
import { presentBook, type Viewer, visibleBook } from '../../auth/viewer.ts'
import type { UnreadableCode } from '../../errors.ts'
import type { Queryable } from '../../postgres/db.ts'

export type ErrorFilter = {
  errorCode?: UnreadableCode | undefined
  libraryId?: string | undefined
  seriesId?: string | undefined
}

/** `rows` are sorted by code and title; `counts` are of all codes, also with `errorCode`. */
type BookErrors = {
  counts: Partial<Record<UnreadableCode, number>>
  rows: { id: string; code: UnreadableCode; message: string | null; at: Date }[]
}

/** A condition on `book b` of `series s`: present, visible and failed. */
export function failedBook(
  sql: Queryable,
  viewer: Viewer,
  { errorCode, libraryId, seriesId }: ErrorFilter,
) {
  return sql`b.error_code is not null and ${presentBook(sql)} and ${visibleBook(sql, viewer)}
    and ${errorCode ? sql`b.error_code = ${errorCode}` : sql`true`}
    and ${libraryId ? sql`b.library_id = ${libraryId}` : sql`true`}
    and ${seriesId ? sql`b.series_id = ${seriesId}` : sql`true`}`
}

export async function bookErrors(
  sql: Queryable,
  viewer: Viewer,
  { offset, limit, ...filter }: ErrorFilter & { offset: number; limit: number },
): Promise<BookErrors> {
  const counts = await sql<{ code: UnreadableCode; count: number }[]>`
    select b.error_code as code, count(*) as count
    from book b join series s on s.id = b.series_id
    where ${failedBook(sql, viewer, { ...filter, errorCode: undefined })}
    group by b.error_code order by b.error_code`
  const rows = await sql<BookErrors['rows']>`
    select b.id, b.error_code as code, b.error_message as message, b.updated_at as at
    from book b join series s on s.id = b.series_id
    where ${failedBook(sql, viewer, filter)}
    order by b.error_code, b.sort_key, b.id
    limit ${limit} offset ${offset}`
  return { counts: Object.fromEntries(counts.map(({ code, count }) => [code, count])), rows }
}
