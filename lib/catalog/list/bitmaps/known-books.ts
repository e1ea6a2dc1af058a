// The books of a predicate from what is in memory: ranges of sort orders, texts, and the books of each format.
import type { Sql } from 'postgres'
import type { Bitmap } from './bitmap.ts'
import type { BookTable } from './book-table.ts'
import { booksOfText, textSearchOf } from './book-texts.ts'
import { booksInRange, orderOfComparison } from './key-ranges.ts'
import type { PredicateRequest } from './row-kind.ts'
import { booksOfFormats } from './word-books.ts'

/** Present books; null where they are to be read. `version`: of the catalogue (`listVersion`). */
export async function knownBooks(
  sql: Sql,
  { table, predicate, known }: PredicateRequest<BookTable>,
): Promise<{ bitmap: Bitmap; version: string } | null> {
  const sort = orderOfComparison(predicate)
  const order = sort && known(sort)
  if (order) return await booksInRange(sql, table, { predicate, sort, order })
  const search = textSearchOf(predicate)
  if (!search) return await booksOfFormats(sql, table, predicate)
  const bitmap = await booksOfText(table, search)
  return bitmap && { bitmap, version: table.version }
}
