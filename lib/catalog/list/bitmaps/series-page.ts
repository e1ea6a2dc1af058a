// Pages of book lists in the order of series, by title and then by number: the books of a bitmap are counted
// for each series in memory, and those of the series on the page are sorted by the database.
import type { Sql } from 'postgres'
import { listVersion } from '../marks/list-version.ts'
import type { Direction } from '../sort.ts'
import { countRange, has } from './bitmap.ts'
import type { BookTable } from './book-table.ts'
import { forEachPlace, idAt } from './id-table.ts'
import type { ListedRows } from './row-kind.ts'

type SeriesRows = ListedRows & { direction: Direction }

/** More books of the series on a page would be sorted for long. */
const maxSorted = 30_000

/** Null if the catalogue has another version than the table, or for a page in a series of very many books. */
export async function pageBySeries(
  sql: Sql,
  table: BookTable,
  { bitmap, direction, window }: SeriesRows,
): Promise<number[] | null> {
  const { series, skip } = seriesOnPage(table, { bitmap, direction, window })
  if (series.size === 0) return []
  const ids: string[] = []
  const places: number[] = []
  const list = (book: number, place: number) => {
    if (!has(bitmap, book)) return
    ids.push(idAt(table.rows, book))
    places.push(place)
  }
  const { firstBook, ownBooks, seriesOfMissing, presentCount } = table
  for (const place of series) {
    const end = firstBook[place]! + ownBooks[place]!
    for (let book = firstBook[place]!; book < end; book++) list(book, place)
  }
  seriesOfMissing.forEach((place, i) => {
    if (series.has(place)) list(presentCount + i, place)
  })
  if (ids.length > maxSorted) return null
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const [row] = await sql<{ version: string; ids: Buffer | null }[]>`
    select ${listVersion(sql)} as version, (
      select string_agg(uuid_send(i.id), ''::bytea) from (
        select b.id from unnest(${ids}::uuid[], ${places}::integer[]) as m(id, place)
        join book b on b.id = m.id
        order by m.place ${order}, b.number_sort ${order} nulls last, b.sort_key ${order}, b.id ${order}
        limit ${window.limit} offset ${skip}) i) as ids`
  if (row!.version !== table.version) return null
  const page: number[] = []
  await forEachPlace(table.rows, row!.ids, book => {
    page.push(book)
  })
  return page
}

/** Their places by title, and how many of their books are on earlier pages. */
function seriesOnPage(
  { firstBook, ownBooks, seriesOfMissing, presentCount }: BookTable,
  { bitmap, direction, window: { offset, limit } }: SeriesRows,
): { series: Set<number>; skip: number } {
  const count = firstBook.length
  const missing = new Map<number, number>()
  seriesOfMissing.forEach((place, i) => {
    if (has(bitmap, presentCount + i)) missing.set(place, (missing.get(place) ?? 0) + 1)
  })
  const series = new Set<number>()
  let before = 0
  let skip = 0
  for (let i = 0; i < count && before < offset + limit; i++) {
    const place = direction === 'desc' ? count - 1 - i : i
    const start = firstBook[place]!
    const own = countRange(bitmap, start, start + ownBooks[place]!) + (missing.get(place) ?? 0)
    if (own > 0 && before + own > offset) {
      if (series.size === 0) skip = offset - before
      series.add(place)
    }
    before += own
  }
  return { series, skip }
}
