// Missing books: decides at the end of a scan about books whose files were not found.
import {
  addShare,
  applyCounterDeltas,
  createCounterDeltas,
} from '../../lib/catalog/derived/counters.ts'
import { lockSeries } from '../../lib/catalog/row-locks.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import { bookEvents, publish } from '../../lib/store/event/publish.ts'
import { countFiles } from '../../lib/store/metrics/pipeline.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import { discardMissingCandidates } from '../scan/differences.ts'
import { recordBooks } from '../scan/figures.ts'
import type { LoadedScan } from '../scan/scan-context.ts'

const batch = 1_000

/** Returns a message if so many books are missing that a fault is likely; null once everything is decided. */
export async function finalizeMissing(
  sql: Sql,
  scan: LoadedScan,
  brakePercent: number,
): Promise<string | null> {
  const [row] = await sql<{ missing: number; present: number; hasUndecided: boolean }[]>`
    select (select count(*)::integer from missing_candidate where library_id = ${scan.libraryId}) as missing,
      book_count as present,
      exists (
        select from directory
        where library_id = ${scan.libraryId} and pending_digest is not null) as "hasUndecided"
    from library where id = ${scan.libraryId}`
  // The library has been deleted in the meantime.
  if (!row) return null
  const { missing, present, hasUndecided } = row
  if (missing === 0 && !hasUndecided) return null
  if (missing > 1 && missing * 100 > present * brakePercent && !scan.options.confirmMissing) {
    await discardMissingCandidates(sql, scan.libraryId)
    return `${missing} of ${present} books were not found, which is more than ${brakePercent} %: none were marked as missing. If they were removed on purpose, scan again with --confirm-missing`
  }
  while (true) {
    const count = await markMissing(sql, scan)
    if (count === null) break
    countFiles(scan.libraryId, { missing: count })
  }
  // Folders whose missing books were all found elsewhere.
  await sql`
    update directory set digest = pending_digest, pending_digest = null
    where library_id = ${scan.libraryId} and pending_digest is not null`
  return null
}

type MissingBook = {
  id: string
  libraryId: string
  seriesId: string
  folderId: string
  listedIn: string
  pageCount: number
  size: number
  isMissing: boolean
}

/** Marks a batch of books as missing and returns their number; null if no candidate was left. */
async function markMissing(sql: Sql, scan: LoadedScan): Promise<number | null> {
  return await retryOnDeadlock(sql, async tx => {
    const next = await tx<{ bookId: string; seriesId: string }[]>`
      select m.book_id as "bookId", b.series_id as "seriesId"
      from missing_candidate m join book b on b.id = m.book_id
      where m.library_id = ${scan.libraryId}
      order by m.book_id
      limit ${batch}`
    if (next.length === 0) return null
    const seriesIds = next.map(candidate => candidate.seriesId)
    await lockSeries(tx, seriesIds)
    // Excludes books that a batch of another library has found in the meantime.
    const candidates = await tx<MissingBook[]>`
      select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.directory_id as "folderId",
        m.directory_id as "listedIn", b.page_count as "pageCount", b.size::float8 as size,
        b.missing_at is not null as "isMissing"
      from missing_candidate m join book b on b.id = m.book_id
      where m.book_id = any(${next.map(candidate => candidate.bookId)})
      order by b.id
      for no key update of b`
    await tx`
      delete from missing_candidate where book_id = any(${candidates.map(book => book.id)}::uuid[])`
    const books = candidates.filter(book => !book.isMissing)
    const ids = books.map(book => book.id)
    await tx`
      update book set missing_at = now(), updated_at = now(), scan_id = ${scan.scanId}
      where id = any(${ids})`
    // A folder that is itself gone has no pending digest: if it returns, it is compared.
    const folders = [...new Set(candidates.flatMap(book => [book.folderId, book.listedIn]))]
    await tx`
      update directory set digest = pending_digest, pending_digest = null where id = any(${folders})
        and not exists (select 1 from missing_candidate v where v.directory_id = directory.id)`
    const counters = createCounterDeltas()
    for (const book of books) {
      addShare(counters, book, -1)
      addShare(counters, { ...book, isMissing: true }, 1)
    }
    if (scan.followed) await recordBooks(tx, scan.scanId, ids, 'missing')
    await tx`
      insert into series_refresh (library_id, series_id)
      select ${scan.libraryId}, id from unnest(${[...counters.series.keys()].sort()}::uuid[]) as id
      on conflict do nothing`
    await applyCounterDeltas(tx, counters)
    await publish(tx, bookEvents('book_updated', books, { fields: ['deleted'] }))
    await tx`update scan set missing = missing + ${books.length} where id = ${scan.scanId}`
    await publishScan(tx, scan.scanId)
    return books.length
  })
}
