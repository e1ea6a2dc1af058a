// Pages of book lists in the order of series, by title and then by number: the books of a bitmap are counted
// for each series in memory, and those of the series on the page are sorted by the database.
import type { Sql } from 'postgres'
import { readingOrder } from '../../../catalog/derived/reading-order.ts'
import { listVersion } from '../../list-version.ts'
import type { Direction } from '../../sort.ts'
import { countRange, has } from '../bitmap.ts'
import { idAt, placesOf } from '../id-table.ts'
import type { Hits } from '../index-schema.ts'
import type { BookSegment } from './book-segment.ts'

type SeriesRows = Hits & { direction: Direction }

/** More books of the series on a page would be sorted for long. */
const maxSorted = 30_000

/** Null if the catalog has another version than the segment, or for a page in a series of very many books. */
export async function pageBySeries(
  sql: Sql,
  segment: BookSegment,
  { bitmap, direction, window }: SeriesRows,
): Promise<number[] | null> {
  const { series, skip } = seriesOnPage(segment, { bitmap, direction, window })
  if (series.size === 0) return []
  const ids: string[] = []
  const positions: number[] = []
  const list = (book: number, position: number) => {
    if (!has(bitmap, book)) return
    ids.push(idAt(segment.ids, book))
    positions.push(position)
  }
  const { seriesOfOther, presentCount } = segment
  for (const [place, position] of series) {
    const { start, end } = rangeOf(segment, place)
    for (let book = start; book < end; book++) list(book, position)
  }
  seriesOfOther.forEach((place, i) => {
    const position = series.get(place)
    if (position !== undefined) list(presentCount + i, position)
  })
  if (ids.length > maxSorted) return null
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const [row] = await sql<{ version: string; ids: Buffer | null }[]>`
    select ${listVersion(sql)} as version, (
      select string_agg(uuid_send(i.id), ''::bytea) from (
        select b.id from unnest(${ids}::uuid[], ${positions}::integer[]) as m(id, place)
        join book b on b.id = m.id
        order by m.place ${order}, ${readingOrder(sql, 'b', direction)}
        limit ${window.limit} offset ${skip}) i) as ids`
  if (row!.version !== segment.version) return null
  return await placesOf(segment.ids, row!.ids)
}

/** Books of a series that follow each other. */
function rangeOf({ firstBook, ownBooks }: BookSegment, place: number) {
  const start = firstBook[place] ?? 0
  return { start, end: start + (ownBooks[place] ?? 0) }
}

/** Their positions by title, and how many of their books are on earlier pages. */
function seriesOnPage(
  segment: BookSegment,
  { bitmap, direction, window: { offset, limit } }: SeriesRows,
): { series: Map<number, number>; skip: number } {
  const { series: all, seriesOfOther, presentCount } = segment
  const others = new Uint32Array(all.count)
  seriesOfOther.forEach((place, i) => {
    if (has(bitmap, presentCount + i)) others[place]!++
  })
  const series = new Map<number, number>()
  let before = 0
  let skip = 0
  for (let i = 0; i < all.count && before < offset + limit; i++) {
    const position = direction === 'desc' ? all.count - 1 - i : i
    const place = all.byTitle[position]!
    const { start, end } = rangeOf(segment, place)
    const own = countRange(bitmap, start, end) + others[place]!
    if (own > 0 && before + own > offset) {
      if (series.size === 0) skip = offset - before
      series.set(place, position)
    }
    before += own
  }
  return { series, skip }
}
