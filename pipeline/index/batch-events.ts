// What a stored batch tells: the series it made and changed, then its books.
import { ofBooks, ofSeries, type Told } from '../../lib/event/publish.ts'
import type { Match } from './match.ts'
import type { BatchSeries } from './series.ts'

type Stored = {
  libraryId: string
  matches: Match[]
  series: Pick<BatchSeries, 'made' | 'changed'>
  seriesOf: (m: Match) => string
  /** Books that say something else than before, although their files are the same. */
  altered: ReadonlySet<string>
}

/** Events of a batch in their order. Books that were only looked at are not among them. */
export function batchEvents(stored: Stored): Told[] {
  const { libraryId, matches, series, seriesOf, altered } = stored
  const here = (id: string) => ({ id, libraryId })
  const book = (m: Match) => ({ ...here(m.bookId), seriesId: seriesOf(m) })
  const known = matches.filter(m => m.before !== null)
  const left = new Map(
    known.filter(m => m.before!.seriesId !== seriesOf(m)).map(m => [m.before!.seriesId, m.before!]),
  )
  for (const id of [...series.changed, ...series.made]) left.delete(id)
  const returned = known.filter(isReturned)
  const displaced = matches.flatMap(m => m.displaced ?? [])
  const changed = known.filter(m => !isReturned(m) && (isOther(m) || altered.has(m.bookId)))
  return [
    ...ofSeries('series_created', series.made.map(here)),
    ...ofSeries('series_updated', [
      ...series.changed.map(here),
      ...[...left].map(([id, before]) => ({ id, libraryId: before.libraryId })),
    ]),
    ...ofBooks('book_created', matches.filter(m => m.before === null).map(book)),
    ...ofBooks('book_updated', changed.map(book)),
    ...ofBooks('book_updated', [...displaced, ...returned.map(book)], { fields: ['deleted'] }),
  ]
}

/** Back at its place as it was. */
function isReturned({ outcome, reading }: Match) {
  return outcome === 'restored' && reading.same
}

/** Another file, another place, or one that was readable and is not, or the other way round. */
export function isOther({ before, found, reading, outcome }: Match): boolean {
  if (before === null || ['changed', 'moved', 'restored'].includes(outcome)) return true
  if (before.failed !== (reading.error !== null)) return true
  return (
    before.size !== found.size ||
    (reading.fingerprint !== null && reading.fingerprint !== before.fingerprint)
  )
}
