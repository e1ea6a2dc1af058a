// KOReader documents: the book for a document id, positions of documents without a known book, and linking them to
// their books once these are in the catalog.
import type { Sql } from 'postgres'
import { viewerOf } from '../../accounts/identity.ts'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { clientDevice, type ReadingDevice } from '../../reading/device.ts'
import { recordReading } from '../../reading/record.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import {
  type DocumentMatch,
  type KoreaderBook,
  type KoreaderPosition,
  toPositionUpdate,
} from '../publication/koreader-position.ts'

export type FoundBook = KoreaderBook & { id: string; match: DocumentMatch }

/** How many books of one name are compared; a name shared by more books identifies none. */
const maxOfOneName = 1000

/**
 * The visible book for a document id (MD5 in hex), otherwise null. Of identical files it is the most recently read
 * one; a file name counts only if exactly one visible book has it.
 */
export async function findBookOfDocument(
  sql: Queryable,
  viewer: Viewer,
  document: string,
): Promise<FoundBook | null> {
  if (!/^[\da-f]{32}$/.test(document)) return null
  const visible = visibleBook(sql, viewer)
  const [row] = await sql<FoundBook[]>`
    (select b.id, b.format, b.page_count as "pageCount", 'content' as match
      from book b
      join series s on s.id = b.series_id
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
      where b.fingerprint = decode(${document}, 'hex') and ${visible}
      order by b.missing_at is not null, p.updated_at desc nulls last, b.id
      limit 1)
    union all
    (select (array_agg(b.id))[1], (array_agg(b.format))[1], (array_agg(b.page_count))[1], 'filename'
      from (
        select n.*, count(*) over () as named
        from (
          select * from book n where md5(n.name) = ${document} and ${presentBook(sql, 'n')}
          limit ${maxOfOneName + 1}) n) b
      join series s on s.id = b.series_id
      where b.named <= ${maxOfOneName} and ${visible}
      having count(*) = 1)`
  return row ?? null
}

/** A position as the device wrote it, with its time. */
export type SyncedPosition = KoreaderPosition & { updatedAt: Date }

/** `book` is null for a document without a known book; `at` is absent for now. */
type PositionInDocument = { document: string; book: FoundBook | null }

/**
 * Records a position in a book, or stores it for the document until the book is known. Returns the resulting
 * time of the position.
 */
export async function storePosition(
  sql: Sql,
  viewer: Viewer,
  { document, book, position, at }: PositionInDocument & { position: KoreaderPosition; at?: Date },
): Promise<Date> {
  if (book === null) return await storeUnknown(sql, viewer, { document, position, at })
  const row = await recordPosition(sql, viewer, { book, position, at })
  await sql`
    delete from koreader_document
    where account_id = ${viewer.accountId} and document = ${document}`
  // Without progress, the book was marked as unread after `at`.
  return row?.updatedAt ?? at ?? new Date()
}

async function recordPosition(
  sql: Sql,
  viewer: Viewer,
  { book, position, at }: { book: FoundBook; position: KoreaderPosition; at?: Date },
) {
  const { device, device_id } = position
  const origin = { surface: 'koreader', device: readingDevice(position) } as const
  const { row } = await recordReading(sql, viewer, origin, {
    bookId: book.id,
    ...toPositionUpdate(position, book),
    at,
    locator: {
      device: { id: device_id, name: device },
      koreader: { ...position, match: book.match },
    },
  })
  return row
}

const readingDevice = ({ device, device_id }: KoreaderPosition): ReadingDevice =>
  clientDevice({ id: `koreader:${device_id || device}`, name: device })

/** Documents of an account without a book; the oldest are dropped. */
const maxUnknown = 1_000

async function storeUnknown(
  sql: Sql,
  { accountId }: Viewer,
  { document, position, at }: { document: string; position: KoreaderPosition; at?: Date },
): Promise<Date> {
  const { progress, percentage, device, device_id } = position
  const now = sql`date_trunc('milliseconds', now())`
  const [row] = await sql<{ updatedAt: Date }[]>`
    insert into koreader_document as d (account_id, document, progress, percentage, device, device_id,
      updated_at)
    values (${accountId}, ${document}, ${progress}, ${percentage}, ${device}, ${device_id},
      ${at ? sql`least(${at}::timestamptz, ${now})` : now})
    on conflict (account_id, document) do update set progress = excluded.progress,
      percentage = excluded.percentage, device = excluded.device,
      device_id = excluded.device_id, updated_at = excluded.updated_at
    where d.updated_at <= excluded.updated_at
    returning updated_at as "updatedAt"`
  // Locked rows are being deleted or are no longer the oldest; waiting for them could deadlock.
  await sql`
    delete from koreader_document
    where account_id = ${accountId} and document in (
      select document from koreader_document
      where account_id = ${accountId} and (updated_at, document) <= (
        select updated_at, document from koreader_document where account_id = ${accountId}
        order by updated_at desc, document desc offset ${maxUnknown} limit 1)
      for update skip locked)`
  // A later position is already stored, unless it was just linked to its book.
  return row?.updatedAt ?? (await findUnknown(sql, { accountId }, document))?.updatedAt ?? at!
}

/** The position of a document without a known book; null if there is none. */
export async function findUnknown(
  sql: Queryable,
  { accountId }: Pick<Viewer, 'accountId'>,
  document: string,
): Promise<SyncedPosition | null> {
  const [row] = await sql<SyncedPosition[]>`
    select progress, percentage, device, device_id, updated_at as "updatedAt"
    from koreader_document where account_id = ${accountId} and document = ${document}`
  return row ?? null
}

type Candidate = SyncedPosition & { accountId: string; document: string }

/**
 * Records the stored positions of documents whose books are now in a library. Safe to repeat: a position has
 * its own time, and is deleted only after it was recorded.
 */
export async function linkDocuments(sql: Sql, libraryId: string): Promise<void> {
  const candidates = await sql<Candidate[]>`
    select d.account_id as "accountId", d.document, d.progress, d.percentage, d.device, d.device_id,
      d.updated_at as "updatedAt"
    from koreader_document d
    where d.digest is not null and (
      exists (select from book b where b.fingerprint = d.digest and b.library_id = ${libraryId})
      or exists (select from book b where md5(b.name) = d.document and b.library_id = ${libraryId}))`
  for (const [accountId, documents] of Map.groupBy(candidates, row => row.accountId)) {
    const viewer = await viewerOf(sql, accountId)
    for (const { accountId: _, document, ...position } of viewer ? documents : []) {
      const book = await findBookOfDocument(sql, viewer!, document)
      if (book === null) continue
      await linkDocument(sql, viewer!, { document, book, position }).catch(error => {
        // The book was deleted or hidden in the meantime; the position stays until the next scan.
        if (!(error instanceof NotFound)) throw error
      })
    }
  }
}

type KnownDocument = { document: string; book: FoundBook; position: SyncedPosition }

/** Like `linkDocuments`, for one document of a viewer. */
export async function linkDocument(
  sql: Sql,
  viewer: Viewer,
  { document, book, position: { updatedAt, ...position } }: KnownDocument,
): Promise<void> {
  await recordPosition(sql, viewer, { book, position, at: updatedAt })
  await sql`
    delete from koreader_document
    where account_id = ${viewer.accountId} and document = ${document}
      and updated_at = ${updatedAt}`
}
