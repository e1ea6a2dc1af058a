// Postings of the formats of books: there are few formats and each has many books, so that all are loaded by the first
// condition on one of them, and the others need no statement.
import type { Sql } from 'postgres'
import { presentBook } from '../../../accounts/viewer.ts'
import { formatNames } from '../../../media/format/formats.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import type { Predicate } from '../../condition.ts'
import { listVersion } from '../../list-version.ts'
import { matchingWords } from '../../sql/operators.ts'
import { add, emptyBitmap, fullBitmap, remove, resize, subtract, unite } from '../bitmap.ts'
import { forEachOrdinal } from '../id-table.ts'
import { inParallel } from '../read-ids.ts'
import type { BookSegment, BooksByFormat, KnownBooks } from './book-segment.ts'
import { maxBehind } from './book-texts.ts'

// The most common format in a sample of this size counts as the most common of all.
const sampledBooks = 2_000

/** Null for a predicate on anything else. */
export async function booksOfFormats(
  sql: Sql,
  segment: BookSegment,
  { field, test }: Predicate,
): Promise<KnownBooks | null> {
  if (field !== 'format' || (test.kind !== 'text' && test.kind !== 'null')) return null
  const last = segment.origin.formats
  const isBehind = !last || segment.maxDoc - last.maxDoc > maxBehind
  const { version, ...known } = {
    version: segment.version,
    ...(isBehind ? await readFormats(sql, segment) : last),
  }
  // Another version: books that changed meanwhile get other numbers.
  segment.origin.formats = known
  const { books, maxDoc } = known
  const bitmap = emptyBitmap(segment.maxDoc)
  for (const word of test.kind === 'null' ? [''] : matchingWords(formatNames, test)) {
    const some = books.get(word)
    if (some) unite(bitmap, resize(some, maxDoc, segment.maxDoc))
  }
  return { version, bitmap, maxDoc }
}

/** Reads the books of all formats into memory. */
export async function readFormatsAhead(sql: Sql, segment: BookSegment): Promise<void> {
  if (segment.origin.formats) return
  const { books, maxDoc } = await readFormats(sql, segment)
  segment.origin.formats = { books, maxDoc }
}

async function readFormats(
  sql: Sql,
  segment: BookSegment,
): Promise<{ version: string; books: BooksByFormat; maxDoc: number }> {
  const format = sql`coalesce(b.format, '')`
  // The books of the most common format are those that have no other.
  const [sample] = await sql<{ common: string }[]>`
    select coalesce(mode() within group (order by b.format), '') as common
    from (select ${format} as format from book b where ${presentBook(sql)} limit ${sampledBooks}) b`
  const { common } = sample!
  type Row = { version: string; format: string | null; ids: Buffer }
  const rows = await inParallel(sql, tx =>
    unprepared(tx<Row[]>`
    select ${listVersion(sql)} as version, f.format, f.ids
    from (select) one left join (
      select ${format} as format, string_agg(uuid_send(b.id), ''::bytea) as ids from book b
      where ${presentBook(sql)} and ${format} <> ${common}
      group by 1) f on true`),
  )
  const { maxDoc } = segment
  const rest = subtract(fullBitmap(maxDoc), segment.missing)
  const books: BooksByFormat = new Map([[common, rest]])
  for (const row of rows) {
    if (row.format === null) continue
    const some = emptyBitmap(maxDoc)
    await forEachOrdinal(segment.ids, row.ids, book => {
      add(some, book)
      remove(rest, book)
    })
    books.set(row.format, some)
  }
  return { version: rows[0]!.version, books, maxDoc }
}
