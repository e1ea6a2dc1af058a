// Row locks of catalog transactions. All take them in the same order, so that no two deadlock: pending files
// (by folder and name), account, series (by id), books (by id), rows that belong to a book (by its id), missing
// candidates, labels (by key), folders, libraries (by id), scan. A statement that updates several rows locks
// them in this order first (`order by … for no key update`), because an update follows its plan. Where a transaction
// learns too late about a series that it needs, and for cascades, `retryOnDeadlock` is the safety net.
import { type Viewer, visibleBook, visibleSeries } from '../accounts/viewer.ts'
import type { FormatName } from '../media/format/formats.ts'
import type { Queryable, Transaction } from '../store/postgres/db.ts'

/**
 * Locks series against other changes until the transaction ends; lock them before their books.
 * `deletion` is for a transaction that may delete them: it would deadlock with one that adds a book, which
 * references the series and changes it afterwards. The latter starts with `reference` if it adds to series
 * whose rows it has not locked, because rows of several series are referenced in any order.
 */
export async function lockSeries(
  tx: Queryable,
  seriesIds: Iterable<string>,
  purpose: 'change' | 'deletion' | 'reference' = 'change',
): Promise<void> {
  const ids = [...new Set(seriesIds)]
  if (ids.length === 0) return
  const strength = {
    change: tx`for no key update`,
    deletion: tx`for update`,
    reference: tx`for key share`,
  }[purpose]
  await tx`select 1 from series where id = any(${ids}) order by id ${strength}`
}

/** `from … for no key update`: the visible `series s` with these ids, to follow a select list. */
export function fromSeriesForUpdate(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  return tx`
    from series s
    where s.id = any(${ids as string[]}::uuid[]) and ${visibleSeries(tx, viewer)}
    order by s.id
    for no key update of s`
}

/** `from … for no key update`: the visible `book b` with these ids and their `series s`, to follow a select list. */
export function fromBooksForUpdate(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  // PostgreSQL locks the rows of a join in the order of this list.
  return tx`
    from book b join series s on s.id = b.series_id
    where b.id = any(${ids as string[]}::uuid[]) and ${visibleBook(tx, viewer)}
    order by s.id, b.id
    for no key update of s, b`
}

export type LockedBook = {
  id: string
  format: FormatName | null
  pageCount: number
  seriesId: string
  libraryId: string
}

/**
 * Locks books for a change of the viewer's progress, and returns the visible ones. Serializes the writes of
 * one account, also with scans that refresh the series, because both count what the account has read. The account
 * comes first: a transaction that waits for it holds no series. Books are only protected from deletion.
 */
export async function lockBooksForProgress(
  tx: Transaction,
  viewer: Viewer,
  bookIds: readonly string[],
): Promise<LockedBook[]> {
  // Sent before any statement that the caller sends without waiting.
  const lock = async (ids: readonly string[]) =>
    await tx<LockedBook[]>`
    select b.id, b.format, b.page_count as "pageCount", b.series_id as "seriesId", b.library_id as "libraryId"
    from book b
    join series s on s.id = b.series_id
    join account a on a.id = ${viewer.accountId}
    where b.id = any(${ids as string[]}::uuid[]) and ${visibleBook(tx, viewer)}
    order by s.id, b.id
    for no key update of a for share of s for key share of b`.execute()
  const books = await lock(bookIds)
  if (books.length === bookIds.length) return books
  // A book that moved to another series while waiting for the lock is found the second time.
  const found = new Set(books.map(({ id }) => id))
  const missed = bookIds.filter(id => !found.has(id))
  return [...books, ...(await lock(missed))]
}

/** Like `lockBooksForProgress`, for all books of series. */
export async function lockSeriesForProgress(
  tx: Transaction,
  viewer: Viewer,
  seriesIds: readonly string[],
): Promise<{ id: string }[]> {
  return await tx<{ id: string }[]>`
    select s.id
    from series s join account a on a.id = ${viewer.accountId}
    where s.id = any(${seriesIds as string[]}::uuid[]) and ${visibleSeries(tx, viewer)}
    order by s.id
    for no key update of a for share of s`
}
