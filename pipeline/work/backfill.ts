// Rows that a catalogue of an older release lacks: what searches read, labels, places of readers in
// series. Made a thousand at a time behind everything else; when nothing lacks, two quick questions.
import type { Sql } from 'postgres'
import { settleLabels } from '../../lib/catalog/label/label.ts'
import { changing } from '../../lib/catalog/metadata/metadata-change.ts'
import { lockSeries, recountReading } from '../../lib/catalog/progress/series-reading.ts'
import { writeBookSearch, writeSeriesSearch } from '../../lib/catalog/search/search-rows.ts'
import type { Log } from '../../lib/log.ts'
import { sortKey } from '../../lib/name/natural.ts'

const batch = 1_000

/** Runs in the background; `close` resolves when it stands still. */
export function startBackfill(sql: Sql, log: Log) {
  let stopped = false
  const done = backfill(sql, () => stopped).then(
    rows => rows > 0 && log.info({ rows }, 'catalogue filled in'),
    error => log.error({ err: error }, 'the catalogue could not be filled in'),
  )
  return {
    async close() {
      stopped = true
      await done
    },
  }
}

/** Answers how many books and series were filled in. */
export async function backfill(sql: Sql, stop = () => false): Promise<number> {
  return (await fillSeries(sql, stop)) + (await fillBooks(sql, stop))
}

async function fillSeries(sql: Sql, stop: () => boolean) {
  let filled = 0
  while (!stop()) {
    const rows = await sql<{ id: string; name: string }[]>`
      select id, name from series s
      where not exists (select from series_search t where t.series_id = s.id)
      order by id
      limit ${batch}`
    if (rows.length === 0) break
    const ids = rows.map(row => row.id)
    const keys = rows.map(({ id, name }) => ({ id, key: sortKey(name) }))
    await changing(sql, async tx => {
      await lockSeries(tx, ids)
      await tx`
        update series s set name_key = k.key
        from jsonb_to_recordset(${tx.json(keys)}) as k(id uuid, key text)
        where s.id = k.id and s.name_key <> k.key`
      await settleLabels(tx, ids)
      await recountReading(tx, ids)
      await writeSeriesSearch(tx, ids)
    })
    filled += ids.length
  }
  return filled
}

/** From the newest to the oldest, so that the oldest ones tell whether anything is left. */
async function fillBooks(sql: Sql, stop: () => boolean) {
  const [oldest] = await sql<{ lacking: boolean }[]>`
    select coalesce(bool_or(t.book_id is null), false) as lacking
    from (select id from book order by id limit ${batch}) b
    left join book_search t on t.book_id = b.id`
  if (!oldest!.lacking) return 0
  let filled = 0
  for (let before = 'ffffffff-ffff-ffff-ffff-ffffffffffff'; !stop(); ) {
    const rows = await sql<{ id: string; seriesId: string; lacks: boolean }[]>`
      select b.id, b.series_id as "seriesId", t.book_id is null as lacks
      from (select id, series_id from book where id < ${before} order by id desc limit ${batch}) b
      left join book_search t on t.book_id = b.id
      order by b.id desc`
    if (rows.length === 0) break
    before = rows.at(-1)!.id
    const lacking = rows.filter(row => row.lacks)
    const ids = lacking.map(row => row.id)
    await changing(sql, async tx => {
      // Nobody changes what is written between the look and the writing.
      await tx`select 1 from book where id = any(${ids}) order by id for no key update`
      await lockSeries(tx, [...new Set(lacking.map(row => row.seriesId))])
      await writeBookSearch(tx, ids)
    })
    filled += ids.length
  }
  return filled
}
