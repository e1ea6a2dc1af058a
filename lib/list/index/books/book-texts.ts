// Texts of the books of a segment, for conditions and searches: titles and paths in memory, summaries and what searches
// read in files. Read in the background, and at rest or dropped with the segment.
import type { SearchQuery } from '../../../media/name/search-text.ts'
import { lowerAscii, searchKey } from '../../../media/name/text.ts'
import type { Predicate } from '../../condition.ts'
import { createMatcher } from '../../sql/search.ts'
import { add, type Bitmap, emptyBitmap } from '../bitmap.ts'
import { isDeleted } from '../id-table.ts'
import { createBackgroundQueue, type Environment } from '../index-schema.ts'
import type { BookSegment, TextReader } from './book-segment.ts'
import { readTexts } from './read-texts.ts'
import {
  forEachMatch,
  type TextField,
  type TextOperator,
  type Texts,
  textFields,
} from './text-column.ts'

type Field = Exclude<TextField, 'search'>
type TextSearch = { field: Field; operator: TextOperator; value: string }

/** What a predicate searches for; null for one that is not on these texts. */
export function textSearchOf({ field, test }: Predicate): TextSearch | null {
  if (test.kind !== 'text') return null
  const { operator } = test
  if (field === 'path') return { field, operator, value: lowerAscii(test.value) }
  // Whole summaries are compared as the database folds them.
  const isText = field === 'title' || (field === 'summary' && operator !== 'equals')
  return isText ? { field, operator, value: searchKey(test.value) } : null
}

/** Present books, of those below `maxDoc`. */
export type FoundBooks = { bitmap: Bitmap; maxDoc: number }

/** Null unless the texts have been read. */
export async function booksOfText(
  segment: BookSegment,
  search: TextSearch,
): Promise<FoundBooks | null> {
  return await withTexts(segment, search.field, async texts => {
    const bitmap = emptyBitmap(segment.maxDoc)
    const visit = (book: number) => add(bitmap, book)
    if (search.field === 'path') await forEachPath(texts, search, visit)
    else await forEachMatch(texts, { ...search, value: Buffer.from(search.value) }, visit)
    return { bitmap, maxDoc: texts.maxDoc }
  })
}

/** Null unless the texts have been read. */
async function withTexts<T>(
  segment: BookSegment,
  field: TextField,
  use: (texts: Texts) => Promise<T>,
): Promise<T | null> {
  const texts = segment.origin.texts.get(field)
  if (!texts) return null
  try {
    return await use(texts)
  } catch (error) {
    // The disk of the file failed.
    segment.origin.texts.delete(field)
    segment.origin.textReader.noteFailure(error)
    return null
  }
}

/** More books that changed since texts were read take longer than reading them. */
export const maxBehind = 10_000

export function createTextReader(environment: Environment): TextReader {
  const noteFailure = (error: unknown) => environment.noteFailure('book index', error)
  const queue = createBackgroundQueue(noteFailure)
  return {
    readLater(segment, field) {
      const { texts } = segment.origin
      const known = texts.get(field)
      if (known === null || (known && segment.maxDoc - known.maxDoc <= maxBehind)) return
      texts.set(field, null)
      void queue.add(async () => {
        try {
          const found = await readTexts(environment, segment, field)
          // Without space it is tried again.
          if (found === 'no space') texts.delete(field)
          else texts.set(field, found)
        } catch (error) {
          texts.delete(field)
          throw error
        }
      })
    },
    noteFailure,
    idle: queue.idle,
  }
}

/** All that predicates search, unless it is in memory. */
export async function readTextsAhead(segment: BookSegment): Promise<void> {
  const { textReader } = segment.origin
  for (const field of textFields) textReader.readLater(segment, field)
  await textReader.idle()
}

/** As `pathRows` finds them: names have no slash, so that a value ends within the name after its last slash. */
async function forEachPath(
  texts: Texts,
  { operator, value }: TextSearch,
  visit: (book: number) => void,
): Promise<void> {
  const bytes = Buffer.from(value)
  const at = bytes.lastIndexOf('/') + 1
  const parts: Record<TextOperator, PathParts> = {
    equals: { folder: 'equals', name: 'equals' },
    contains: { folder: 'endsWith', name: at > 0 ? 'beginsWith' : 'contains', whole: 'contains' },
    beginsWith: { folder: 'equals', name: 'beginsWith', whole: 'beginsWith' },
    endsWith: { folder: 'endsWith', name: at > 0 ? 'equals' : 'endsWith' },
  }
  const { folder, name, whole } = parts[operator]
  const { books } = texts
  const { paths, firsts } = texts.folders!
  const numbers = async (operator: TextOperator, value: Uint8Array) => {
    const found: number[] = []
    await forEachMatch(paths, { operator, value }, number => found.push(number))
    return found
  }
  const rangeOf = (number: number) => ({ first: firsts[number]!, end: firsts[number + 1]! })
  for (const number of whole ? await numbers(whole, bytes) : []) {
    const { first, end } = rangeOf(number)
    for (let entry = first; entry < end; entry++) visit(books[entry]!)
  }
  const search = { operator: name, value: bytes.subarray(at) }
  // Without a slash most values may be in any name: one pass of them all.
  if (at === 0 && folder === 'endsWith') return await forEachMatch(texts, search, visit)
  for (const number of await numbers(folder, bytes.subarray(0, at)))
    await forEachMatch(texts, search, visit, rangeOf(number))
}

type PathParts = {
  folder: TextOperator
  name: TextOperator
  /** All books of the folder. */
  whole?: TextOperator
}

// Searches in the file: for words that many books have, which an index finds one book at a time.

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

/** Share of the books that the longest word alone finds, by samples. */
async function shareOf(texts: Texts, search: Parameters<typeof forEachMatch>[1]): Promise<number> {
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
