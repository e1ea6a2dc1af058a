// Row locks of catalogue transactions. All take them in one order, so that no two deadlock: pending files
// (by folder and name), account, series (by id), books (by id), what belongs to a book (by its id), missing
// candidates, labels (by key), folders, libraries (by id), scan. A statement that updates several rows locks
// them in this order first (`order by … for no key update`): an update follows its plan. Where a transaction
// learns too late of a series that it needs, and for cascades, `retryOnDeadlock` is the safety net.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook, visibleSeries } from '../auth/viewer.ts'
import { NotFound } from '../errors.ts'
import type { Queryable, Transaction } from '../postgres/db.ts'

/**
 * Locks series against other changes until the transaction ends. For books of them, lock the series first.
 * `deletion` is for a transaction that may delete them: it would deadlock with one that adds a book, which
 * refers to the series and changes it afterwards. That one starts with `reference`, if it adds to series
 * whose rows it has not locked: rows of several series are referred to in any order.
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

/** `from … for no key update`: a visible `series s`, to follow a select list. */
export function fromSeriesForUpdate(tx: Transaction, viewer: Viewer, id: string): Fragment {
  return tx`
    from series s
    where s.id = ${id} and ${visibleSeries(tx, viewer)}
    for no key update of s`
}

/** `from … for no key update`: a visible `book b` and its `series s`, to follow a select list. */
export function fromBookForUpdate(tx: Transaction, viewer: Viewer, id: string): Fragment {
  // PostgreSQL locks the rows of a join in the order of this list.
  return tx`
    from book b join series s on s.id = b.series_id
    where b.id = ${id} and ${visibleBook(tx, viewer)}
    for no key update of s, b`
}

/**
 * Locks a book for a change of the viewer's progress. Serialises the writes of one account, and with
 * scans that refresh the series, because both count what the account has read. The account comes first:
 * a transaction that waits for it holds no series. The book is only protected from deletion. Throws NotFound.
 */
export async function lockBookForProgress(
  tx: Transaction,
  viewer: Viewer,
  bookId: string,
): Promise<{ pageCount: number }> {
  const lock = () => tx<{ pageCount: number }[]>`
    select b.page_count as "pageCount"
    from book b
    join series s on s.id = b.series_id
    join account a on a.id = ${viewer.accountId}
    where b.id = ${bookId} and ${visibleBook(tx, viewer)}
    for no key update of a for share of s for key share of b`
  // A book that moved to another series while the lock was awaited is found the second time.
  const book = (await lock())[0] ?? (await lock())[0]
  if (!book) throw new NotFound('Book not found')
  return book
}

/** As lockBookForProgress, for all books of a series. Throws NotFound. */
export async function lockSeriesForProgress(
  tx: Transaction,
  viewer: Viewer,
  seriesId: string,
): Promise<{ seriesId: string; libraryId: string }> {
  const [series] = await tx<{ seriesId: string; libraryId: string }[]>`
    select s.id as "seriesId", s.library_id as "libraryId"
    from series s join account a on a.id = ${viewer.accountId}
    where s.id = ${seriesId} and ${visibleSeries(tx, viewer)}
    for no key update of a for share of s`
  if (!series) throw new NotFound('Series not found')
  return series
}
