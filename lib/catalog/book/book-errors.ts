// Books whose files cannot be read, and books whose cover cannot be made: a page by error type, with the number
// of each type.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { noCoverImage, unreadableCodes } from '../../base/errors.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { joinArtifact } from './visible-books.ts'

/** Why a file cannot be read, or why there is no thumbnail. */
export const bookErrorTypes = [...unreadableCodes, 'thumbnail'] as const
export type BookErrorType = (typeof bookErrorTypes)[number]

export type ErrorFilter = {
  errorType?: BookErrorType | undefined
  libraryId?: string | undefined
  seriesId?: string | undefined
}

/** `rows` are sorted by type and title; `counts` cover all types, even with `errorType`. */
type BookErrors = {
  counts: Partial<Record<BookErrorType, number>>
  rows: { id: string; type: BookErrorType; message: string | null; at: Date }[]
}

/** A condition on `book b` of `series s`: present, visible and not readable. */
export function failedBook(sql: Queryable, viewer: Viewer, filter: ErrorFilter): Fragment {
  const { errorType } = filter
  return sql`b.error_code is not null and ${isInScope(sql, viewer, filter)}
    and ${errorType ? sql`b.error_code = ${errorType}` : sql`true`}`
}

/** A condition on `book b` of `series s` and its `book_artifact a`: present, visible, and lacking a cover it should have. */
export function failedCover(sql: Queryable, viewer: Viewer, filter: ErrorFilter): Fragment {
  const { errorType } = filter
  return sql`a.cover_error is not null and a.cover is null and a.cover_error <> ${noCoverImage}
    and b.error_code is null and ${isInScope(sql, viewer, filter)}
    and ${errorType === undefined || errorType === 'thumbnail'}`
}

function isInScope(sql: Queryable, viewer: Viewer, { libraryId, seriesId }: ErrorFilter): Fragment {
  return sql`${presentBook(sql)} and ${visibleBook(sql, viewer)}
    and ${libraryId ? sql`b.library_id = ${libraryId}` : sql`true`}
    and ${seriesId ? sql`b.series_id = ${seriesId}` : sql`true`}`
}

export async function bookErrors(
  sql: Queryable,
  viewer: Viewer,
  { offset, limit, ...filter }: ErrorFilter & { offset: number; limit: number },
): Promise<BookErrors> {
  const counts = await sql<{ type: BookErrorType; count: number }[]>`
    select type, count(*) as count
    from (${selectErrors(sql, viewer, { ...filter, errorType: undefined })}) e
    group by type order by type`
  const rows = await sql<BookErrors['rows']>`
    select id, type, message, at from (${selectErrors(sql, viewer, filter)}) e
    order by type, sort_key, id
    limit ${limit} offset ${offset}`
  return {
    counts: Object.fromEntries(counts.map(({ type, count }) => [type, count])),
    rows: [...rows],
  }
}

function selectErrors(sql: Queryable, viewer: Viewer, filter: ErrorFilter): Fragment {
  return sql`
    select b.id, b.error_code as type, b.error_message as message, b.updated_at as at, b.sort_key
    from book b join series s on s.id = b.series_id
    where ${failedBook(sql, viewer, filter)}
    union all
    select b.id, 'thumbnail', a.cover_error, b.updated_at, b.sort_key
    from book b join series s on s.id = b.series_id ${joinArtifact(sql)}
    where ${failedCover(sql, viewer, filter)}`
}

/** The error of one visible book; null if there is none. */
export async function errorOfBook(sql: Queryable, viewer: Viewer, id: string) {
  const [row] = await sql<{ type: BookErrorType }[]>`
    select type from (${selectErrors(sql, viewer, {})}) e where id = ${id}`
  return row?.type ?? null
}
