// Event publisher: writes `event` rows in the same transaction as the change, so that an event exists if and
// only if its change does. lib/store/event/feed.ts reads them.
import type { Queryable } from '../postgres/db.ts'

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
  'want_to_read_updated',
  'rating_updated',
  'annotation_updated',
  'collection_created',
  'collection_updated',
  'collection_deleted',
  'read_list_created',
  'read_list_updated',
  'read_list_deleted',
  'release_announced',
  'release_source_polled',
] as const
export type EntityType = (typeof entityTypes)[number]

/** Facts about a deleted entity that determine who could see it; see lib/store/event/audience.ts. */
export type Audience = {
  /** For a library: accounts that it was individually assigned to. */
  accounts?: string[]
  /** For each series (or book): its age rating in years, its sharing tags. */
  ratings?: (number | null)[]
  /** For each book: whether its series has no rating. */
  unrated?: boolean[]
  tags?: string[][]
  /**
   * For a message about a whole library: what accounts with an age limit or sharing tags receive instead,
   * without counts; null for nothing.
   */
  limited?: object | null
  /**
   * For a collection or read list: members that were added, removed or moved, or all members of a deleted
   * one.
   */
  members?: readonly string[]
}

/**
 * Events of one type in one library: for books (with their series), for series, or for the library itself;
 * without a library, for something that belongs to an account.
 */
export type NewEvent = {
  type: EntityType
  libraryId: string | null
  books?: { id: string; seriesId: string }[]
  series?: string[]
  /** Fields that changed; undefined means that any may have. */
  fields?: string[]
  /** Visible to this account only. */
  accountId?: string
  audience?: Audience
}

type Entity = { id: string; libraryId: string }
type Common = Pick<NewEvent, 'fields' | 'accountId'>

/** The same event for books of any libraries. */
export function bookEvents(
  type: EntityType,
  books: readonly (Entity & { seriesId: string })[],
  common: Common = {},
): NewEvent[] {
  return [...Map.groupBy(books, book => book.libraryId)].map(([libraryId, group]) => ({
    ...common,
    type,
    libraryId,
    books: group.map(({ id, seriesId }) => ({ id, seriesId })),
  }))
}

/** The same event for series of any libraries. */
export function seriesEvents(
  type: EntityType,
  series: readonly Entity[],
  common: Common = {},
): NewEvent[] {
  return [...Map.groupBy(series, ({ libraryId }) => libraryId)].map(([libraryId, group]) => ({
    ...common,
    type,
    libraryId,
    series: group.map(({ id }) => id),
  }))
}

// Small enough to send a row to a client in one piece.
const maxIdsPerRow = 500

/**
 * Must be called in the transaction of the change. Sends one statement for any number of events, none for an
 * empty list.
 */
export async function publish(tx: Queryable, events: NewEvent[]): Promise<void> {
  const rows = events.flatMap(toRows)
  if (rows.length === 0) return
  await tx`
    insert into event (type, count, library_id, series_ids, book_ids, fields, account_id, audience)
    select *
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(type text, count integer,
      library_id uuid, series_ids uuid[], book_ids uuid[], fields text[], account_id uuid,
      audience jsonb)`
}

function toRows({ type, libraryId, books, series, fields, accountId, audience }: NewEvent) {
  const common = { type, library_id: libraryId, fields, account_id: accountId }
  const entities = books ?? series
  if (!entities) return [{ ...common, count: 1, audience }]
  const rows: object[] = []
  for (let from = 0; from < entities.length; from += maxIdsPerRow) {
    const part = <T>(list: T[] | undefined) => list?.slice(from, from + maxIdsPerRow)
    rows.push({
      ...common,
      count: part(entities as unknown[])!.length,
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

/**
 * An event of a collection or read list. Native streams do not send it to accounts that some content is
 * hidden from.
 */
export async function publishGrouping(
  tx: Queryable,
  type: EntityType,
  data: { collectionId: string } | { readListId: string },
  { fields, members = [] }: { fields?: string[]; members?: readonly string[] },
): Promise<void> {
  const audience = members.length > 0 ? tx.json({ members } satisfies Audience) : null
  await tx`
    insert into event (type, count, data, fields, audience)
    values (${type}, 1, ${tx.json(data)}, ${fields ?? null}, ${audience})`
}

/** A message of the task or scan stream, about work on a library, series or book, or on none of them. */
export type Progress = {
  stream: 'task' | 'scan'
  type: 'task_progress' | 'scan_progress'
  data: object
  libraryId?: string | null
  seriesId?: string | null
  bookId?: string | null
  /** See `Audience`. */
  limited?: object | null
}

/** Like `publish`, for task and scan progress. */
export async function publishProgress(tx: Queryable, messages: Progress[]): Promise<void> {
  if (messages.length === 0) return
  const rows = messages.map(({ stream, type, data, libraryId, seriesId, bookId, limited }) => ({
    stream,
    type,
    data,
    library_id: libraryId,
    series_ids: seriesId ? [seriesId] : null,
    book_ids: bookId ? [bookId] : null,
    audience: limited === undefined ? null : { limited },
  }))
  await tx`
    insert into event (stream, type, count, library_id, series_ids, book_ids, data, audience)
    select stream, type, 1, library_id, series_ids, book_ids, data, audience
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(stream text, type text,
      library_id uuid, series_ids uuid[], book_ids uuid[], data jsonb, audience jsonb)`
}
