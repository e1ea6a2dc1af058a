// Last stage of a scan: decides what became of the files that were not met, and puts the touched
// series in order.
import type { Sql, TransactionSql } from 'postgres'
import { settleLabels } from '../../lib/catalog/label/label.ts'
import { lockSeries, recountReading } from '../../lib/catalog/progress/series-reading.ts'
import { tellScan } from '../../lib/catalog/scan/scan-events.ts'
import { writeSeriesSearch } from '../../lib/catalog/search/search-rows.ts'
import { settleLowestAge } from '../../lib/catalog/series/lowest-age.ts'
import { ofBooks, ofSeries, tell } from '../../lib/event/publish.ts'
import { countFiles } from '../../lib/metrics/scan.ts'
import { sortKey } from '../../lib/name/natural.ts'
import { searchKey } from '../../lib/name/normalise.ts'
import { applyCounting, count, counting } from '../index/counters.ts'
import { recordBooks } from './progress.ts'
import type { LoadedScan } from './scan-context.ts'

const batch = 1_000

/** A message when too much vanished at once to believe it; null when all is decided. */
export async function settleVanished(
  sql: Sql,
  scan: LoadedScan,
  brakePercent: number,
): Promise<string | null> {
  const [row] = await sql<{ gone: number; present: number }[]>`
    select (select count(*)::integer from vanished where library_id = ${scan.libraryId}) as gone,
      book_count as present
    from library where id = ${scan.libraryId}`
  const { gone, present } = row!
  if (gone > 1 && gone * 100 > present * brakePercent && !scan.options.confirmMissing) {
    await forgetUndecided(sql, scan.libraryId)
    return `${gone} of ${present} books are not there any more, which is more than ${brakePercent} %: nothing was marked missing. If they were removed on purpose, scan again with --confirm-missing`
  }
  while (true) {
    const missing = await markMissing(sql, scan)
    if (missing === null) break
    countFiles(scan.libraryId, { missing })
  }
  // Folders whose vanished books were all found elsewhere.
  await sql`
    update directory set digest = pending_digest, pending_digest = null
    where library_id = ${scan.libraryId} and pending_digest is not null`
  return null
}

/** Leaves what vanished undecided; the folders keep their old digests, so the next scan compares them again. */
export async function forgetUndecided(sql: Sql | TransactionSql, libraryId: string) {
  await sql`delete from vanished where library_id = ${libraryId}`
  await sql`
    update directory set pending_digest = null
    where library_id = ${libraryId} and pending_digest is not null`
}

/** Marks one batch missing and tells how many these are; null when none was left. */
async function markMissing(sql: Sql, scan: LoadedScan) {
  return await sql.begin(async tx => {
    const gone = await tx<Gone[]>`
      with taken as (
        delete from vanished
        where book_id in (
          select book_id from vanished where library_id = ${scan.libraryId} order by book_id limit ${batch})
        returning book_id, directory_id
      )
      select b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.directory_id as "folderId",
        t.directory_id as "listedIn", b.page_count as "pageCount", b.size::float8 as size,
        b.missing_at is not null as missing
      from taken t
      join book b on b.id = t.book_id
      order by b.id
      for no key update of b`
    if (gone.length === 0) return null
    const present = gone.filter(book => !book.missing)
    await tx`
      update book set missing_at = now(), updated_at = now(), scan_id = ${scan.scanId}
      where id = any(${present.map(book => book.id)})`
    // A folder that is gone itself has no pending digest: should it return, it is compared.
    const folders = [...new Set(gone.flatMap(book => [book.folderId, book.listedIn]))]
    await tx`
      update directory set digest = pending_digest, pending_digest = null where id = any(${folders})
        and not exists (select 1 from vanished v where v.directory_id = directory.id)`
    const counted = counting()
    for (const book of present) {
      count(counted, book, -1)
      count(counted, { ...book, missing: true }, 1)
    }
    if (scan.followed)
      await recordBooks(
        tx,
        scan.scanId,
        present.map(book => book.id),
        'missing',
      )
    await tx`
      insert into touched_series (library_id, series_id)
      select ${scan.libraryId}, id from unnest(${[...counted.series.keys()].sort()}::uuid[]) as id
      on conflict do nothing`
    await applyCounting(tx, counted)
    await tell(tx, ofBooks('book_updated', present, { fields: ['deleted'] }))
    await tx`update scan set missing = missing + ${present.length} where id = ${scan.scanId}`
    await tellScan(tx, scan.scanId)
    return present.length
  })
}

type Gone = {
  id: string
  libraryId: string
  seriesId: string
  folderId: string
  listedIn: string
  pageCount: number
  size: number
  missing: boolean
}

/**
 * Gives touched series their titles, genres and tags, their unnumbered books an order, and readers
 * their place in them: a thousand series at a time.
 */
