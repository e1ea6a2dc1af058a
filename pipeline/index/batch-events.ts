// Events of a stored batch: created and changed series, then their books.
import { bookEvents, type NewEvent, seriesEvents } from '../../lib/store/event/publish.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import { insertRecords, recordBooks } from '../scan/figures.ts'
import { hasContent, knownHash, type Match } from './match.ts'
import type { BatchSeries } from './series.ts'

type StoredBatch = {
  libraryId: string
  matches: Match[]
  series: Pick<BatchSeries, 'created' | 'changed'>
  seriesOf: (match: Match) => string
  /** Books whose visible data changed although their files did not. */
  altered: ReadonlySet<string>
}

/** In publishing order. Unchanged books have no event. */
export function batchEvents(batch: StoredBatch): NewEvent[] {
  const { libraryId, matches, series, seriesOf, altered } = batch
  const inLibrary = (id: string) => ({ id, libraryId })
  const bookOf = (m: Match) => ({ ...inLibrary(m.bookId), seriesId: seriesOf(m) })
  const created = matches.filter(m => m.before === null)
  const existing = matches.filter(m => m.before !== null)
  const isRestored = (m: Match) => isBack(m) && m.before!.seriesId === seriesOf(m)
  const restored = existing.filter(isRestored)
  const changed = existing.filter(m => !isRestored(m) && (isChanged(m) || altered.has(m.bookId)))
  const displaced = matches.flatMap(m => m.displaced ?? [])
  return [
    ...seriesEvents('series_created', series.created.map(inLibrary)),
    ...seriesEvents('series_updated', [
      ...series.changed.map(inLibrary),
      ...leftSeries(existing, batch),
    ]),
    ...bookEvents('book_created', created.map(bookOf)),
    ...bookEvents('book_updated', changed.map(bookOf)),
    ...bookEvents('book_updated', [...displaced, ...restored.map(bookOf)], { fields: ['deleted'] }),
  ]
}

/** The series that books left, unless they already have an event. */
function leftSeries(existing: Match[], { series, seriesOf }: StoredBatch) {
  const left = new Map(
    existing
      .filter(m => m.before!.seriesId !== seriesOf(m))
      .map(m => [m.before!.seriesId, m.before!.libraryId]),
  )
  for (const id of [...series.changed, ...series.created]) left.delete(id)
  return [...left].map(([id, libraryId]) => ({ id, libraryId }))
}

/** Back in its place, unchanged. */
function isBack({ outcome, before, file, reading }: Match) {
  return outcome === 'restored' && !file.forced && hasContent(before!, file, reading)
}

/** True for another file or place, and for a book that became readable or unreadable. */
export function isChanged({ before, file, reading, outcome }: Match): boolean {
  if (before === null || ['changed', 'moved', 'restored'].includes(outcome)) return true
  if (before.hasError !== (reading.error !== null)) return true
  return (
    before.size !== file.size ||
    (reading.fingerprint !== null && reading.fingerprint !== before.fingerprint)
  )
}

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
