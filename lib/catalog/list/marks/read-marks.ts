// Rank marks of a sort order: the books in that order, cut into buckets of equal length, with the first
// book of each and how many of its books each visibility class has. Read in one statement, so that they
// and their version belong to one state of the catalogue.
import type { Fragment, Sql } from 'postgres'
import { couldSee, presentBook, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { unionAll, unprepared } from '../../../postgres/statement.ts'
import { type BookColumnSort, bookOrderBy, bookSortColumns, type Direction } from '../sort.ts'
import { combineListChanges, listVersion } from './list-version.ts'

export type MarkedOrder = { sort: BookColumnSort; direction: Direction }

/** Books that the same viewers see. */
type VisibilityClass = {
  libraryId: string
  /** The higher one of the age ratings of the book and its series. */
  rating: number | null
  /** The series has no rating. */
  isUnrated: boolean
  /** Sharing tags of the series. */
  tags: string[]
  isMissing: boolean
}

/** Books that follow each other in the order, all with a value of the sort column or all without. */
export type Bucket = {
  /** The first book. */
  id: string
  /** Its value in the sort column as text; null for books without one. */
  key: string | null
  /** Number of books by class: pairs of a class and its number. */
  counts: Uint32Array
}

export type Marks = {
  /** Of `listVersion` when the marks were read. */
  version: string
  /** The most books of a bucket. */
  bucketRows: number
  classes: VisibilityClass[]
  buckets: Bucket[]
}

// Far more than catalogues have; the memory of the marks is bounded by their product.
const maxClasses = 1_000
const maxBuckets = 500

/** Reads all books in the order, from its index and from the missing books. Null for a catalogue with too many classes. */
export async function readMarks(
  sql: Sql,
  order: MarkedOrder,
  { minBucketRows }: { minBucketRows: number },
): Promise<Marks | null> {
  await combineListChanges(sql)
  const [size] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count + missing_count), 0)::float8 as total from library`
  const bucketRows = Math.max(minBucketRows, Math.ceil(size!.total / maxBuckets))
  const rows = await unprepared(sql<MarkRow[]>`
    with series_class as materialized (
      select s.id, (dense_rank() over (order by s.library_id, s.age_rating, t.tags))::integer as class
      from series s
      left join (
        select series_id, array_agg(tag_id order by tag_id) as tags from series_sharing_tag
        group by 1) t on t.series_id = s.id
    ), counted as materialized (
      select p.part, p.place / ${bucketRows}::bigint as bucket, c.class, p.is_missing,
        coalesce(p.rating, y.age_rating) as rating, count(*) as n,
        max(p.id::text) filter (where p.place % ${bucketRows}::bigint = 0) as id,
        max(p.key::text) filter (where p.place % ${bucketRows}::bigint = 0) as key
      from (${placedBooks(sql, order)}) p
      join series_class c on c.id = p.series_id
      left join (
        select y.id, y.age_rating from book y
        where y.age_rating is not null and ${presentBook(sql, 'y')}) y on y.id = p.id
      group by 1, 2, 3, 4, 5
    )
    select ${listVersion(sql)} as version, n.part, n.bucket, n.class, n.is_missing as "isMissing",
      n.rating as "bookRating", n.n, n.id, n.key, f.library_id as "libraryId",
      f.age_rating as "seriesRating", f.tags
    from counted n
    join (
      select distinct on (c.class) c.class, s.library_id, s.age_rating, array(
        select t.tag_id::text from series_sharing_tag t where t.series_id = s.id order by t.tag_id) as tags
      from series_class c join series s on s.id = c.id
      order by c.class) f on f.class = n.class
    order by n.part, n.bucket`)
  return toMarks(rows, bucketRows)
}

/**
 * All books, present and missing, with their places in the order: `part` 0 are those with a value of the sort
 * column, 1 those without.
 */
function placedBooks(sql: Queryable, order: MarkedOrder): Fragment {
  const { nullable } = bookSortColumns[order.sort]
  const parts = nullable ? (['with', 'without'] as const) : (['all'] as const)
  return unionAll(
    sql,
    parts.map(values => placedPart(sql, order, values)),
  )
}

function placedPart(
  sql: Queryable,
  order: MarkedOrder,
  values: 'all' | 'with' | 'without',
): Fragment {
  const key = sql(bookSortColumns[order.sort].column)
  const sorting = values === 'without' ? idOrder(sql, order) : inOrder(sql, order)
  const hasValue = {
    all: sql`true`,
    with: sql`b.${key} is not null`,
    without: sql`b.${key} is null`,
  }[values]
  // Present books have an index of their ratings; reading those of a million rows takes seconds.
  const books = (isListed: Fragment, rating: Fragment, isMissing: boolean) => sql`
    (select b.id, b.${key}, b.series_id, ${rating} as rating, ${isMissing}::boolean as is_missing
    from book b where ${isListed} and ${hasValue} order by ${sorting})`
  return sql`
    select ${values === 'without' ? 1 : 0}::integer as part, b.id, b.${key} as key, b.series_id,
      b.rating, b.is_missing, row_number() over (order by ${sorting}) - 1 as place
    from (
      ${books(presentBook(sql), sql`null::integer`, false)} union all
      ${books(sql`b.missing_at is not null`, sql`b.age_rating`, true)}) b`
}

/** Of `book b`. */
export const inOrder = (sql: Queryable, order: MarkedOrder): Fragment =>
  bookOrderBy(sql, 'b', { ...order, reversed: false })

const idOrder = (sql: Queryable, { direction }: MarkedOrder) =>
  direction === 'desc' ? sql`b.id desc` : sql`b.id`

type MarkRow = {
  version: string
  part: number
  bucket: number
  class: number
  isMissing: boolean
  bookRating: number | null
  n: number
  id: string | null
  key: string | null
  libraryId: string
  seriesRating: number | null
  tags: string[]
}

function toMarks(rows: MarkRow[], bucketRows: number): Marks | null {
  const classes: VisibilityClass[] = []
  const numbers = new Map<string, number>()
  const buckets: (Omit<Bucket, 'counts'> & { counts: number[] })[] = []
  let last = ''
  for (const row of rows) {
    const name = `${row.class} ${row.bookRating} ${row.isMissing}`
    let number = numbers.get(name)
    if (number === undefined) {
      const { libraryId, tags, seriesRating, bookRating, isMissing } = row
      const isUnrated = seriesRating === null
      const rating =
        isUnrated && bookRating === null ? null : Math.max(seriesRating ?? 0, bookRating ?? 0)
      number = classes.push({ libraryId, rating, isUnrated, tags, isMissing }) - 1
      numbers.set(name, number)
    }
    const place = `${row.part} ${row.bucket}`
    if (place !== last) buckets.push({ id: '', key: null, counts: [] })
    last = place
    const bucket = buckets.at(-1)!
    bucket.counts.push(number, row.n)
    if (row.id !== null) Object.assign(bucket, { id: row.id, key: row.key })
  }
  if (rows.length === 0 || classes.length > maxClasses) return null
  const compact = buckets.map(bucket => ({ ...bucket, counts: Uint32Array.from(bucket.counts) }))
  return { version: rows[0]!.version, bucketRows, classes, buckets: compact }
}

export type MarkedScope = {
  libraryId?: string | undefined
  /** Missing books are listed, too. */
  includeDeleted?: boolean | undefined
}

/** The number of books of each bucket that a viewer sees. */
export function visibleCounts(
  { classes, buckets }: Marks,
  viewer: Viewer,
  { libraryId, includeDeleted }: MarkedScope,
): number[] {
  const isVisible = classes.map(
    ({ libraryId: id, isMissing, ...item }) =>
      (includeDeleted || !isMissing) &&
      (libraryId === undefined || id === libraryId) &&
      (viewer.libraries === null || viewer.libraries.includes(id)) &&
      couldSee(viewer, item),
  )
  return buckets.map(({ counts }) => {
    let count = 0
    for (let i = 0; i < counts.length; i += 2) if (isVisible[counts[i]!]) count += counts[i + 1]!
    return count
  })
}

/** Its books have no value of the sort column. */
export const isNull = ({ key }: Pick<Bucket, 'key'>) => key === null
