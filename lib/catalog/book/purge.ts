// Erasing books for good, a batch a transaction, with the counters of what held them. Files on disk
// are never touched; covers in the data directory are left for the doctor.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { type Told, tell } from '../../event/publish.ts'
import { storedSetting } from '../../setting/setting.ts'
import { requireLibrary } from '../library/library.ts'
import { changing } from '../metadata/metadata-change.ts'
import { lockSeries } from '../progress/series-reading.ts'

const batch = 1_000

/** Erases the missing books of a library that the viewer sees; answers how many. Throws NotFound. */
export async function purgeLibrary(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  await requireLibrary(sql, viewer, id)
  return await purge(sql, viewer, { within: sql`b.library_id = ${id}` })
}

/** The same for nobody in particular, until `stop`: all missing books of a library, if it is there. */
export async function purgeMissing(sql: Sql, id: string, stop: () => boolean): Promise<number> {
  return await purge(sql, everyone, { within: sql`b.library_id = ${id}`, stop })
}

const everyone: Viewer = {
  accountId: '00000000-0000-0000-0000-000000000000',
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}

/** The same for a series. */
export async function purgeSeries(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  const [series] = await sql`
    select 1 from series s where s.id = ${id} and ${seesSeries(sql, viewer)}`
  if (!series) throw new NotFound('Series not found')
  return await purge(sql, viewer, { within: sql`b.series_id = ${id}` })
}

async function purge(
  sql: Sql,
  viewer: Viewer,
  { within, stop = () => false }: { within: Fragment; stop?: () => boolean },
): Promise<number> {
  const emptiesSeries = await storedSetting(sql, 'purge.purge_empty_series')
  for (let erased = 0; ; ) {
    const books = await changing(sql, async tx => {
      const some = await tx<{ id: string; seriesId: string }[]>`
        select b.id, b.series_id as "seriesId" from book b join series s on s.id = b.series_id
        where ${within} and b.missing_at is not null and ${seesBook(sql, viewer)}
        limit ${batch}`
      // The series first, as writers of progress do.
      await lockSeries(tx, [...new Set(some.map(row => row.seriesId))])
      // In two steps: a planner that takes missing books for rare would ask for them again for each row.
      const gone = await tx<Gone[]>`
        select b.id, b.library_id as "libraryId", b.series_id as "seriesId",
          greatest(b.age_rating, s.age_rating) as rating, s.age_rating is null as "isUnrated",
          ${tagsOf(tx)} as tags
        from book b join series s on s.id = b.series_id
        where b.id = any(${some.map(row => row.id)}::uuid[]) and b.missing_at is not null
        order by b.id
        for update of b`
      const series = await eraseBooks(
        tx,
        gone.map(book => book.id),
      )
      const emptied = emptiesSeries ? await eraseEmpty(tx, series) : []
      await tell(tx, [...deletions('book_deleted', gone), ...deletions('series_deleted', emptied)])
      return gone.length
    })
    erased += books
    if (books === 0 || stop()) return erased
  }
}

/** Erases these books, which the transaction has locked, and answers their series. */
export async function eraseBooks(tx: TransactionSql, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ id: string }[]>`
    with gone as (
      delete from book where id = any(${ids}::uuid[])
      returning library_id, series_id, missing_at is not null as is_missing, page_count, size
    ), share as (
      select library_id, series_id, count(*) filter (where is_missing) as missing,
        count(*) filter (where not is_missing) as books,
        coalesce(sum(page_count) filter (where not is_missing), 0) as pages,
        coalesce(sum(size) filter (where not is_missing), 0) as size
      from gone
      group by 1, 2
    ), locked as (
      select id from series where id in (select series_id from share) order by id for no key update
    ), left_behind as (
      update series s
      set book_count = s.book_count - h.books, missing_count = s.missing_count - h.missing,
        page_count = s.page_count - h.pages, size = s.size - h.size, updated_at = now()
      from share h
      join locked on locked.id = h.series_id
      where s.id = h.series_id
      returning s.id, s.library_id, h.books > 0 and s.book_count = 0 as emptied
    ), counted as (
      update library l
      set book_count = l.book_count - h.books, missing_count = l.missing_count - h.missing,
        page_count = l.page_count - h.pages, size = l.size - h.size,
        series_count = l.series_count
          - (select count(*) from left_behind e where e.library_id = l.id and e.emptied),
        updated_at = now()
      from (
        select library_id, sum(books) as books, sum(missing) as missing, sum(pages) as pages,
          sum(size) as size
        from share group by 1
      ) h
      where l.id = h.library_id
    )
    select id from left_behind`
  return rows.map(row => row.id)
}

/** Erases those of the series that hold no book, not even a missing one, and answers them. */
async function eraseEmpty(tx: TransactionSql, ids: string[]): Promise<Gone[]> {
  if (ids.length === 0) return []
  return await tx<Gone[]>`
    with empty as materialized (
      select id, ${tagsOf(tx)} as tags
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

/** A book or series that is erased, with what tells who could see it (lib/event/audience.ts). */
type Gone = {
  id: string
  libraryId: string
  /** Only of books. */
  seriesId?: string
  rating: number | null
  /** The series has no rating. */
  isUnrated: boolean
  tags: string[]
}

function tagsOf(tx: TransactionSql): Fragment {
  return tx`array(select tag_id from series_sharing_tag t where t.series_id = s.id order by 1)`
}

function deletions(type: 'book_deleted' | 'series_deleted', gone: Gone[]): Told[] {
  return [...Map.groupBy(gone, one => one.libraryId)].map(([libraryId, its]) => ({
    type,
    libraryId,
    ...(type === 'book_deleted'
      ? { books: its.map(({ id, seriesId }) => ({ id, seriesId: seriesId! })) }
      : { series: its.map(({ id }) => id) }),
    audience: {
      ratings: its.map(one => one.rating),
      unrated: its.map(one => one.isUnrated),
      tags: its.map(one => one.tags),
    },
  }))
}
