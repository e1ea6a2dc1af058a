// The books of a predicate from what has been read: ranges of sort orders, texts, and the books of each format.
import type { Sql } from 'postgres'
import { parseSearchQuery } from '../../../media/name/search-text.ts'
import { add, type Bitmap, emptyBitmap, fullBitmap, resize, subtract } from '../bitmap.ts'
import type { PredicateRequest } from '../row-kind.ts'
import type { BookTable, KnownBooks } from './book-table.ts'
import { booksOfText, type FoundBooks, textSearchOf } from './book-texts.ts'
import { booksInRange, orderOfComparison } from './key-ranges.ts'
import { relevanceName } from './relevance-order.ts'
import { searchTexts } from './search-texts.ts'
import { booksOfFormats } from './word-books.ts'

/** Null where they are to be read. */
export async function knownBooks(
  sql: Sql,
  { table, predicate, known }: PredicateRequest<BookTable>,
): Promise<KnownBooks | null> {
  const { version, rowCount } = table
  const sort = orderOfComparison(predicate)
  const order = sort && (await known(sort))
  if (order) return { rowCount, ...(await booksInRange(sql, table, { predicate, sort, order })) }
  const { test } = predicate
  if (predicate.field === 'text' && test.kind === 'text') {
    const query = parseSearchQuery(test.value)
    const found = query && (await known(relevanceName(query)))
    if (found) return { bitmap: presentOf(table, found.rows), version, rowCount }
    const books: number[] = []
    const first = query && (await searchTexts(table, query, book => books.push(book)))
    return first === null ? null : { bitmap: presentOf(table, books), version, rowCount: first }
  }
  const isWithout = predicate.field === 'summary' && test.kind === 'null'
  const search = isWithout ? anySummary : textSearchOf(predicate)
  if (!search) return await booksOfFormats(sql, table, predicate)
  const books = await booksOfText(table, search)
  if (!books) return null
  return { ...books, version, ...(isWithout ? { bitmap: othersOf(table, books) } : {}) }
}

const anySummary = { field: 'summary', operator: 'contains', value: '' } as const

/** Of the present books below `rowCount`. */
function othersOf({ rowCount: size, missing }: BookTable, { bitmap, rowCount }: FoundBooks) {
  const all = resize(fullBitmap(rowCount), rowCount, size)
  return subtract(subtract(all, bitmap), missing)
}

function presentOf({ rowCount, missing }: BookTable, books: Iterable<number>): Bitmap {
  const bitmap = emptyBitmap(rowCount)
  for (const book of books) add(bitmap, book)
  return subtract(bitmap, missing)
}
