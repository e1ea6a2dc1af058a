// Owner of covers, labels and external references: a book or a series.
import { type Viewer, visibleBook, visibleSeries } from '../auth/viewer.ts'
import { NotFound } from '../errors.ts'
import type { Queryable } from '../postgres/db.ts'

export type OwnerKind = 'book' | 'series'
export type Owner = { kind: OwnerKind; id: string }
export type OwnerRequest = { viewer: Viewer; owner: Owner }

/** A book (with its series) or a series, as events name it. */
export type BookOrSeries = { id: string; libraryId: string; seriesId?: string }

/** Throws NotFound unless the viewer may see the owner. `lock` keeps its row from other changes until the transaction ends. */
export async function requireOwner(
  sql: Queryable,
  { viewer, owner }: OwnerRequest,
  { lock = false } = {},
): Promise<BookOrSeries> {
  const { kind, id } = owner
  const [row] =
    kind === 'book'
      ? await sql<BookOrSeries[]>`
          select b.id, b.library_id as "libraryId", b.series_id as "seriesId"
          from book b join series s on s.id = b.series_id
          where b.id = ${id} and ${visibleBook(sql, viewer)}
          ${lock ? sql`for no key update of b` : sql``}`
      : await sql<BookOrSeries[]>`
          select s.id, s.library_id as "libraryId"
          from series s where s.id = ${id} and ${visibleSeries(sql, viewer)}
          ${lock ? sql`for no key update` : sql``}`
  if (!row) throw ownerNotFound(kind)
  return row
}

export const ownerNotFound = (kind: OwnerKind) =>
  new NotFound(kind === 'book' ? 'Book not found' : 'Series not found')
