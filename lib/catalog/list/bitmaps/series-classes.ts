// All series of the catalogue in the order of their titles, with what decides who sees them.
import type { Sql } from 'postgres'
import { couldSee, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { createIdTable, type IdTable, idBytes, wordsOf } from './id-table.ts'

/** Series that the same viewers see. */
type SeriesClass = {
  libraryId: string
  rating: number | null
  tags: string[]
}

export type ClassedSeries = {
  /** In the order of their titles. */
  ids: IdTable
  count: number
  classes: SeriesClass[]
  /** By series. */
  classOf: Uint16Array
}

const maxClasses = 65_535

/** Null with too many classes. */
export async function readClassedSeries(sql: Queryable): Promise<ClassedSeries | null> {
  type Row = SeriesClass & { ids: Buffer; places: Buffer }
  // Each part from a partial index.
  const rows = await (sql as Sql)<Row[]>`
    select s.library_id as "libraryId", s.age_rating as rating, coalesce(t.tags, '{}') as tags,
      string_agg(uuid_send(s.id), ''::bytea) as ids, string_agg(int4send(s.place), ''::bytea) as places
    from (
      select id, library_id, age_rating,
        (row_number() over (order by sort_key, id))::integer - 1 as place
      from (
        select id, library_id, age_rating, sort_key from series where book_count > 0
        union all
        select id, library_id, age_rating, sort_key from series where book_count = 0) a) s
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
  return { ids: await createIdTable(wordsOf(ids)), count, classes, classOf }
}

/** Whether the viewer sees a series, by its number; only those of a library, if it is given. */
export function visibleClasses(
  { classes, classOf }: ClassedSeries,
  viewer: Viewer,
  libraryId: string | undefined,
): (series: number) => boolean {
  const isVisible = classes.map(
    ({ libraryId: id, rating, tags }) =>
      (libraryId === undefined || id === libraryId) &&
      (viewer.libraries === null || viewer.libraries.includes(id)) &&
      couldSee(viewer, { rating, isUnrated: rating === null, tags }),
  )
  return series => isVisible[classOf[series]!]!
}
