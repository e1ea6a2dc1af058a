// Finalizes series at the end of a scan: titles, metadata, labels, book order and derived state of the series
// whose books changed.
import { refreshScanned } from '../../lib/catalog/derived/refresh.ts'
import { statedTitle, titlesByRules } from '../../lib/catalog/metadata/series-title.ts'
import { votesOfBooks } from '../../lib/catalog/metadata/votes.ts'
import { lockSeries } from '../../lib/catalog/row-locks.ts'
import { bookMajorityFields } from '../../lib/media/metadata/series-fields.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import { markAcquired } from '../../lib/releases/owned.ts'
import { publish, seriesEvents } from '../../lib/store/event/publish.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import { anyOf, commaList } from '../../lib/store/postgres/statement.ts'
import type { LoadedScan } from '../scan/scan-context.ts'

const batch = 1_000

type Library = Pick<LoadedScan, 'libraryId' | 'rules'>

/** Finalizes all changed series of a library, a thousand per transaction. */
export async function finalizeSeries(sql: Sql, library: Library): Promise<void> {
  const [marked] = await sql`
    select 1 from series_refresh where library_id = ${library.libraryId} limit 1`
  if (!marked) return
  let batches = 0
  while (await finalizeBatch(sql, library)) batches += 1
  // Rows inserted by a scan are in GIN pending lists, which every search would have to read.
  if (batches > 0)
    await sql`
      select gin_clean_pending_list(index)
      from unnest(array['book_search_text', 'series_search_text']::regclass[]) as index`
}

/** Returns false if no series was left. */
async function finalizeBatch(sql: Sql, library: Library): Promise<boolean> {
  return await retryOnDeadlock(sql, async tx => {
    const { libraryId } = library
    const marked = await tx<{ id: string }[]>`
      select series_id as id from series_refresh
      where library_id = ${libraryId} order by series_id limit ${batch}`
    if (marked.length === 0) return false
    const markedIds = marked.map(row => row.id)
    await lockSeries(tx, markedIds)
    const rows = await tx<{ id: string; libraryId: string; retitle: boolean }[]>`
      with taken as (
        delete from series_refresh
        where library_id = ${libraryId} and series_id = any(${markedIds})
        returning series_id, retitle
      )
      select s.id, s.library_id as "libraryId", taken.retitle
      from series s join taken on taken.series_id = s.id
      order by s.id`
    const ids = rows.map(row => row.id)
    const retitledIds = rows.filter(row => row.retitle).map(row => row.id)
    await orderBooks(tx, library, ids)
    const changed = new Set([
      ...(await describeSeries(tx, ids)),
      ...(await retitleSeries(tx, retitledIds)),
      ...(await renameSeries(tx, ids)),
      ...(await refreshScanned(tx, ids)),
    ])
    await markAcquired(tx, ids)
    const changedRows = rows.filter(row => changed.has(row.id))
    await publish(tx, seriesEvents('series_updated', changedRows))
    return true
  })
}

/**
 * If no book of a series has a number, file names determine its order naturally; as soon as one book has a
 * number, the others have none.
 */
async function orderBooks(
  tx: Transaction,
  { rules: { numberStrategy } }: Pick<LoadedScan, 'rules'>,
  ids: string[],
) {
  if (numberStrategy !== 'smart' && numberStrategy !== 'file_order') return
  const isRanked = numberStrategy === 'file_order' ? tx`true` : tx`not r.numbered`
  await tx`
    with ranked as (
      select id, row_number() over (partition by series_id order by name_key, id) as rank,
        bool_or(number is not null) over (partition by series_id) as numbered
      from book
      where series_id = any(${ids}) and missing_at is null
    ), changed as (
      select b.id, case when ${isRanked} then r.rank end as number_sort
      from ranked r join book b on b.id = r.id
      where (${isRanked} or b.number is null)
        and b.number_sort is distinct from case when ${isRanked} then r.rank end
        and not 'number' = any(b.locks) and b.provenance->>'number' is distinct from 'user'
      order by b.id
      for no key update of b
    )
    update book b
    set number_sort = c.number_sort
    from changed c
    where b.id = c.id`
}

