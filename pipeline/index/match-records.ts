// Records of the files of a batch, for a scan that is being followed (`scan --ndjson`).
import type { Transaction } from '../../lib/store/postgres/db.ts'
import { insertRecords, recordBooks } from '../scan/figures.ts'
import { hasContent, knownHash, type Match } from './match.ts'

const isMovedIntact = ({ outcome, before, file, reading }: Match) =>
  outcome === 'moved' && hasContent(before!, file, reading)

/** Call it after the books have been written: an unchanged book is recorded from its row. */
export async function insertMatchRecords(tx: Transaction, scanId: string, matches: Match[]) {
  const unread = matches.filter(m => !m.reading.recordFields).map(m => m.bookId)
  if (unread.length > 0)
    await recordBooks(tx, scanId, unread, new Map(matches.map(m => [m.bookId, m.outcome])))
  const records = matches
    .filter(m => m.reading.recordFields)
    .map(match => ({
      path: match.reading.path,
      id: match.bookId,
      outcome: match.outcome,
      error: match.reading.error,
      warnings: match.reading.warnings,
      format: match.reading.format,
      pages: match.reading.pageCount,
      ...match.reading.recordFields,
      bytes: match.file.size,
      sha256: isMovedIntact(match) ? match.before!.sha256 : knownHash(match),
      ...(match.reading.firstPageSha256 === undefined
        ? {}
        : { firstPageSha256: match.reading.firstPageSha256 }),
    }))
  const displaced = matches.filter(m => m.displaced).map(m => m.displaced!.id)
  await insertRecords(tx, scanId, records)
  if (displaced.length > 0) await recordBooks(tx, scanId, displaced, 'missing')
}