export async function settleSeries(sql: Sql, scan: Pick<LoadedScan, 'libraryId' | 'rules'>) {
  let settled = 0
  while (await settleSome(sql, scan)) settled += 1
  // What a scan added waits in lists that every search would have to read through.
  if (settled > 0)
    await sql`
      select gin_clean_pending_list(index)
      from unnest(array['book_search_text', 'series_search_text']::regclass[]) as index`
}

/** One thousand; false when none was left. */
async function settleSome(sql: Sql, scan: Pick<LoadedScan, 'libraryId' | 'rules'>) {
  return await sql.begin(async tx => {
    const rows = await tx<{ id: string; libraryId: string }[]>`
      with taken as (
        delete from touched_series
        where series_id in (
          select series_id from touched_series where library_id = ${scan.libraryId} order by series_id limit ${batch})
        returning series_id
      )
      select s.id, s.library_id as "libraryId"
      from series s where s.id in (select series_id from taken)
      order by s.id`
    const ids = rows.map(row => row.id)
    if (ids.length === 0) return false
    await lockSeries(tx, ids)
    await orderBooks(tx, scan, ids)
    const changed = new Set([
      ...(await describeSeries(tx, ids)),
      ...(await nameSeries(tx, ids)),
      ...(await settleLabels(tx, ids)),
    ])
    await recountReading(tx, ids)
    await settleLowestAge(tx, ids)
    await writeSeriesSearch(tx, ids)
    await tell(
      tx,
      ofSeries(
        'series_updated',
        rows.filter(row => changed.has(row.id)),
      ),
    )
    return true
  })
}

/**
 * Where no book of a series has a number, the natural order of the file names is its order; as soon
 * as one has, the others have none.
 */
async function orderBooks(
  tx: TransactionSql,
  { rules: { numberStrategy } }: Pick<LoadedScan, 'rules'>,
  ids: string[],
) {
  if (numberStrategy !== 'smart' && numberStrategy !== 'file_order') return
  const ranks = numberStrategy === 'file_order' ? tx`true` : tx`not r.numbered`
  await tx`
    update book b
    set number_sort = case when ${ranks} then r.rank end
    from (
      select id, row_number() over (partition by series_id order by name_key, id) as rank,
        bool_or(number is not null) over (partition by series_id) as numbered
      from book
      where series_id = any(${ids}) and missing_at is null
    ) r
    where b.id = r.id and (${ranks} or b.number is null)
      and b.number_sort is distinct from case when ${ranks} then r.rank end
      and not 'number' = any(b.locks) and b.provenance->>'number' is distinct from 'user'`
}

/**
 * A series has the publisher, language, … that most of its books that say so have, unless it was
 * locked, or a user or series.json said otherwise. Answers those that changed.
 */
async function describeSeries(tx: TransactionSql, ids: string[]) {
  const columns = ['publisher', 'language', 'age_rating', 'reading_direction']
  const differs = (
    c: string,
  ) => tx`(b.${tx(c)} is not null and b.${tx(c)} is distinct from s.${tx(c)}
    and not ${c} = any(s.locks)
    and coalesce(s.provenance->>${c}, '') not in ('user', 'series_json'))`
  const changed = await tx<{ id: string }[]>`
    update series s
    set ${columns
      .map(c => tx`${tx(c)} = case when ${differs(c)} then b.${tx(c)} else s.${tx(c)} end`)
      .reduce((all, one) => tx`${all}, ${one}`)}, updated_at = now()
    from (
      select series_id, ${columns
        .map(c => tx`mode() within group (order by ${tx(c)}) as ${tx(c)}`)
        .reduce((all, one) => tx`${all}, ${one}`)}
      from book
      where series_id = any(${ids}) and missing_at is null
      group by series_id
    ) b
    where s.id = b.series_id and (${columns.map(differs).reduce((all, one) => tx`${all} or ${one}`)})
    returning s.id`
  return changed.map(row => row.id)
}

/** A series is called what most of its books that say so call it, unless a user said otherwise. Answers those that changed. */
async function nameSeries(tx: TransactionSql, ids: string[]) {
  const named = await tx<{ id: string; title: string }[]>`
    select n.series_id as id, n.series_named as title
    from (
      select series_id, series_named, count(*) as votes,
        sum(count(*)) over (partition by series_id) as voters
      from book
      where series_id = any(${ids}) and missing_at is null and series_named is not null
      group by series_id, series_named
    ) n
    join series s on s.id = n.series_id
    where n.votes * 2 > n.voters and s.title <> n.series_named
      and not 'title' = any(s.locks) and s.provenance->>'title' is distinct from 'user'`
  if (named.length === 0) return []
  const rows = named.map(n => ({ ...n, sortKey: sortKey(n.title), searchKey: searchKey(n.title) }))
  await tx`
    update series s
    set title = n.title, sort_key = n."sortKey", search_key = n."searchKey", updated_at = now(),
      provenance = s.provenance || '{"title": "embedded"}'
    from jsonb_to_recordset(${tx.json(rows)}) as n(id uuid, title text, "sortKey" text, "searchKey" text)
    where s.id = n.id`
  return named.map(series => series.id)
}