const describedColumns = [...bookMajorityFields.map(({ column }) => column), 'status']

/**
 * Sets the columns that follow the books, such as publisher and language, to their most frequent value, and
 * the status, unless locked, or set by a user, a metadata source or series.json. Returns the series that
 * changed.
 */
async function describeSeries(tx: Transaction, ids: string[]): Promise<string[]> {
  const differs = (c: string) => tx`(
    b.${tx(c)} is not null and b.${tx(c)} is distinct from s.${tx(c)} and not ${c} = any(s.locks)
    and not s.provenance ? ${c})`
  const assignments = describedColumns.map(
    c => tx`${tx(c)} = case when ${differs(c)} then b.${tx(c)} else s.${tx(c)} end`,
  )
  const changed = await tx<{ id: string }[]>`
    update series s
    set ${commaList(tx, assignments)}, updated_at = now()
    from (
      select s.id, v.*
      from series s join library l on l.id = s.library_id cross join ${votesOfBooks(tx)} v
      where s.id = any(${ids})
    ) b
    where s.id = b.id and ${anyOf(tx, describedColumns.map(differs))}
    returning s.id`
  return changed.map(row => row.id)
}

/**
 * Titles series as the majority of their books states, or else after their folders, unless locked, or set by
 * a user, a metadata source or series.json. Returns the series that changed.
 */
async function renameSeries(tx: Transaction, ids: string[]): Promise<string[]> {
  const rows = await tx<{ id: string; title: string | null }[]>`
    select id, stated as title
    from (
      select s.id, s.title, s.provenance ? 'title' as is_stated, ${statedTitle(tx)} as stated
      from series s
      where s.id = any(${ids}) and not 'title' = any(s.locks)
        and coalesce(s.provenance->>'title', 'embedded') = 'embedded'
    ) t
    where case when stated is null then is_stated else stated <> title end`
  const stated = rows.flatMap(({ id, title }) => (title === null ? [] : [{ id, title }]))
  const unstated = rows.filter(({ title }) => title === null).map(({ id }) => id)
  await tx`update series set provenance = provenance - 'title' where id = any(${unstated})`
  return [
    ...(await setTitles(tx, stated, { title: 'embedded' })),
    ...(await retitleSeries(tx, unstated)),
  ]
}

/** Applies the library's title rules again. Returns the series that changed. */
async function retitleSeries(tx: Transaction, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const titles = await titlesByRules(tx, tx`select id from unnest(${ids}::uuid[]) as id`)
  return await setTitles(tx, titles, {})
}

/** `provenance` is merged into the series' provenance. Returns their ids. */
async function setTitles(
  tx: Transaction,
  titles: readonly { id: string; title: string }[],
  provenance: { title?: 'embedded' },
): Promise<string[]> {
  if (titles.length === 0) return []
  const rows = titles.map(({ id, title }) => ({
    ...{ id, title, sortKey: sortKey(title), searchKey: searchKey(title) },
  }))
  await tx`
    update series s
    set title = n.title, search_key = n."searchKey", updated_at = now(),
      sort_key = case when s.title_sort is null then n."sortKey" else s.sort_key end,
      provenance = s.provenance || ${tx.json(provenance)}
    from jsonb_to_recordset(${tx.json(rows)}) as n(id uuid, title text, "sortKey" text, "searchKey" text)
    where s.id = n.id`
  return titles.map(series => series.id)
}

/** For the series of books that a scan has added. */
export async function noteGrownSeries(
  sql: Sql,
  { scanId, libraryId }: { scanId: string; libraryId: string },
): Promise<void> {
  // An update marks the lists as changed even if it finds no row.
  const [scan] = await sql`select from scan where id = ${scanId} and added > 0`
  if (!scan) return
  await sql`
    update series s
    set grown_at = added.at
    from (
      select b.series_id, max(b.created_at) as at, min(c.started_at) as "startedAt"
      from scan c
      join book b on b.library_id = ${libraryId} and b.missing_at is null
        and b.created_at >= c.started_at
      where c.id = ${scanId}
      group by b.series_id) added
    where s.id = added.series_id and s.created_at < added."startedAt"
      and s.grown_at is distinct from added.at`
}
