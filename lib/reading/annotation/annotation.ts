// Annotations of books by accounts: their record, and lists of an account's own.
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import type { Queryable } from '../../store/postgres/db.ts'

export const annotationKinds = ['bookmark', 'highlight', 'note'] as const
export type AnnotationKind = (typeof annotationKinds)[number]

export type Annotation = {
  id: string
  bookId: string
  kind: AnnotationKind
  /** A Readium locator; null for a deleted one, as are the other values. */
  locator: unknown
  devicePosition: string | null
  text: string | null
  note: string | null
  color: string | null
  createdAt: Date
  updatedAt: Date
  deletedAt: Date | null
}

export function annotationColumns(sql: Queryable) {
  return sql`a.id, a.book_id as "bookId", a.kind, a.locator, a.device_position as "devicePosition", a.text,
    a.note, a.color, a.created_at as "createdAt", a.updated_at as "updatedAt", a.deleted_at as "deletedAt"`
}

type OfBook = {
  bookId: string
  kind: AnnotationKind | undefined
  offset: number
  pageSize: number
}

/** In the order of the book. Throws NotFound for a hidden book. */
export async function annotationsOfBook(
  sql: Queryable,
  viewer: Viewer,
  { bookId, kind, offset, pageSize }: OfBook,
): Promise<{ data: Annotation[]; total: number }> {
  const own = sql`
    a.account_id = ${viewer.accountId} and a.book_id = b.id and a.deleted_at is null
    and ${kind ? sql`a.kind = ${kind}` : sql`true`}`
  const [book] = await sql<{ total: number }[]>`
    select (select count(*)::float8 from annotation a where ${own}) as total
    from book b join series s on s.id = b.series_id
    where b.id = ${bookId} and ${visibleBook(sql, viewer)}`
  if (!book) throw new NotFound('Book not found')
  const rows = await sql<Annotation[]>`
    select ${annotationColumns(sql)}
    from book b join annotation a on ${own}
    where b.id = ${bookId}
    order by a.progression nulls last, a.id
    limit ${pageSize} offset ${offset}`
  return { data: [...rows], total: book.total }
}

/** `since`: what changed after a time, oldest first and with deletions; otherwise newest first, from before a time. */
export type AnnotationWindow = { limit: number } & ({ since: Date } | { before?: Date | undefined })

/** The viewer's annotations of all visible books, by the time of their latest change, which no two share. */
export async function annotationsOf(
  sql: Queryable,
  viewer: Viewer,
  { limit, ...window }: AnnotationWindow,
): Promise<Annotation[]> {
  const part =
    'since' in window
      ? sql`and a.updated_at > ${window.since}`
      : sql`and a.deleted_at is null and ${window.before ? sql`a.updated_at < ${window.before}` : sql`true`}`
  const rows = await sql<Annotation[]>`
    select ${annotationColumns(sql)}
    from annotation a
    join book b on b.id = a.book_id
    join series s on s.id = b.series_id
    where a.account_id = ${viewer.accountId} and ${visibleBook(sql, viewer)} ${part}
    order by a.updated_at ${'since' in window ? sql`` : sql`desc`}
    limit ${limit}`
  return [...rows]
}

const batchSize = 1_000

/** All of `annotationsOf`, newest first, in batches. */
export async function* allAnnotations(
  sql: Queryable,
  viewer: Viewer,
): AsyncGenerator<Annotation[]> {
  let before: Date | undefined
  do {
    const batch = await annotationsOf(sql, viewer, { limit: batchSize, before })
    if (batch.length > 0) yield batch
    before = batch.length === batchSize ? batch.at(-1)!.updatedAt : undefined
  } while (before)
}
