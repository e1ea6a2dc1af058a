// All books of the catalogue, numbered, with what decides who sees them: the base of bitmaps. Numbers are
// of one version of the catalogue; the present books of a series follow each other, missing books are last.
import type { Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../auth/viewer.ts'
import { combineListChanges, listVersion } from '../marks/list-version.ts'
import type { MarkedScope } from '../marks/read-marks.ts'
import { add, type Bitmap, emptyBitmap, remove, setRange } from './bitmap.ts'
import { createIdTable, forEachPlace, idBytes, wordsOf } from './id-table.ts'
import type { RowTable } from './row-kind.ts'
import { type ClassedSeries, readClassedSeries, visibleClasses } from './series-classes.ts'

export type BookTable = RowTable & {
  presentCount: number
  series: ClassedSeries
  /** By series: the first of its present books, and the number of them. */
  firstBook: Uint32Array
  ownBooks: Uint32Array
  /** The series of each missing book. */
  seriesOfMissing: Uint32Array
  /** Books with an age rating of their own: pairs of the book and the rating. */
  rated: Int32Array
}

const seriesRows = 500

/**
 * Reads index entries of all books. Null for a catalogue of more than `maxRows`, or of very many classes. The
 * table of a million books has 24 MB.
 */
export async function readBookTable(
  sql: Sql,
  { maxRows }: { maxRows: number },
): Promise<BookTable | null> {
  await combineListChanges(sql)
  return await sql.begin(async tx => {
    // The pool of requests begins transactions without options.
    await tx`set transaction isolation level repeatable read, read only`
    const [size] = await tx<{ version: string; total: number }[]>`
      select ${listVersion(tx)} as version,
        (select count(*)::float8 from book b where b.missing_at is not null)
        + (select coalesce(sum(book_count), 0)::float8 from library) as total`
    if (size!.total > maxRows) return null
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
        await forEachPlace(series.ids, id, place => {
          firstBook[place] = presentCount
          ownBooks[place] = ids.length / idBytes
          presentCount += ids.length / idBytes
          parts.push(ids)
        })
    const [missing] = await tx<MissingRow[]>`
      select coalesce(string_agg(uuid_send(b.id), ''::bytea), '') as ids,
        coalesce(string_agg(uuid_send(b.series_id), ''::bytea), '') as series
      from book b where b.missing_at is not null`
    parts.push(missing!.ids)
    const books = await createIdTable(wordsOf(Buffer.concat(parts)))
    const seriesOfMissing = new Uint32Array(missing!.ids.length / idBytes)
    await forEachPlace(series.ids, missing!.series, (place, i) => {
      seriesOfMissing[i] = place
    })
    const [rated] = await tx<{ ids: Buffer; ratings: Buffer }[]>`
      select coalesce(string_agg(uuid_send(b.id), ''::bytea), '') as ids,
        coalesce(string_agg(int4send(b.age_rating), ''::bytea), '') as ratings
      from (
        select y.id, y.age_rating from book y where y.age_rating is not null and ${presentBook(tx, 'y')}
        union all
        select y.id, y.age_rating from book y
        where y.age_rating is not null and y.missing_at is not null) b`
    const ratings: number[] = []
    await forEachPlace(books, rated!.ids, (book, i) => {
      ratings.push(book, rated!.ratings.readInt32BE(i * 4))
    })
    return {
      ...{ version: size!.version, rows: books, series, presentCount, seriesOfMissing },
      ...{ firstBook, ownBooks, rowCount: presentCount + seriesOfMissing.length },
      rated: Int32Array.from(ratings),
    }
  })
}

type MissingRow = { ids: Buffer; series: Buffer }

/** The books of all series for which `holds`, present and missing. */
export function booksOfSeries(table: BookTable, holds: (series: number) => boolean): Bitmap {
  const { firstBook, ownBooks, seriesOfMissing, presentCount, rowCount } = table
  const bitmap = emptyBitmap(rowCount)
  for (let series = 0; series < firstBook.length; series++)
    if (ownBooks[series]! > 0 && holds(series))
      setRange(bitmap, firstBook[series]!, firstBook[series]! + ownBooks[series]!)
  for (let i = 0; i < seriesOfMissing.length; i++)
    if (holds(seriesOfMissing[i]!)) add(bitmap, presentCount + i)
  return bitmap
}

/** The books that a viewer sees. */
export function visibleBooks(
  table: BookTable,
  viewer: Viewer,
  { libraryId, includeDeleted }: MarkedScope,
): Bitmap {
  const { series, rated, presentCount, rowCount } = table
  const bitmap = booksOfSeries(table, visibleClasses(series, viewer, libraryId))
  const { ageLimit } = viewer
  if (ageLimit !== null)
    for (let i = 0; i < rated.length; i += 2)
      if (rated[i + 1]! > ageLimit) remove(bitmap, rated[i]!)
  if (!includeDeleted) for (let i = presentCount; i < rowCount; i++) remove(bitmap, i)
  return bitmap
}
