// Order of a search by relevance: the books with all its words, by rank and then by title. Read once for each text.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../../auth/viewer.ts'
import { parseSearchQuery } from '../../../../name/search-text.ts'
import { unprepared } from '../../../../postgres/statement.ts'
import { listVersions, type Versions } from '../../marks/list-version.ts'
import { matchesQuery, matchRank } from '../../plan/search-match.ts'
import { forEachPlace } from '../id-table.ts'
import { inParallel } from '../read-ids.ts'
import type { ReadOrder } from '../row-kind.ts'
import type { RowOrder } from '../row-order.ts'
import type { BookTable } from './book-table.ts'

export const relevanceName = (text: string): string =>
  `relevance ${JSON.stringify(parseSearchQuery(text))}`

type Ranked = { versions: Versions; rank: number | null; ids: Buffer }

/** Only the books that match, present and missing. */
export async function readRelevanceOrder(
  sql: Sql,
  viewer: Viewer,
  { table, text, byTitle }: { table: BookTable; text: string; byTitle: RowOrder },
): Promise<ReadOrder> {
  const search = parseSearchQuery(text)!
  const rows = await inParallel(sql, tx =>
    unprepared(tx<Ranked[]>`
      select ${listVersions(sql, viewer, 'book')} as versions, r.rank, r.ids
      from (select) one left join (
        select m.rank, string_agg(uuid_send(m.id), ''::bytea) as ids
        from (
          select t.book_id as id, ${matchRank(sql, search)} as rank
          from book_search t where ${matchesQuery(sql, search)}) m
        group by m.rank) r on true
      order by r.rank`),
  )
  const ranks = new Uint8Array(table.rowCount)
  const counts: number[] = []
  for (const { rank, ids } of rows) {
    if (rank === null) continue
    counts.push(0)
    await forEachPlace(table.rows, ids, book => {
      ranks[book] = counts.length
      counts[counts.length - 1]!++
    })
  }
  let total = 0
  const next = counts.map(count => {
    total += count
    return total - count
  })
  const found = new Uint32Array(total)
  for (const book of byTitle.rows) {
    const rank = ranks[book]!
    if (rank > 0) found[next[rank - 1]!++] = book
  }
  return { versions: rows[0]!.versions, rows: found, valued: total }
}
