// The books of a predicate from what has been read: ranges of sort orders, texts, and the books of each format.
import type { Sql } from 'postgres'
import { add, type Bitmap, emptyBitmap, fullBitmap, resize, subtract } from '../bitmap.ts'
import type { PredicateRequest } from '../row-kind.ts'
import type { RowOrder } from '../row-order.ts'
import type { BookTable, KnownBooks } from './book-table.ts'
import { booksOfText, type FoundBooks, textSearchOf } from './book-texts.ts'
import { booksInRange, orderOfComparison } from './key-ranges.ts'
import { relevanceName } from './relevance-order.ts'
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
  const found =
    predicate.field === 'text' && test.kind === 'text' && (await known(relevanceName(test.value)))
  if (found) return { bitmap: presentOf(table, found), version, rowCount }
  const isWithout = predicate.field === 'summary' && test.kind === 'null'
  const search = isWithout ? anySummary : textSearchOf(predicate)
  if (!search) return await booksOfFormats(sql, table, predicate)
  const books = await booksOfText(sql, table, search)
  if (!books) return null
  return { ...books, version, ...(isWithout ? { bitmap: othersOf(table, books) } : {}) }
}

const anySummary = { field: 'summary', operator: 'contains', value: '' } as const

/** Of the present books below `rowCount`. */
function othersOf({ rowCount: size, missing }: BookTable, { bitmap, rowCount }: FoundBooks) {
  const all = resize(fullBitmap(rowCount), rowCount, size)
  return subtract(subtract(all, bitmap), missing)
}

function presentOf({ rowCount, missing }: BookTable, { rows }: RowOrder): Bitmap {
  const bitmap = emptyBitmap(rowCount)
  for (const book of rows) add(bitmap, book)
  return subtract(bitmap, missing)
}
