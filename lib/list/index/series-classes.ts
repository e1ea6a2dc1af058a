// All series in the order of their titles, with the ordinals of their visibility classes: series that the same viewers see.
import type { Sql } from 'postgres'
import { couldSee, type Viewer } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import {
  addIds,
  countIds,
  createIdTable,
  forEachOrdinal,
  type IdTable,
  idBytes,
  wordsOf,
} from './id-table.ts'

/** Series that the same viewers see. */
type SeriesClass = {
  libraryId: string
  rating: number | null
  tags: string[]
}

export type ClassedSeries = {
  ids: IdTable
  count: number
  /** The numbers of the series in the order of their titles. */
  byTitle: Uint32Array
  classes: SeriesClass[]
  /** By series. */
  classOf: Uint16Array
}

const maxClasses = 65_535

/** Memory of a series, estimated before they are read: numbers and classes 30, sort orders and predicates as many. */
export const bytesPerSeries = 60

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
  const byTitle = new Uint32Array(count).map((_, place) => place)
  return { ids: await createIdTable(wordsOf(ids)), count, byTitle, classes, classOf }
}

/** A series that is new, or has another class or title. */
export type ChangedSeries = SeriesClass & {
  id: string
  /** The series before it by title. */
  before: string | null
}

/** `changed` in the order of titles. Null where that is not clear, or with too many classes. */
export async function changeSeries(
  series: ClassedSeries,
  changed: ChangedSeries[],
): Promise<ClassedSeries | null> {
  const bytes = (ids: (string | null)[]) =>
    Buffer.from(
      ids.map(id => (id ?? '').replaceAll('-', '').padEnd(idBytes * 2, '0')).join(''),
      'hex',
    )
  const changedIds = bytes(changed.map(({ id }) => id))
  const known = new Set<number>()
  await forEachOrdinal(series.ids, changedIds, (_, i) => void known.add(i))
  const newIds = bytes(changed.filter((_, i) => !known.has(i)).map(({ id }) => id))
  const ids = await addIds(series.ids, wordsOf(newIds), null)
  const count = countIds(ids)
  const classes = [...series.classes]
  const classOf = new Uint16Array(count)
  classOf.set(series.classOf)
  const numbers = new Map(classes.map((one, number) => [keyOf(one), number]))
  const places: number[] = []
  await forEachOrdinal(ids, changedIds, (place, i) => {
    const { libraryId, rating, tags } = changed[i]!
    const key = keyOf(changed[i]!)
    const number = numbers.get(key) ?? classes.push({ libraryId, rating, tags }) - 1
    numbers.set(key, number)
    classOf[place] = number
    places.push(place)
  })
  const before = new Map<number, number>()
  await forEachOrdinal(ids, bytes(changed.map(one => one.before)), (place, i) => {
    before.set(i, place)
  })
  const isClear = changed.every((one, i) => one.before === null || before.has(i))
  if (!isClear || classes.length > maxClasses) return null
  const placesBefore = places.map((_, i) => before.get(i) ?? null)
  const isInOrder = newIds.length === 0 && isInPlace(series.byTitle, places, placesBefore)
  const byTitle = isInOrder
    ? series.byTitle
    : reorder(series.byTitle, places, { count, placesBefore })
  return { ids, count, byTitle, classes, classOf }
}

const keyOf = ({ libraryId, rating, tags }: SeriesClass) =>
  JSON.stringify([libraryId, rating, tags])

/** Looking for more costs as much as moving them. */
const maxLookedFor = 8

function isInPlace(order: Uint32Array, moved: number[], before: (number | null)[]): boolean {
  if (moved.length > maxLookedFor) return false
  return moved.every((place, i) => (order[order.indexOf(place) - 1] ?? null) === before[i])
}

/** Moves places, which are in order, behind those before them; null: to the front. */
function reorder(
  order: Uint32Array,
  moved: number[],
  { count, placesBefore }: { count: number; placesBefore: (number | null)[] },
): Uint32Array {
  // By the place that they follow, which does not move itself.
  const anchors = new Map<number | null, number | null>()
  const following = new Map<number | null, number[]>()
  for (const [i, place] of moved.entries()) {
    const before = placesBefore[i]!
    const anchor = anchors.has(before) ? anchors.get(before)! : before
    anchors.set(place, anchor)
    const others = following.get(anchor) ?? []
    following.set(anchor, others)
    others.push(place)
  }
  const result = new Uint32Array(count)
  let used = 0
  const append = (place: number) => {
    result[used++] = place
  }
  following.get(null)?.forEach(append)
  for (const place of order) {
    if (anchors.has(place)) continue
    append(place)
    following.get(place)?.forEach(append)
  }
  return result
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
