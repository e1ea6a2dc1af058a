// Order of a search by relevance: the books with all its words, by rank and then by title. Read once for each text.
import type { Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import type { SearchQuery } from '../../../media/name/search-text.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { listVersions } from '../../list-version.ts'
import { matchesQuery, matchRank } from '../../sql/search.ts'
import { forEachOrdinal, inParallel, isDeleted } from '../id-table.ts'
import type { CachedOrder, LoadedOrder, SeenVersions } from '../index-schema.ts'
import type { SortOrder } from '../sort-order.ts'
import { addedIds, type BookSegment } from './book-segment.ts'
import { searchTexts } from './book-texts.ts'

export const relevanceName = (search: SearchQuery): string => `relevance ${JSON.stringify(search)}`

type Ranked = { versions: SeenVersions; rank: number | null; ids: Buffer | null }

type Search = { segment: BookSegment; search: SearchQuery; byTitle: SortOrder }

/** Only the books that match, present and missing. */
export async function loadRelevanceOrder(
  sql: Sql,
  viewer: Viewer,
  { segment, search, byTitle }: Search,
): Promise<LoadedOrder> {
  const found = createRanked(segment)
  const first = await searchTexts(segment, search, found.add)
  const added = first === null ? null : await readAdded(sql, viewer, { segment, search, first })
  const rows = added ?? (await inParallel(sql, tx => readRanks(tx, viewer, { search, ids: null })))
  await found.addAll(rows)
  return { versions: rows[0]!.versions, ...found.inOrder(byTitle) }
}

/** With the books that changed since; null for too many. */
export async function refreshRelevanceOrder(
  sql: Sql,
  viewer: Viewer,
  { segment, search, byTitle, order }: Search & { order: CachedOrder },
): Promise<LoadedOrder | null> {
  const added = await readAdded(sql, viewer, { segment, search, first: order.maxDoc })
  if (!added) return null
  const found = createRanked(segment)
  found.addOrder(order)
  await found.addAll(added)
  return { versions: added[0]!.versions, ...found.inOrder(byTitle) }
}

const maxAdded = 20_000

/** Rows for the books from number `first` on, at least one; null for too many. */
async function readAdded(
  sql: Sql,
  viewer: Viewer,
  { segment, search, first }: { segment: BookSegment; search: SearchQuery; first: number },
): Promise<Ranked[] | null> {
  if (segment.maxDoc - first > maxAdded) return null
  const ids = addedIds(segment, first)
  if (ids.length > 0) return await readRanks(sql, viewer, { search, ids })
  return [{ versions: { rows: segment.version }, rank: null, ids: null }]
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
function createRanked({ ids: books, maxDoc }: BookSegment) {
  // And 1; 0 for books that do not match.
  const ranks = new Uint8Array(maxDoc)
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
        if (rank !== null) await forEachOrdinal(books, ids, book => add(book, rank))
    },
    addOrder({ docs: rows, ranks: parts = [] }: SortOrder): void {
      let i = 0
      for (const { rank, end } of parts)
        for (; i < end; i++) if (!isDeleted(books, rows[i]!)) add(rows[i]!, rank)
    },
    /** By rank and then by title. */
    inOrder(byTitle: SortOrder): SortOrder {
      const parts: { rank: number; end: number }[] = []
      let total = 0
      const next = counts.map((count, rank) => {
        total += count
        parts.push({ rank, end: total })
        return total - count
      })
      const rows = new Uint32Array(total)
      for (const book of byTitle.docs) {
        const rank = ranks[book]!
        if (rank > 0) rows[next[rank - 1]!++] = book
      }
      return { docs: rows, valued: total, ranks: parts }
    },
  }
}
