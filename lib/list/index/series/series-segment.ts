// The segment of series: all series as documents in the order of their titles, with the values that lists need of each.
import type { Fragment, Sql } from 'postgres'
import type { Viewer } from '../../../accounts/viewer.ts'
import type { Queryable } from '../../../store/postgres/db.ts'
import { unionAll } from '../../../store/postgres/statement.ts'
import { combineListChanges, listVersion } from '../../list-version.ts'
import type { SeriesScope } from '../../sql/series-fields.ts'
import { initialOfSeries } from '../../sql/series-statement.ts'
import { add, type Bitmap, emptyBitmap, has, remove } from '../bitmap.ts'
import { forEachOrdinal } from '../id-table.ts'
import type { Segment } from '../index-schema.ts'
import {
  bytesPerSeries,
  type ClassedSeries,
  readClassedSeries,
  visibleClasses,
} from '../series-classes.ts'

export type SeriesSegment = Segment & {
  classed: ClassedSeries
  present: Bitmap
  /** Without present books, with missing ones. */
  missing: Bitmap
  /** Series all of whose books have age ratings of their own: pairs of the series and the lowest rating. */
  lowestAges: Int32Array
  /** By series the number of the first character of its sort title. */
  initialOf: Uint16Array
  initials: string[]
}

const maxInitials = 65_535

/** Null for a catalog that needs more than `maxBytes`, or of very many classes. A series takes some 30 bytes. */
export async function loadSeriesSegment(
  sql: Sql,
  { maxBytes }: { maxBytes: number },
): Promise<SeriesSegment | null> {
  await combineListChanges(sql)
  return await sql.begin(async tx => {
    // The pool of requests begins transactions without options.
    await tx`set transaction isolation level repeatable read, read only`
    const [size] = await tx<{ version: string; total: number }[]>`
      select ${listVersion(tx, 'series')} as version,
        (select coalesce(sum(series_count), 0)::float8 from library) as total`
    if (size!.total * bytesPerSeries > maxBytes) return null
    const classed = await readClassedSeries(tx)
    const groups = await tx<Group[]>`${unionAll(tx, groupsOf(tx))}`
    const initials = [...new Set(groups.map(({ initial }) => initial))]
    if (!classed || initials.length > maxInitials) return null
    const { ids: rows, count: maxDoc } = classed
    const [present, missing] = [emptyBitmap(maxDoc), emptyBitmap(maxDoc)]
    const initialOf = new Uint16Array(maxDoc)
    const lowestAges: number[] = []
    for (const { initial, lowestAge, isPresent, hasMissing, ids } of groups) {
      const number = initials.indexOf(initial)
      await forEachOrdinal(rows, ids, series => {
        initialOf[series] = number
        if (isPresent) add(present, series)
        else if (hasMissing) add(missing, series)
        if (lowestAge > 0) lowestAges.push(series, lowestAge)
      })
    }
    return {
      ...{ version: size!.version, origin: {}, ids: rows, maxDoc, classed },
      ...{ present, missing, initials, initialOf },
      lowestAges: Int32Array.from(lowestAges),
    }
  })
}

type Group = {
  initial: string
  lowestAge: number
  isPresent: boolean
  hasMissing: boolean
  ids: Buffer
}

/** The first part needs no other columns than those of an index, in which series of the second are few. */
function groupsOf(sql: Queryable): Fragment[] {
  const initial = initialOfSeries(sql)
  const parts = [
    [sql`left(s.sort_key, 1)`, sql`false`, sql`s.book_count > 0 and s.sort_key >= ':'`],
    [initial, sql`false`, sql`s.book_count > 0 and s.sort_key < ':'`],
    [initial, sql`s.missing_count > 0`, sql`s.book_count = 0`],
  ] as const
  return parts.map(
    ([first, hasMissing, where]) => sql`
      select ${first} as initial, s.lowest_age as "lowestAge", s.book_count > 0 as "isPresent",
        ${hasMissing} as "hasMissing", string_agg(uuid_send(s.id), ''::bytea) as ids
      from series s where ${where} group by 1, 2, 3, 4`,
  )
}

/** The series of a scope that a viewer sees. */
export function visibleSeriesDocs(
  { classed, present, missing, lowestAges, maxDoc }: SeriesSegment,
  viewer: Viewer,
  { libraryId, onlyWithVisibleBooks, includeDeleted }: Omit<SeriesScope, 'filter'>,
): Bitmap {
  const isVisible = visibleClasses(classed, viewer, libraryId)
  const bitmap = emptyBitmap(maxDoc)
  for (let series = 0; series < maxDoc; series++) {
    const isListed = has(present, series) || (includeDeleted && has(missing, series))
    if (isListed && isVisible(series)) add(bitmap, series)
  }
  const { ageLimit } = viewer
  if (onlyWithVisibleBooks && ageLimit !== null)
    for (let i = 0; i < lowestAges.length; i += 2)
      if (lowestAges[i + 1]! > ageLimit) remove(bitmap, lowestAges[i]!)
  return bitmap
}

/** The number of series of a bitmap for each first character, in the order of titles. */
export function countInitials(
  { initialOf, initials, maxDoc }: SeriesSegment,
  bitmap: Bitmap,
): { group: string; count: number }[] {
  const counts = new Map<number, number>()
  for (let series = 0; series < maxDoc; series++)
    if (has(bitmap, series)) {
      const initial = initialOf[series]!
      counts.set(initial, (counts.get(initial) ?? 0) + 1)
    }
  return [...counts].map(([initial, count]) => ({ group: initials[initial]!, count }))
}
