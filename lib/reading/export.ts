// Export of an account's reading: the entries of its ledger in batches.
import { type Viewer, visibleBook } from '../accounts/viewer.ts'
import type { Sql } from '../store/postgres/db.ts'
import type { EntryKind, Surface } from './entry.ts'

/** Titles are null for books that are hidden or deleted. */
export type ExportedEntry = {
  id: string
  bookId: string
  seriesTitle: string | null
  bookTitle: string | null
  kind: EntryKind | 'pass'
  surface: Surface | null
  deviceId: string | null
  deviceName: string | null
  startedAt: Date
  endedAt: Date
  measuredMs: number | null
  inferredMs: number | null
  pagesRead: number | null
  page: number | null
  percentage: number | null
}

const batchSize = 1_000

/** Sittings and marks by book and time, then the completed passes, whose kind is `pass`. */
export async function* exportedEntries(sql: Sql, viewer: Viewer): AsyncGenerator<ExportedEntry[]> {
  for (const source of [entries, passes]) {
    let last: ExportedEntry | null = null
    do {
      const batch: ExportedEntry[] = await source(sql, viewer, last)
      if (batch.length > 0) yield batch
      last = batch.length === batchSize ? batch.at(-1)! : null
    } while (last !== null)
  }
}

async function entries(sql: Sql, viewer: Viewer, after: ExportedEntry | null) {
  // Ledger times are whole milliseconds, so a Date is exact.
  const isLater = after
    ? sql`and (r.book_id, r.ended_at, r.id) > (${after.bookId}, ${after.endedAt}, ${after.id})`
    : sql``
  return await sql<ExportedEntry[]>`
    select r.id, r.book_id as "bookId", ${titles(sql)}, r.kind, r.surface, ${device(sql)},
      r.started_at as "startedAt", r.ended_at as "endedAt", r.measured_ms as "measuredMs",
      r.inferred_ms as "inferredMs", r.pages_read as "pagesRead", r.page, r.percentage
    from reading_session r
    ${joins(sql, viewer)}
    where r.account_id = ${viewer.accountId} and r.kind not in ('forget', 'baseline') ${isLater}
    order by r.book_id, r.ended_at, r.id
    limit ${batchSize}`
}

async function passes(sql: Sql, viewer: Viewer, after: ExportedEntry | null) {
  const isLater = after
    ? sql`and (r.book_id, r.completed_at) > (${after.bookId}, ${after.endedAt})`
    : sql``
  return await sql<ExportedEntry[]>`
    select r.book_id as id, r.book_id as "bookId", ${titles(sql)}, 'pass' as kind, null as surface,
      ${device(sql)}, r.started_at as "startedAt", r.completed_at as "endedAt",
      null as "measuredMs", null as "inferredMs", null as "pagesRead", null as page,
      null as percentage
    from reading_pass r
    ${joins(sql, viewer)}
    where r.account_id = ${viewer.accountId} ${isLater}
    order by r.book_id, r.completed_at
    limit ${batchSize}`
}

const titles = (sql: Sql) => sql`v.series_title as "seriesTitle", v.book_title as "bookTitle"`
const device = (sql: Sql) => sql`d.key as "deviceId", d.name as "deviceName"`
const joins = (sql: Sql, viewer: Viewer) => sql`
  left join reading_device d on d.id = r.device
  left join lateral (
    select s.title as series_title, b.title as book_title
    from book b join series s on s.id = b.series_id
    where b.id = r.book_id and ${visibleBook(sql, viewer)}) v on true`
