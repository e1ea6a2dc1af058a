// Records of the files of a batch, for a scan that is followed (`scan --ndjson`).
import type { Transaction } from '../../lib/postgres/db.ts'
import { insertRecords, recordBooks } from '../scan/figures.ts'
import type { Match } from './match.ts'

/** Call it after the books were written: an unchanged book is recorded from its row. */
export async function insertMatchRecords(tx: Transaction, scanId: string, matches: Match[]) {
  const unread = matches.filter(m => !m.reading.recordFields).map(m => m.bookId)
  if (unread.length > 0)
    await recordBooks(tx, scanId, unread, new Map(matches.map(m => [m.bookId, m.outcome])))
  const records = matches
    .filter(m => m.reading.recordFields)
    .map(({ reading, bookId, outcome, file, before }) => ({
      path: reading.path,
      id: bookId,
      outcome,
      error: reading.error,
      warnings: reading.warnings,
      format: reading.format,
      pages: reading.pageCount,
      ...reading.recordFields,
      bytes: file.size,
      sha256: outcome === 'moved' ? before!.sha256 : null,
      ...(reading.firstPageSha256 === undefined
        ? {}
        : { firstPageSha256: reading.firstPageSha256 }),
    }))
  const displaced = matches.filter(m => m.displaced).map(m => m.displaced!.id)
  await insertRecords(tx, scanId, records)
  if (displaced.length > 0) await recordBooks(tx, scanId, displaced, 'missing')
}
