// Changes of annotations. They lock the account's row, so that the times of its changes increase in the order of their
// commits.
import type { JSONValue } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { Conflict, NotFound } from '../../base/errors.ts'
import { type LockedBook, lockBooksForProgress } from '../../catalog/row-locks.ts'
import { bookEvents, publish } from '../../store/event/publish.ts'
import { deleteInBatches } from '../../store/postgres/batch.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { type Annotation, type AnnotationKind, annotationColumns } from './annotation.ts'

/** Per account and book. */
export const maxAnnotations = 10_000
/** Deletions are listed this long, and at most so many per account. */
export const deletionDays = 90
const maxDeletions = 10_000

/** A locator as it is stored, and the fraction of the book before it. */
export type StoredPlace = { locator: JSONValue; progression: number | null }
type PlaceIn = (book: LockedBook) => StoredPlace

type Content = {
  devicePosition?: string | null | undefined
  text?: string | null | undefined
  note?: string | null | undefined
  color?: string | null | undefined
}
type NewAnnotation = Content & {
  id: string
  bookId: string
  kind: AnnotationKind
  createdAt: Date | undefined
  /** Throws Invalid for a place that the book does not have. */
  place: PlaceIn
}
type Changes = Content & { id: string; bookId: string; place: PlaceIn | undefined }
type Address = { id: string; bookId: string }

/**
 * A repeated creation returns what is stored, also after a deletion. Throws NotFound for a hidden book, Conflict for the
 * id of an annotation in another book and for too many.
 */
export const createAnnotation = (
  sql: Sql,
  viewer: Viewer,
  { place, ...values }: NewAnnotation,
): Promise<{ annotation: Annotation; isNew: boolean }> =>
  change(sql, viewer, values.bookId, async (tx, book) => {
    const { accountId } = viewer
    const stored = await find(tx, accountId, values.id)
    if (stored && stored.bookId !== values.bookId)
      throw new Conflict('Another book has an annotation with this id')
    if (stored) return { annotation: stored, isNew: false }
    const [row] = await tx<[{ count: number }]>`
      select count(*)::integer as count from annotation
      where account_id = ${accountId} and book_id = ${book.id} and deleted_at is null`
    if (row.count >= maxAnnotations)
      throw new Conflict(`The limit is ${maxAnnotations} annotations per book`, {
        limit: maxAnnotations,
      })
    const { locator, progression } = place(book)
    const { devicePosition = null, text = null, note = null, color = null } = values
    const [annotation] = await tx<[Annotation]>`
      with changed as (select ${changeTime(tx, accountId)} as at)
      insert into annotation as a (account_id, id, book_id, kind, locator, progression,
        device_position, text, note, color, created_at, updated_at)
      select ${accountId}, ${values.id}, ${book.id}, ${values.kind},
        ${JSON.stringify(locator)}::text::json, ${progression}, ${devicePosition}, ${text}, ${note},
        ${color}, least(${values.createdAt ?? null}::timestamptz, at), at
      from changed
      returning ${annotationColumns(tx)}`
    await announce(tx, viewer, book)
    return { annotation, isNew: true }
  })

/** Absent values are unchanged, null clears. Throws NotFound, also for a deleted one. */
export const updateAnnotation = (
  sql: Sql,
  viewer: Viewer,
  { id, bookId, place, ...content }: Changes,
): Promise<Annotation> =>
  change(sql, viewer, bookId, async (tx, book) => {
    const placed = place?.(book)
    const value = (name: keyof Content, column: string) =>
      content[name] === undefined ? tx`a.${tx(column)}` : tx`${content[name]}`
    const [annotation] = await tx<Annotation[]>`
      update annotation a
      set note = ${value('note', 'note')}, text = ${value('text', 'text')},
        color = ${value('color', 'color')},
        device_position = ${value('devicePosition', 'device_position')},
        locator = ${placed ? tx`${JSON.stringify(placed.locator)}::text::json` : tx`a.locator`},
        progression = ${placed ? tx`${placed.progression}` : tx`a.progression`},
        updated_at = ${changeTime(tx, viewer.accountId)}
      where a.account_id = ${viewer.accountId} and a.id = ${id} and a.book_id = ${bookId}
        and a.deleted_at is null
      returning ${annotationColumns(tx)}`
    if (!annotation) throw notFound()
    await announce(tx, viewer, book)
    return annotation
  })

/** Also succeeds for one that is already deleted. Throws NotFound. */
export const deleteAnnotation = (
  sql: Sql,
  viewer: Viewer,
  { id, bookId }: Address,
): Promise<void> =>
  change(sql, viewer, bookId, async (tx, book) => {
    const { accountId } = viewer
    const stored = await find(tx, accountId, id)
    if (stored?.bookId !== bookId) throw notFound()
    if (stored.deletedAt) return
    await tx`
      with changed as (select ${changeTime(tx, accountId)} as at)
      update annotation
      set locator = null, progression = null, device_position = null, text = null, note = null,
        color = null, updated_at = at, deleted_at = at
      from changed where account_id = ${accountId} and id = ${id}`
    await tx`
      delete from annotation
      where account_id = ${accountId} and deleted_at <= (
        select deleted_at from annotation
        where account_id = ${accountId} and deleted_at is not null
        order by deleted_at desc offset ${maxDeletions} limit 1)`
    await announce(tx, viewer, book, ['deleted'])
  })

/** Forgets old deletions. Returns their number. */
export const forgetDeletions = (sql: Sql, isStopped?: () => boolean): Promise<number> =>
  deleteInBatches(
    limit => sql`
      delete from annotation
      where (account_id, id) in (
        select account_id, id from annotation
        where deleted_at < now() - make_interval(days => ${deletionDays}) limit ${limit})`,
    isStopped,
  )

const notFound = () => new NotFound('Annotation not found')

/** Runs `work` with the book and the account locked. Throws NotFound for a hidden book. */
async function change<T>(
  sql: Sql,
  viewer: Viewer,
  bookId: string,
  work: (tx: Transaction, book: LockedBook) => Promise<T>,
): Promise<T> {
  return await retryOnDeadlock(sql, async tx => {
    const [book] = await lockBooksForProgress(tx, viewer, [bookId])
    if (!book) throw new NotFound('Book not found')
    return await work(tx, book)
  })
}

async function find(tx: Transaction, accountId: string, id: string): Promise<Annotation | null> {
  const [stored] = await tx<Annotation[]>`
    select ${annotationColumns(tx)} from annotation a where a.account_id = ${accountId} and a.id = ${id}`
  return stored ?? null
}

/** Now, but later than all changes of the account. */
const changeTime = (tx: Transaction, accountId: string) => tx`(
  select greatest(date_trunc('milliseconds', clock_timestamp()),
    max(updated_at) + interval '1 millisecond')
  from annotation where account_id = ${accountId})`

/** To the account's other tabs and devices. */
const announce = (tx: Transaction, { accountId }: Viewer, book: LockedBook, fields?: string[]) =>
  publish(tx, bookEvents('annotation_updated', [book], { accountId, ...(fields && { fields }) }))
