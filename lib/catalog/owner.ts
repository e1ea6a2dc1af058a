// Owner of covers, labels and external references: a book or a series.
import { type Viewer, visibleBook, visibleSeries } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import type { Queryable } from '../store/postgres/db.ts'

export type OwnerKind = 'book' | 'series'
export type Owner = { kind: OwnerKind; id: string }
export type OwnerRequest = { viewer: Viewer; owner: Owner }

/** A book (with its series) or a series, as identified in events. */
export type BookOrSeries = { id: string; libraryId: string; seriesId?: string }

/** Throws NotFound unless the viewer may see the owner. `lock` protects its row from other changes until the transaction ends. */
export async function requireOwner(
  sql: Queryable,
  { viewer, owner }: OwnerRequest,
  { lock = false } = {},
): Promise<BookOrSeries> {
  const { kind, id } = owner
  const find = () =>
    kind === 'book'
      ? sql<BookOrSeries[]>`
          select b.id, b.library_id as "libraryId", b.series_id as "seriesId"
          from book b join series s on s.id = b.series_id
          where b.id = ${id} and ${visibleBook(sql, viewer)}
          ${lock ? sql`for no key update of b` : sql``}`
      : sql<BookOrSeries[]>`
          select s.id, s.library_id as "libraryId"
          from series s where s.id = ${id} and ${visibleSeries(sql, viewer)}
          ${lock ? sql`for no key update` : sql``}`
  const [row] = await find()
  // A book that moved to another series while waiting for the lock is found the second time.
  const [again = row] = row === undefined && lock ? await find() : []
  return found(kind, again)
}

/** What was looked up. Throws NotFound if there is nothing. */
export function found<T>(kind: OwnerKind, result: T | undefined): T {
  if (result === undefined) throw ownerNotFound(kind)
  return result
}

export const ownerNotFound = (kind: OwnerKind) =>
  new NotFound(kind === 'book' ? 'Book not found' : 'Series not found')
