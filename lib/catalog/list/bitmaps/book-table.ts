// All books of the catalogue, numbered, with what decides who sees them: the base of bitmaps. Numbers are
// of one version of the catalogue; the present books of a series follow each other, missing books are last.
import type { Sql } from 'postgres'
import { couldSee, presentBook, type Viewer } from '../../../auth/viewer.ts'
import { combineListChanges, listVersion } from '../marks/list-version.ts'
import type { MarkedScope } from '../marks/read-marks.ts'
import { add, type Bitmap, emptyBitmap, remove, setRange } from './bitmap.ts'
import { createIdTable, forEachPlace, type IdTable, idBytes, wordsOf } from './id-table.ts'

/** Series that the same viewers see. */
type SeriesClass = {
  libraryId: string
  rating: number | null
  tags: string[]
}

export type BookTable = {
  /** Of `listVersion`. */
  version: string
  books: IdTable
  bookCount: number
  presentCount: number
  /** In the order of their titles. */
  series: IdTable
  classes: SeriesClass[]
  /** By series: its class, the first of its present books, and the number of them. */
  classOf: Uint16Array
  firstBook: Uint32Array
  ownBooks: Uint32Array
  /** The series of each missing book. */
  seriesOfMissing: Uint32Array
  /** Books with an age rating of their own: pairs of the book and the rating. */
  rated: Int32Array
}

const maxClasses = 65_535
const seriesRows = 500

/**
 * Reads index entries of all books. Null for a catalogue of more than `maxBooks`, or of very many classes. The
 * table of a million books has 24 MB.
 */
export async function readBookTable(
  sql: Sql,
  { maxBooks }: { maxBooks: number },
): Promise<BookTable | null> {
  await combineListChanges(sql)
  return await sql.begin(async tx => {
    // The pool of requests begins transactions without options.
    await tx`set transaction isolation level repeatable read, read only`
    const [size] = await tx<{ version: string; total: number }[]>`
      select ${listVersion(tx)} as version,
        (select count(*)::float8 from book b where b.missing_at is not null)
        + (select coalesce(sum(book_count), 0)::float8 from library) as total`
    if (size!.total > maxBooks) return null
    const series = await readSeries(tx as unknown as Sql)
    if (!series) return null
    const seriesCount = series.classOf.length
    const firstBook = new Uint32Array(seriesCount)
    const ownBooks = new Uint32Array(seriesCount)
    const parts: Buffer[] = []
    let presentCount = 0
    const present = tx<{ series: Buffer; ids: Buffer }[]>`
      select uuid_send(b.series_id) as series, string_agg(uuid_send(b.id), ''::bytea) as ids
      from book b where ${presentBook(tx)} group by b.series_id`
    for await (const rows of present.cursor(seriesRows))
      for (const { series: id, ids } of rows)
        await forEachPlace(series.table, id, place => {
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
    await forEachPlace(series.table, missing!.series, (place, i) => {
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
      ...{ version: size!.version, books, presentCount, seriesOfMissing, firstBook, ownBooks },
      ...{ series: series.table, classes: series.classes, classOf: series.classOf },
      bookCount: presentCount + seriesOfMissing.length,
      rated: Int32Array.from(ratings),
    }
  })
}

type MissingRow = { ids: Buffer; series: Buffer }

async function readSeries(sql: Sql) {
  type Row = SeriesClass & { ids: Buffer; places: Buffer }
  const rows = await sql<Row[]>`
    select s.library_id as "libraryId", s.age_rating as rating, coalesce(t.tags, '{}') as tags,
      string_agg(uuid_send(s.id), ''::bytea) as ids, string_agg(int4send(s.place), ''::bytea) as places
    from (
      select id, library_id, age_rating,
        (row_number() over (order by sort_key, id))::integer - 1 as place from series) s
    left join (
      select series_id, array_agg(tag_id::text order by tag_id) as tags from series_sharing_tag
      group by 1) t on t.series_id = s.id
    group by 1, 2, 3`
  if (rows.length > maxClasses) return null
  const count = rows.reduce((sum, { ids }) => sum + ids.length / idBytes, 0)
  const ids = Buffer.alloc(count * idBytes)
  const classOf = new Uint16Array(count)
  rows.forEach((row, number) => {
    for (let i = 0; i < row.places.length / 4; i++) {
      const place = row.places.readInt32BE(i * 4)
      row.ids.copy(ids, place * idBytes, i * idBytes, (i + 1) * idBytes)
      classOf[place] = number
    }
  })
  const classes = rows.map(({ libraryId, rating, tags }) => ({ libraryId, rating, tags }))
  return { table: await createIdTable(wordsOf(ids)), classes, classOf }
}

/** The books of all series for which `holds`, present and missing. */
export function booksOfSeries(table: BookTable, holds: (series: number) => boolean): Bitmap {
  const { firstBook, ownBooks, seriesOfMissing, presentCount, bookCount } = table
  const bitmap = emptyBitmap(bookCount)
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
  const { classes, classOf, rated, presentCount, bookCount } = table
  const isVisible = classes.map(
    ({ libraryId: id, rating, tags }) =>
      (libraryId === undefined || id === libraryId) &&
      (viewer.libraries === null || viewer.libraries.includes(id)) &&
      couldSee(viewer, { rating, isUnrated: rating === null, tags }),
  )
  const bitmap = booksOfSeries(table, series => isVisible[classOf[series]!]!)
  const { ageLimit } = viewer
  if (ageLimit !== null)
    for (let i = 0; i < rated.length; i += 2)
      if (rated[i + 1]! > ageLimit) remove(bitmap, rated[i]!)
  if (!includeDeleted) for (let i = presentCount; i < bookCount; i++) remove(bitmap, i)
  return bitmap
}
