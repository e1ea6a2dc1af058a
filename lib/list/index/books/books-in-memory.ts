// Postings of a predicate on books from what is in memory: ranges of sort orders, texts, and formats.
import type { Sql } from 'postgres'
import { parseSearchQuery } from '../../../media/name/search-text.ts'
import { add, type Bitmap, emptyBitmap, fullBitmap, resize, subtract } from '../bitmap.ts'
import type { PostingsRequest } from '../index-schema.ts'
import type { BookSegment, KnownBooks } from './book-segment.ts'
import { booksOfText, type FoundBooks, textSearchOf } from './book-texts.ts'
import { booksOfFormats } from './format-postings.ts'
import { booksInRange, orderOfComparison } from './key-ranges.ts'
import { relevanceName } from './relevance-order.ts'
import { searchTexts } from './search-texts.ts'

/** Null where they are to be read. */
export async function booksInMemory(
  sql: Sql,
  { segment, predicate, known }: PostingsRequest<BookSegment>,
): Promise<KnownBooks | null> {
  const { version, maxDoc } = segment
  const sort = orderOfComparison(predicate)
  const order = sort && (await known(sort))
  if (order) return { maxDoc, ...(await booksInRange(sql, segment, { predicate, sort, order })) }
  const { test } = predicate
  if (predicate.field === 'text' && test.kind === 'text') {
    const query = parseSearchQuery(test.value)
    const found = query && (await known(relevanceName(query)))
    if (found) return { bitmap: presentOf(segment, found.docs), version, maxDoc }
    const books: number[] = []
    const first = query && (await searchTexts(segment, query, book => books.push(book)))
    return first === null ? null : { bitmap: presentOf(segment, books), version, maxDoc: first }
  }
  const isWithout = predicate.field === 'summary' && test.kind === 'null'
  const search = isWithout ? anySummary : textSearchOf(predicate)
  if (!search) return await booksOfFormats(sql, segment, predicate)
  const books = await booksOfText(segment, search)
  if (!books) return null
  return { ...books, version, ...(isWithout ? { bitmap: othersOf(segment, books) } : {}) }
}

const anySummary = { field: 'summary', operator: 'contains', value: '' } as const

/** Covers the present books below `maxDoc`. */
function othersOf({ maxDoc: size, missing }: BookSegment, { bitmap, maxDoc }: FoundBooks) {
  const all = resize(fullBitmap(maxDoc), maxDoc, size)
  return subtract(subtract(all, bitmap), missing)
}

function presentOf({ maxDoc, missing }: BookSegment, books: Iterable<number>): Bitmap {
  const bitmap = emptyBitmap(maxDoc)
  for (const book of books) add(bitmap, book)
  return subtract(bitmap, missing)
}
