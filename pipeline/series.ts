// Finds or makes the series that books belong to, and lets a series follow its renamed folder.
import { lstatSync } from 'node:fs'
import type { TransactionSql } from 'postgres'
import { newId } from '../lib/id.ts'
import { joinPath } from '../lib/path.ts'
import type { Match } from './match.ts'
import type { SeriesPlace } from './reading.ts'

type Library = { id: string; root: Uint8Array }

/** Series id for each key of the batch; made where there is none. Two statements, whatever the batch holds. */
export async function findOrMakeSeries(tx: TransactionSql, library: Library, matches: Match[]) {
  await followRenames(tx, library, matches)
  const places = new Map<string, SeriesPlace>()
  for (const m of matches) if (m.reading.series) places.set(m.reading.series.key, m.reading.series)
  const keys = [...places.keys()].sort()
  if (keys.length === 0) return new Map<string, string>()
  const known = await idsOf(tx, library.id, keys)
  const missing = keys.filter(key => !known.has(key))
  if (missing.length > 0) {
    const made = await make(
      tx,
      library.id,
      missing.map(key => places.get(key)!),
    )
    for (const row of made) known.set(row.key, row.id)
    // A series that another batch made meanwhile: a new statement sees it.
    const raced = missing.filter(key => !known.has(key))
    if (raced.length > 0)
      for (const [key, id] of await idsOf(tx, library.id, raced)) known.set(key, id)
    await storeExternalIds(
      tx,
      made.map(row => ({ id: row.id, place: places.get(row.key)! })),
    )
  }
  return known
}

async function idsOf(tx: TransactionSql, libraryId: string, keys: string[]) {
  const rows = await tx<{ id: string; key: string }[]>`
    select id, key from series where library_id = ${libraryId} and key = any(${keys})`
  return new Map(rows.map(row => [row.key, row.id]))
}

function make(tx: TransactionSql, libraryId: string, places: SeriesPlace[]) {
  const rows = places.map(place => ({ id: newId(), ...place, externalIds: undefined }))
  return tx<{ id: string; key: string }[]>`
    insert into series (id, library_id, key, name, folder, one_shot, title, sort_key, search_key,
      publisher, year, summary, status, language, age_rating, reading_direction)
    select id, ${libraryId}, key, name, folder, "oneShot", title, "sortKey", "searchKey",
      publisher, year, summary, coalesce(status, 'ongoing'), language, "ageRating", "readingDirection"
    from jsonb_to_recordset(${tx.json(rows as never)}) as s(id uuid, key text, name text, folder text,
      "oneShot" boolean, title text, "sortKey" text, "searchKey" text, publisher text, year integer,
      summary text, status text, language text, "ageRating" integer, "readingDirection" text)
    order by key
    on conflict (library_id, key) do nothing
    returning id, key`
}

async function storeExternalIds(tx: TransactionSql, series: { id: string; place: SeriesPlace }[]) {
  const rows = series.flatMap(({ id, place }) => place.externalIds.map(e => ({ id, ...e })))
  if (rows.length === 0) return
  await tx`
    insert into series_external_id (series_id, source, external_id, url)
    select distinct on (id, source) id, source, "externalId", url
    from jsonb_to_recordset(${tx.json(rows as never)})
      as e(id uuid, source text, "externalId" text, url text)
    on conflict (series_id, source) do nothing`
}

/** A moved book whose old series' folder is gone takes its series along: the id and what users set on it stay. */
async function followRenames(tx: TransactionSql, library: Library, matches: Match[]) {
  const wanted = new Map<string, SeriesPlace>()
  for (const m of matches) {
    const place = m.reading.series
    if (m.outcome !== 'moved' || !m.before || !place || m.before.libraryId !== library.id) continue
    if (!wanted.has(m.before.seriesId)) wanted.set(m.before.seriesId, place)
  }
  if (wanted.size === 0) return
  const old = await tx<{ id: string; folder: string | null }[]>`
    select id, folder from series where id = any(${[...wanted.keys()]}) order by id for no key update`
  for (const series of old) {
    const place = wanted.get(series.id)!
    if (place.folder === null || series.folder === null || series.folder === place.folder) continue
    if (lstatSync(joinPath(library.root, Buffer.from(series.folder)), { throwIfNoEntry: false }))
      continue
    await tx`
      update series
      set key = ${place.key}, name = ${place.name}, folder = ${place.folder}, updated_at = now(),
        title = case when ${keepsTitle(tx)} then title else ${place.title} end,
        sort_key = case when ${keepsTitle(tx)} then sort_key else ${place.sortKey} end,
        search_key = case when ${keepsTitle(tx)} then search_key else ${place.searchKey} end
      where id = ${series.id}
        and not exists (
          select 1 from series where library_id = ${library.id} and key = ${place.key})`
  }
}

/** A title that a user set or locked, or that the files themselves gave, does not follow the folder. */
function keepsTitle(tx: TransactionSql) {
  return tx`('title' = any(locks) or provenance ? 'title')`
}
