// Erasing books for good, a batch a transaction, with the counters of what held them. Files on disk
// are never touched; covers in the data directory are left for the doctor.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { NotFound } from '../../errors.ts'
import { changing } from '../metadata/metadata-change.ts'
import { lockSeries } from '../reading.ts'
import { storedSetting } from '../setting.ts'
import { seesBook, seesSeries, type Viewer } from '../viewer.ts'
import { requireLibrary } from './library.ts'

const batch = 1_000

/** Erases the missing books of a library that the viewer sees; answers how many. Throws NotFound. */
export async function purgeLibrary(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  await requireLibrary(sql, viewer, id)
  return await purge(sql, viewer, sql`b.library_id = ${id}`)
}

/** The same for a series. */
export async function purgeSeries(sql: Sql, viewer: Viewer, id: string): Promise<number> {
  const [series] = await sql`
    select 1 from series s where s.id = ${id} and ${seesSeries(sql, viewer)}`
  if (!series) throw new NotFound('Series not found')
  return await purge(sql, viewer, sql`b.series_id = ${id}`)
}

async function purge(sql: Sql, viewer: Viewer, within: Fragment): Promise<number> {
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
      const rows = await tx<{ id: string }[]>`
        select id from book
        where id = any(${some.map(row => row.id)}::uuid[]) and missing_at is not null
        order by id
        for update`
      const ids = rows.map(row => row.id)
      const series = await eraseBooks(tx, ids)
      if (emptiesSeries) await eraseEmpty(tx, series)
      return ids.length
    })
    if (books === 0) return erased
    erased += books
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

/** Erases those of the series that hold no book, not even a missing one. */
async function eraseEmpty(tx: TransactionSql, ids: string[]) {
  if (ids.length === 0) return
  await tx`
    delete from series s
    where id = any(${ids}::uuid[]) and book_count = 0 and missing_count = 0
      and not exists (select from book where series_id = s.id)`
}
