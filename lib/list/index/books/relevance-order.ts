// Order of a search by relevance: the books with all its words, by rank and then by title. Read once for each text.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import type { SearchQuery } from '../../../media/name/search-text.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersions } from '../../list-version.ts'
import { matchesQuery, matchRank } from '../../sql/search.ts'
import { forEachPlace, isRetired } from '../id-table.ts'
import { inParallel } from '../read-ids.ts'
import type { KnownOrder, ReadOrder, ReadVersions } from '../row-kind.ts'
import type { RowOrder } from '../row-order.ts'
import { addedIds, type BookTable } from './book-table.ts'
import { searchTexts } from './search-texts.ts'

export const relevanceName = (search: SearchQuery): string => `relevance ${JSON.stringify(search)}`

type Ranked = { versions: ReadVersions; rank: number | null; ids: Buffer | null }

type Search = { table: BookTable; search: SearchQuery; byTitle: RowOrder }

/** Only the books that match, present and missing. */
export async function readRelevanceOrder(
  sql: Sql,
  viewer: Viewer,
  { table, search, byTitle }: Search,
): Promise<ReadOrder> {
  const found = createRanked(table)
  const first = await searchTexts(table, search, found.add)
  const added = first === null ? null : await readAdded(sql, viewer, { table, search, first })
  const rows = added ?? (await inParallel(sql, tx => readRanks(tx, viewer, { search, ids: null })))
  await found.addAll(rows)
  return { versions: rows[0]!.versions, ...found.inOrder(byTitle) }
}

/** With the books that changed since; null for too many. */
export async function extendRelevanceOrder(
  sql: Sql,
  viewer: Viewer,
  { table, search, byTitle, order }: Search & { order: KnownOrder },
): Promise<ReadOrder | null> {
  const added = await readAdded(sql, viewer, { table, search, first: order.rowCount })
  if (!added) return null
  const found = createRanked(table)
  found.addOrder(order)
  await found.addAll(added)
  return { versions: added[0]!.versions, ...found.inOrder(byTitle) }
}

const maxAdded = 20_000

/** Of the books from number `first` on, at least one row; null for too many. */
async function readAdded(
  sql: Sql,
  viewer: Viewer,
  { table, search, first }: { table: BookTable; search: SearchQuery; first: number },
): Promise<Ranked[] | null> {
  if (table.rowCount - first > maxAdded) return null
  const ids = addedIds(table, first)
  if (ids.length > 0) return await readRanks(sql, viewer, { search, ids })
  return [{ versions: { rows: table.version }, rank: null, ids: null }]
}

/** At least one row. */
async function readRanks(
  sql: Sql,
  viewer: Viewer,
  { search, ids }: { search: SearchQuery; ids: string[] | null },
): Promise<Ranked[]> {
  const isListed = ids ? sql`t.book_id = any(${ids}::uuid[])` : sql`true`
  return await unprepared(sql<Ranked[]>`
    select ${listVersions(sql, viewer, 'book')} as versions, r.rank, r.ids
    from (select) one left join (
      select m.rank, string_agg(uuid_send(m.id), ''::bytea) as ids
      from (
        select t.book_id as id, ${matchRank(sql, search)} as rank
        from book_search t where ${isListed} and ${matchesQuery(sql, search)}) m
      group by m.rank) r on true`)
}

/** Collects the ranks of books: numbers from 0 on. */
function createRanked({ rows: books, rowCount }: BookTable) {
  // And 1; 0 for books that do not match.
  const ranks = new Uint8Array(rowCount)
  const counts: number[] = []
  const add = (book: number, rank: number) => {
    while (counts.length <= rank) counts.push(0)
    if (ranks[book] !== 0) counts[ranks[book]! - 1]!--
    ranks[book] = rank + 1
    counts[rank]!++
  }
  return {
    add,
    async addAll(found: Ranked[]): Promise<void> {
      for (const { rank, ids } of found)
        if (rank !== null) await forEachPlace(books, ids, book => add(book, rank))
    },
    addOrder({ rows, ranks: parts = [] }: RowOrder): void {
      let i = 0
      for (const { rank, end } of parts)
        for (; i < end; i++) if (!isRetired(books, rows[i]!)) add(rows[i]!, rank)
    },
    /** By rank and then by title. */
    inOrder(byTitle: RowOrder): RowOrder {
      const parts: { rank: number; end: number }[] = []
      let total = 0
      const next = counts.map((count, rank) => {
        total += count
        parts.push({ rank, end: total })
        return total - count
      })
      const rows = new Uint32Array(total)
      for (const book of byTitle.rows) {
        const rank = ranks[book]!
        if (rank > 0) rows[next[rank - 1]!++] = book
      }
      return { rows, valued: total, ranks: parts }
    },
  }
}
