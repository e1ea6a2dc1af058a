// Tells what happened: rows of `event` in the transaction of the change, so that an event is there
// exactly when its change is. Who reads them: lib/event/feed.ts.
import type { Sql, TransactionSql } from 'postgres'

export const entityTypes = [
  'book_created',
  'book_updated',
  'book_deleted',
  'series_created',
  'series_updated',
  'series_deleted',
  'library_created',
  'library_updated',
  'library_deleted',
  'cover_updated',
  'progress_updated',
] as const
export type EntityType = (typeof entityTypes)[number]

/** What tells whether a viewer saw a thing that is gone; see lib/event/audience.ts. */
export type Audience = {
  /** Of a library: accounts that it was given to by name. */
  accounts?: string[]
  /** Beside each series (or book): its age rating in years, its sharing tags. */
  ratings?: (number | null)[]
  /** Of books: whether their series has none. */
  unrated?: boolean[]
  tags?: string[][]
}

/**
 * Events of one type in one library: of books with their series beside them, of series, or of the
 * library itself.
 */
export type Told = {
  type: EntityType
  libraryId: string
  books?: { id: string; seriesId: string }[]
  series?: string[]
  /** What changed; none means that anything may have. */
  fields?: string[]
  /** Only for this account. */
  accountId?: string
  audience?: Audience
}

type At = { id: string; libraryId: string }
type Common = Pick<Told, 'fields' | 'accountId'>

/** The same event for books of any libraries. */
export function ofBooks(
  type: EntityType,
  books: readonly (At & { seriesId: string })[],
  common: Common = {},
): Told[] {
  return [...Map.groupBy(books, book => book.libraryId)].map(([libraryId, its]) => ({
    ...common,
    type,
    libraryId,
    books: its.map(({ id, seriesId }) => ({ id, seriesId })),
  }))
}

/** The same event for series of any libraries. */
export function ofSeries(type: EntityType, series: readonly At[], common: Common = {}): Told[] {
  return [...Map.groupBy(series, one => one.libraryId)].map(([libraryId, its]) => ({
    ...common,
    type,
    libraryId,
    series: its.map(({ id }) => id),
  }))
}

// Together with `pieces` a row stays small enough to be sent as one piece.
const most = 500

/** Call it in the transaction of the change. One statement, whatever the number of events; none for none. */
export async function tell(tx: Sql | TransactionSql, told: Told[]): Promise<void> {
  const rows = told.flatMap(pieces)
  if (rows.length === 0) return
  await tx`
    insert into event (type, count, library_id, series_ids, book_ids, fields, account_id, audience)
    select *
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(type text, count integer,
      library_id uuid, series_ids uuid[], book_ids uuid[], fields text[], account_id uuid,
      audience jsonb)`
}

function pieces({ type, libraryId, books, series, fields, accountId, audience }: Told) {
  const common = { type, library_id: libraryId, fields, account_id: accountId }
  const all = books ?? series
  if (!all) return [{ ...common, count: 1, audience }]
  const rows: object[] = []
  for (let from = 0; from < all.length; from += most) {
    const part = <T>(list: T[] | undefined) => list?.slice(from, from + most)
    rows.push({
      ...common,
      count: part(all as unknown[])!.length,
      series_ids: part(series) ?? part(books)!.map(book => book.seriesId),
      ...(books ? { book_ids: part(books)!.map(book => book.id) } : {}),
      ...(audience
        ? {
            audience: {
              ...audience,
              ratings: part(audience.ratings),
              unrated: part(audience.unrated),
              tags: part(audience.tags),
            },
          }
        : {}),
    })
  }
  return rows
}

/** One message of the task or the scan stream, about work in a library, a series or a book, or about none. */
export type Progress = {
  stream: 'task' | 'scan'
  type: 'task_progress' | 'scan_progress'
  data: object
  libraryId?: string | null
  seriesId?: string | null
  bookId?: string | null
}

/** The same for tasks and scans: one statement for all messages. */
export async function tellProgress(tx: Sql | TransactionSql, messages: Progress[]): Promise<void> {
  if (messages.length === 0) return
  const rows = messages.map(({ stream, type, data, libraryId, seriesId, bookId }) => ({
    stream,
    type,
    data,
    library_id: libraryId,
    series_ids: seriesId ? [seriesId] : null,
    book_ids: bookId ? [bookId] : null,
  }))
  await tx`
    insert into event (stream, type, count, library_id, series_ids, book_ids, data)
    select stream, type, 1, library_id, series_ids, book_ids, data
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(stream text, type text,
      library_id uuid, series_ids uuid[], book_ids uuid[], data jsonb)`
}
