// Permanent deletion of missing books, in batches of one transaction each, which also updates the counters of
// their series and libraries. Files on disk are never touched; covers in the data directory are left for
// `doctor`.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { serverViewer, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { type NewEvent, publish } from '../../store/event/publish.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { fetchSetting } from '../../store/setting/setting.ts'
import { requireLibrary } from '../library/library.ts'
import { lockSeries } from '../row-locks.ts'
import { requireSeries } from '../series/series-record.ts'

const batchSize = 1_000

/** Deletes the visible missing books of a library; returns their number. Throws NotFound. */
export async function purgeLibrary(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  await requireLibrary(sql, viewer, id)
  return await purge(sql, viewer, { scope: sql`b.library_id = ${id}` })
}

/** Deletes all missing books of a library, if it exists, until `shouldStop` returns true; returns their number. */
export async function purgeMissing(sql: Sql, id: string, shouldStop: () => boolean) {
  return await purge(sql, serverViewer, { scope: sql`b.library_id = ${id}`, shouldStop })
}

/** Deletes the visible missing books of a series; returns their number. Throws NotFound. */
export async function purgeSeries(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  await requireSeries(sql, viewer, id)
  return await purge(sql, viewer, { scope: sql`b.series_id = ${id}` })
}

type PurgeScope = { scope: Fragment; shouldStop?: () => boolean }

async function purge(sql: Sql, viewer: Viewer, { scope, shouldStop = () => false }: PurgeScope) {
  const deletesEmptySeries = await fetchSetting(sql, 'purge.purge_empty_series')
  for (let total = 0; ; ) {
    const count = await retryOnDeadlock(sql, tx =>
      purgeBatch(tx, viewer, { scope, deletesEmptySeries }),
    )
    total += count
    if (count === 0 || shouldStop()) return total
  }
}

async function purgeBatch(
  tx: TransactionSql,
  viewer: Viewer,
  { scope, deletesEmptySeries }: { scope: Fragment; deletesEmptySeries: boolean },
): Promise<number> {
  const candidates = await tx<{ id: string; seriesId: string }[]>`
    select b.id, b.series_id as "seriesId" from book b join series s on s.id = b.series_id
    where ${scope} and b.missing_at is not null and ${visibleBook(tx, viewer)}
    limit ${batchSize}`
  const seriesToLock = candidates.map(book => book.seriesId)
  await lockSeries(tx, seriesToLock, deletesEmptySeries ? 'deletion' : 'change')
  // A separate statement: a planner that estimates few missing books would select them again for each row.
  const books = await tx<DeletedItem[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId",
      greatest(b.age_rating, s.age_rating) as rating, s.age_rating is null as "isUnrated",
      ${sharingTagsOfSeries(tx)} as tags
    from book b join series s on s.id = b.series_id
    where b.id = any(${candidates.map(book => book.id)}::uuid[]) and b.missing_at is not null
    order by b.id
    for update of b`
  const bookIds = books.map(book => book.id)
  const seriesIds = await deleteBooks(tx, bookIds)
  const series = deletesEmptySeries ? await deleteEmptySeries(tx, seriesIds) : []
  await publish(tx, [
    ...deletionEvents('book_deleted', books),
    ...deletionEvents('series_deleted', series),
  ])
  return books.length
}

/** Deletes books that the transaction has locked; returns the ids of their series. */
export async function deleteBooks(tx: TransactionSql, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ id: string }[]>`
    with deleted as (
      delete from book where id = any(${ids}::uuid[])
      returning library_id, series_id, missing_at is not null as is_missing, page_count, size
    ), totals as (
      select library_id, series_id, count(*) filter (where is_missing) as missing,
        count(*) filter (where not is_missing) as books,
        coalesce(sum(page_count) filter (where not is_missing), 0) as pages,
        coalesce(sum(size) filter (where not is_missing), 0) as size
      from deleted
      group by 1, 2
    ), locked as (
      select id from series where id in (select series_id from totals) order by id for no key update
    ), updated_series as (
      update series s
      set book_count = s.book_count - t.books, missing_count = s.missing_count - t.missing,
        page_count = s.page_count - t.pages, size = s.size - t.size, updated_at = now()
      from totals t
      join locked on locked.id = t.series_id
      where s.id = t.series_id
      returning s.id, s.library_id, t.books > 0 and s.book_count = 0 as emptied
    ), counted as (
      update library l
      set book_count = l.book_count - t.books, missing_count = l.missing_count - t.missing,
        page_count = l.page_count - t.pages, size = l.size - t.size,
        series_count = l.series_count
          - (select count(*) from updated_series e where e.library_id = l.id and e.emptied),
        updated_at = now()
      from (
        select library_id, sum(books) as books, sum(missing) as missing, sum(pages) as pages,
          sum(size) as size
        from totals group by 1
      ) t
      where l.id = t.library_id
    )
    select id from updated_series`
  return rows.map(row => row.id)
}

/** Deletes and returns the series that have no books left, not even missing ones. */
async function deleteEmptySeries(tx: TransactionSql, ids: string[]): Promise<DeletedItem[]> {
  if (ids.length === 0) return []
  return await tx<DeletedItem[]>`
    with empty as materialized (
      select id, ${sharingTagsOfSeries(tx)} as tags
      from series s
      where id = any(${ids}::uuid[]) and book_count = 0 and missing_count = 0
        and not exists (select from book where series_id = s.id)
    )
    delete from series s
    using empty e
    where s.id = e.id
    returning s.id, s.library_id as "libraryId", s.age_rating as rating,
      s.age_rating is null as "isUnrated", e.tags`
}

/** A deleted book or series, with what determines who could see it (see `couldSee`). */
type DeletedItem = {
  id: string
  libraryId: string
  /** Books only. */
  seriesId?: string
  rating: number | null
  /** The series has no rating. */
  isUnrated: boolean
  tags: string[]
}

function sharingTagsOfSeries(tx: TransactionSql): Fragment {
  return tx`array(select tag_id from series_sharing_tag t where t.series_id = s.id order by 1)`
}

function deletionEvents(
  type: 'book_deleted' | 'series_deleted',
  deleted: DeletedItem[],
): NewEvent[] {
  return [...Map.groupBy(deleted, item => item.libraryId)].map(([libraryId, items]) => ({
    type,
    libraryId,
    ...(type === 'book_deleted'
      ? { books: items.map(({ id, seriesId }) => ({ id, seriesId: seriesId! })) }
      : { series: items.map(({ id }) => id) }),
    audience: {
      ratings: items.map(item => item.rating),
      unrated: items.map(item => item.isUnrated),
      tags: items.map(item => item.tags),
    },
  }))
}
