// The segment of books, refreshed with what changed: changed books become new documents and their old numbers are
// deleted, so that all that is in memory stays true for the numbers that are left.
import type { Fragment, Sql } from 'postgres'
import { unprepared } from '../../../store/postgres/statement.ts'
import { changesBetween, combineListChanges, listVersion } from '../../list-version.ts'
import { add, emptyBitmap, resize } from '../bitmap.ts'
import { addIds, firstCount, forEachOrdinal, idBytes, wordsOf } from '../id-table.ts'
import { type ChangedSeries, changeSeries } from '../series-classes.ts'
import type { BookSegment } from './book-segment.ts'

type Changes = {
  version: string
  snapshot: string
  /** Changes that the segment has not seen. */
  unseen: number
  /** One of them names no books. */
  isUnknown: boolean
  /** Books, each as often as it changed. */
  named: number
  /** Rows of `list_change`. */
  logged: number
  changedIds: Buffer | null
  /** For the books that exist: ids, ids of their series, age ratings (-1: none), and a byte each. */
  ids: Buffer | null
  seriesIds: Buffer | null
  ratings: Buffer | null
  missing: Buffer | null
  series: ChangedSeries[] | null
}

/** Rows of changes, which each list adds up. */
const maxLogged = 5_000
/** More changes at once are not followed. */
const maxChanged = 20_000
const maxNamed = 100_000
const maxSeries = 10_000
/** Numbers that changed books may take, in relation to all. */
const maxAddedShare = 0.25
const minAdded = 20_000

/** Null if the segment is to be read again: any book may have changed, or too many have. */
export async function refreshBookSegment(
  sql: Sql,
  segment: BookSegment,
): Promise<BookSegment | null> {
  const changes = await readChanges(sql, segment.snapshot)
  const { version, snapshot, changedIds, ids } = changes
  if (changes.logged > maxLogged) await combineListChanges(sql, { seenBy: snapshot })
  const changed = (changedIds?.length ?? 0) / idBytes
  const isTooMuch =
    addedCount(segment) + changed > Math.max(minAdded, segment.maxDoc * maxAddedShare)
  // Others were combined, or written in ways that are not noted.
  const isIncomplete = changes.unseen !== changesBetween(segment.version, version)
  if (
    isIncomplete ||
    changes.isUnknown ||
    changed > maxChanged ||
    isTooMuch ||
    changes.named > maxNamed
  )
    return null
  if ((changes.series?.length ?? 0) > maxSeries) return null
  const series = await changeSeries(segment.series, changes.series ?? [])
  if (!series) return null
  const first = segment.maxDoc
  const added = (ids?.length ?? 0) / idBytes
  const maxDoc = first + added
  const deleted = resize(segment.ids.deleted ?? emptyBitmap(0), first, maxDoc)
  await forEachOrdinal(segment.ids, changedIds, book => add(deleted, book))
  const ofAdded = new Uint32Array(added)
  let placed = 0
  await forEachOrdinal(series.ids, changes.seriesIds, (place, i) => {
    ofAdded[i] = place
    placed++
  })
  if (placed < added) return null
  const missing = resize(segment.missing, first, maxDoc)
  const rated: number[] = []
  for (let i = 0; i < added; i++) {
    if (changes.missing![i] === 1) add(missing, first + i)
    const rating = changes.ratings!.readInt32BE(i * 4)
    if (rating >= 0) rated.push(first + i, rating)
  }
  return {
    ...segment,
    ...{ version, snapshot, maxDoc, series, missing },
    hasMissing: missing.some(word => word !== 0),
    ids: await addIds(segment.ids, wordsOf(ids ?? Buffer.alloc(0)), deleted),
    seriesOfOther: concat(Uint32Array, segment.seriesOfOther, ofAdded),
    rated: concat(Int32Array, segment.rated, rated),
  }
}

function concat<Numbers extends Uint32Array | Int32Array>(
  create: new (length: number) => Numbers,
  numbers: Numbers,
  more: ArrayLike<number>,
): Numbers {
  const both = new create(numbers.length + more.length)
  both.set(numbers)
  both.set(more, numbers.length)
  return both
}

/** The numbers that changed books have taken. */
export const addedCount = ({ ids: rows, maxDoc }: BookSegment): number => maxDoc - firstCount(rows)

async function readChanges(sql: Sql, snapshot: string): Promise<Changes> {
  const [row] = await unprepared(sql<Changes[]>`
    with unseen as materialized (
      select count, books, series from list_change
      where subject = 'book' and not pg_visible_in_snapshot(transaction_id, ${snapshot}::pg_snapshot)
    ), unknown as materialized (
      select from unseen where books is null and series is null limit 1
    ), named as materialized (
      select books, series from unseen where not exists (select from unknown)
    ), changed as materialized (
      select id from (
        (select unnest(books) as id from named limit ${maxNamed + 1})
        union
        (select b.id from book b where b.series_id = any(array(select unnest(series) from named))
          limit ${maxChanged + 1})) c
      limit ${maxChanged + 1}
    ), stored as materialized (
      -- Looked up one by one, however many the planner expects.
      select b.* from changed c cross join lateral (
        select b.id, b.series_id, b.missing_at is not null as is_missing, b.age_rating from book b
        where b.id = c.id offset 0) b
    )
    select ${listVersion(sql)} as version, pg_current_snapshot()::text as snapshot,
      (select coalesce(sum(count), 0)::float8 from unseen) as unseen,
      exists (select from unknown) as "isUnknown",
      (select coalesce(sum(cardinality(books)), 0)::float8 from named) as named,
      (select count(*)::integer from list_change) as logged,
      (select string_agg(uuid_send(id), ''::bytea) from changed) as "changedIds", b.*,
      (select json_agg(s) from (${changedSeries(sql)}) s) as series
    from (
      select string_agg(uuid_send(id), ''::bytea) as ids,
        string_agg(uuid_send(series_id), ''::bytea) as "seriesIds",
        string_agg(int4send(coalesce(age_rating, -1)), ''::bytea) as ratings,
        string_agg(case when is_missing then '\\x01'::bytea else '\\x00'::bytea end, ''::bytea)
          as missing
      from stored) b`)
  return row!
}

/** In the order of titles, each index entry from a partial index. */
function changedSeries(sql: Sql): Fragment {
  const before = (hasBooks: Fragment) => sql`(
    select p.id, p.sort_key from series p
    where ${hasBooks} and (p.sort_key, p.id) < (s.sort_key, s.id)
    order by p.sort_key desc, p.id desc limit 1)`
  return sql`
    select s.id, s."libraryId", s.rating,
      array(select t.tag_id::text from series_sharing_tag t where t.series_id = s.id order by 1) as tags,
      (select p.id from (
          ${before(sql`p.book_count > 0`)} union all ${before(sql`p.book_count = 0`)}) p
        order by p.sort_key desc, p.id desc limit 1) as before
    from (select series_id from stored union select unnest(series) from named) c
    cross join lateral (
      select s.id, s.sort_key, s.library_id as "libraryId", s.age_rating as rating from series s
      where s.id = c.series_id offset 0) s
    order by s.sort_key, s.id limit ${maxSeries + 1}`
}
