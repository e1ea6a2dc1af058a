// Books that a search finds, with their ranks, in the file of search texts: for words that many books have, which an index
// finds one book at a time.
import type { SearchQuery } from '../../../media/name/search-text.ts'
import { createMatcher } from '../../sql/search.ts'
import { isDeleted } from '../id-table.ts'
import type { BookSegment } from './book-segment.ts'
import { withTexts } from './book-texts.ts'
import { forEachMatch, type Texts } from './text-column.ts'

/** Share of all books; PostgreSQL finds fewer ones faster by its index. */
const minShare = 0.01
const samples = 8
const sampledEntries = 1_000

/**
 * Calls `visit` with each book that contains all words, present or missing, and its rank (see `matchRank`). Returns the
 * number from which on books have not been searched; null for a query that the index is to find.
 */
export const searchTexts = (
  segment: BookSegment,
  query: SearchQuery,
  visit: (book: number, rank: number) => void,
): Promise<number | null> =>
  withTexts(segment, 'search', async texts => {
    // The longest word, or, in a query of short ones, what each text that has it contains.
    const search = { operator: 'contains', value: Buffer.from(query.words[0]!.parts[0]!) } as const
    if ((await shareOf(texts, search)) < minShare) return null
    const rankOf = createMatcher(query)
    await forEachMatch(texts, search, (book, { part, start, end }) => {
      // Added by a later refresh, or deleted in this segment.
      if (book >= segment.maxDoc || isDeleted(segment.ids, book)) return
      const rank = rankOf(part.toString('latin1', start, end))
      if (rank !== null) visit(book, rank)
    })
    return texts.maxDoc
  })

type Search = Parameters<typeof forEachMatch>[1]

/** Share of the books that the longest word alone finds, by samples. */
async function shareOf(texts: Texts, search: Search): Promise<number> {
  const count = texts.books.length
  let [searched, found] = [0, 0]
  for (let i = 0; i < samples; i++) {
    const first = Math.floor((count * i) / samples)
    const end = Math.min(count, first + sampledEntries)
    await forEachMatch(texts, search, () => void found++, { first, end })
    searched += end - first
  }
  return found / Math.max(1, searched)
}
