// Events of a stored batch: created and changed series, then their books.
import { bookEvents, type NewEvent, seriesEvents } from '../../lib/store/event/publish.ts'
import { hasContent, type Match } from './match.ts'
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
