// The books of a predicate from what is in memory: ranges of sort orders, texts, and the books of each format.
import type { Sql } from 'postgres'
import { add, type Bitmap, emptyBitmap } from './bitmap.ts'
import type { BookTable } from './book-table.ts'
import { booksOfText, textSearchOf } from './book-texts.ts'
import { booksInRange, orderOfComparison } from './key-ranges.ts'
import { relevanceName } from './relevance-order.ts'
import type { PredicateRequest } from './row-kind.ts'
import type { RowOrder } from './row-order.ts'
import { booksOfFormats } from './word-books.ts'

/** Present books; null where they are to be read. `version`: of the catalogue (`listVersion`). */
export async function knownBooks(
  sql: Sql,
  { table, predicate, known }: PredicateRequest<BookTable>,
): Promise<{ bitmap: Bitmap; version: string } | null> {
  const sort = orderOfComparison(predicate)
  const order = sort && known(sort)
  if (order) return await booksInRange(sql, table, { predicate, sort, order })
  const { test } = predicate
  const found =
    predicate.field === 'text' && test.kind === 'text' && known(relevanceName(test.value))
  if (found) return { bitmap: presentOf(table, found), version: table.version }
  const search = textSearchOf(predicate)
  if (!search) return await booksOfFormats(sql, table, predicate)
  const bitmap = await booksOfText(table, search)
  return bitmap && { bitmap, version: table.version }
}

function presentOf({ rowCount, presentCount }: BookTable, { rows }: RowOrder): Bitmap {
  const bitmap = emptyBitmap(rowCount)
  for (const book of rows) if (book < presentCount) add(bitmap, book)
  return bitmap
}
