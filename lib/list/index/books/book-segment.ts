// The segment of books: all books as numbered documents, and the values that decide who sees them. The present books of a
// series follow each other, then missing books; books that changed later are new documents after those, and their old
// numbers are deleted (refresh-segment.ts).
import type { Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../accounts/viewer.ts'
import { combineListChanges, listVersion } from '../../list-version.ts'
import { add, type Bitmap, emptyBitmap, remove, setRange, subtract } from '../bitmap.ts'
import { createIdTable, forEachOrdinal, idAt, idBytes, isDeleted, wordsOf } from '../id-table.ts'
import type { Segment } from '../index-schema.ts'
import {
  bytesPerSeries,
  type ClassedSeries,
  readClassedSeries,
  visibleClasses,
} from '../series-classes.ts'
import type { TextField, Texts } from './text-column.ts'

export type BookSegment = Segment & {
  origin: BookOrigin
  /** PostgreSQL snapshot that sees all changes in the segment. */
  snapshot: string
  /** The present books that follow each other by series. */
  presentCount: number
  series: ClassedSeries
  /** By series: the first of those books, and the number of them. */
  firstBook: Uint32Array
  ownBooks: Uint32Array
  /** The series of each other book. */
  seriesOfOther: Uint32Array
  missing: Bitmap
  hasMissing: boolean
  /** Books with an age rating of their own: pairs of the book and the rating. */
  rated: Int32Array
}

export type VisibleScope = {
  libraryId?: string | undefined
  /** Missing books, too. */
  includeDeleted?: boolean | undefined
}

export type TextReader = {
  /** Reads what predicates on a field search, unless it is in memory: one field after another. */
  readLater(segment: BookSegment, field: TextField): void
  noteFailure(error: unknown): void
  /** Resolves when no texts are being read. */
  idle(): Promise<void>
}

/** What is read of the books beside the segment. */
type BookOrigin = {
  /** Null for texts that are being read, or are not to be read. */
  texts: Map<TextField, Texts | null>
  textReader: TextReader
}

/** Present books below `maxDoc`. `version`: of the catalog (`listVersion`). */
export type KnownBooks = { bitmap: Bitmap; maxDoc: number; version: string }

const seriesRows = 500

/**
 * Memory of a book, estimated before they are read. Measured with a million books: 24 MB of numbers, 36 MB of the nine sort
 * orders, 60 MB of titles and paths; and the most that predicates take.
 */
export const bytesPerBook = 130

/**
 * Reads index entries of all books. Null for a catalog that needs more than `maxBytes`, or of very many classes. The
 * segment of a million books has 24 MB.
 */
export async function loadBookSegment(
  sql: Sql,
  { maxBytes, textReader }: { maxBytes: number; textReader: TextReader },
): Promise<BookSegment | null> {
  await combineListChanges(sql)
  return await sql.begin(async tx => {
    // The pool of requests begins transactions without options.
    await tx`set transaction isolation level repeatable read, read only`
    const [size] = await tx<{ version: string; snapshot: string; books: number; series: number }[]>`
      select ${listVersion(tx)} as version, pg_current_snapshot()::text as snapshot,
        (select count(*)::float8 from book b where b.missing_at is not null)
        + (select coalesce(sum(book_count), 0)::float8 from library) as books,
        (select coalesce(sum(series_count), 0)::float8 from library) as series`
    if (size!.books * bytesPerBook + size!.series * bytesPerSeries > maxBytes) return null
    const series = await readClassedSeries(tx)
    if (!series) return null
    const firstBook = new Uint32Array(series.count)
    const ownBooks = new Uint32Array(series.count)
    const parts: Buffer[] = []
    let presentCount = 0
    const present = tx<{ series: Buffer; ids: Buffer }[]>`
      select uuid_send(b.series_id) as series, string_agg(uuid_send(b.id), ''::bytea) as ids
      from book b where ${presentBook(tx)} group by b.series_id`
    for await (const rows of present.cursor(seriesRows))
      for (const { series: id, ids } of rows)
        await forEachOrdinal(series.ids, id, place => {
          firstBook[place] = presentCount
          ownBooks[place] = ids.length / idBytes
          presentCount += ids.length / idBytes
          parts.push(ids)
        })
    const [missing] = await tx<{ ids: Buffer; series: Buffer }[]>`
      select coalesce(string_agg(uuid_send(b.id), ''::bytea), '') as ids,
        coalesce(string_agg(uuid_send(b.series_id), ''::bytea), '') as series
      from book b where b.missing_at is not null`
    parts.push(missing!.ids)
    const books = await createIdTable(wordsOf(Buffer.concat(parts)))
    const seriesOfOther = new Uint32Array(missing!.ids.length / idBytes)
    await forEachOrdinal(series.ids, missing!.series, (place, i) => {
      seriesOfOther[i] = place
    })
    const maxDoc = presentCount + seriesOfOther.length
    const isMissing = emptyBitmap(maxDoc)
    setRange(isMissing, presentCount, maxDoc)
    const [rated] = await tx<{ ids: Buffer; ratings: Buffer }[]>`
      select coalesce(string_agg(uuid_send(b.id), ''::bytea), '') as ids,
        coalesce(string_agg(int4send(b.age_rating), ''::bytea), '') as ratings
      from (
        select y.id, y.age_rating from book y where y.age_rating is not null and ${presentBook(tx, 'y')}
        union all
        select y.id, y.age_rating from book y
        where y.age_rating is not null and y.missing_at is not null) b`
    const ratings: number[] = []
    await forEachOrdinal(books, rated!.ids, (book, i) => {
      ratings.push(book, rated!.ratings.readInt32BE(i * 4))
    })
    return {
      ...{ version: size!.version, snapshot: size!.snapshot, ids: books, maxDoc },
      origin: { texts: new Map(), textReader },
      ...{ series, presentCount, firstBook, ownBooks, seriesOfOther },
      ...{ missing: isMissing, hasMissing: maxDoc > presentCount },
      rated: Int32Array.from(ratings),
    }
  })
}

/** The ids of the books from a number on. */
export function addedIds({ ids: rows, maxDoc }: BookSegment, first: number): string[] {
  const ids: string[] = []
  for (let book = first; book < maxDoc; book++)
    if (!isDeleted(rows, book)) ids.push(idAt(rows, book))
  return ids
}

/** The books of all series for which `holds`, present and missing. */
export function booksOfSeries(segment: BookSegment, holds: (series: number) => boolean): Bitmap {
  const { firstBook, ownBooks, seriesOfOther, presentCount, maxDoc } = segment
  const bitmap = emptyBitmap(maxDoc)
  for (let series = 0; series < firstBook.length; series++)
    if (ownBooks[series]! > 0 && holds(series))
      setRange(bitmap, firstBook[series]!, firstBook[series]! + ownBooks[series]!)
  for (let i = 0; i < seriesOfOther.length; i++)
    if (holds(seriesOfOther[i]!)) add(bitmap, presentCount + i)
  return bitmap
}

/** The books that a viewer sees. */
export function visibleBooks(
  segment: BookSegment,
  viewer: Viewer,
  { libraryId, includeDeleted }: VisibleScope,
): Bitmap {
  const { series, rated, ids: rows, missing } = segment
  const bitmap = booksOfSeries(segment, visibleClasses(series, viewer, libraryId))
  const { ageLimit } = viewer
  if (ageLimit !== null)
    for (let i = 0; i < rated.length; i += 2)
      if (rated[i + 1]! > ageLimit) remove(bitmap, rated[i]!)
  if (!includeDeleted) subtract(bitmap, missing)
  return rows.deleted ? subtract(bitmap, rows.deleted) : bitmap
}
