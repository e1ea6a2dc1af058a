// Finds or makes the series that books belong to, and lets a series follow its renamed folder.
import { hash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import type { TransactionSql } from 'postgres'
import { newId } from '../../lib/id.ts'
import { sortKey } from '../../lib/name/natural.ts'
import { joinPath } from '../../lib/path.ts'
import type { Match } from './match.ts'
import type { SeriesPlace } from './reading.ts'

type Library = { id: string; root: Uint8Array }

export type BatchSeries = {
  /** Ids by key. */
  ids: Map<string, string>
  /** Ids of those that were not there before. */
  made: string[]
  /** Ids of the others that got another name, or what a series.json states. */
  changed: string[]
}

/** The series for each key of the batch; made where there is none. Two statements, whatever the batch holds. */
export async function findOrMakeSeries(
  tx: TransactionSql,
  library: Library,
  matches: Match[],
): Promise<BatchSeries> {
  const renamed = await followRenames(tx, library, matches)
  const places = new Map<string, SeriesPlace>()
  for (const { reading } of matches) {
    const place = reading.series
    // One that states facts of the series speaks for it.
    if (place && (place.stated.length > 0 || !places.has(place.key))) places.set(place.key, place)
  }
  const keys = [...places.keys()].sort()
  if (keys.length === 0) return { ids: new Map(), made: [], changed: [] }
  const known = await idsOf(tx, library.id, keys)
  const missing = keys.filter(key => !known.has(key))
  const made: string[] = []
  if (missing.length > 0) {
    const rows = missing.map(key => places.get(key)!)
    for (const row of await make(tx, library.id, rows)) {
      known.set(row.key, row.id)
      made.push(row.id)
    }
    // A series that another batch made meanwhile: a new statement sees it.
    const raced = missing.filter(key => !known.has(key))
    if (raced.length > 0)
      for (const [key, id] of await idsOf(tx, library.id, raced)) known.set(key, id)
  }
  const series = keys.map(key => ({ id: known.get(key)!, place: places.get(key)! }))
  const stated = await storeStated(
    tx,
    series.filter(s => s.place.stated.length > 0),
  )
  const identified = await storeExternalIds(tx, series)
  const changed = new Set([...renamed, ...stated, ...identified])
  for (const id of made) changed.delete(id)
  return { ids: known, made, changed: [...changed] }
}

async function idsOf(tx: TransactionSql, libraryId: string, keys: string[]) {
  const byDigest = new Map(keys.map(key => [hash('md5', key), key]))
  const rows = await tx<{ id: string; digest: string }[]>`
    select id, md5(key) as digest from series
    where library_id = ${libraryId} and md5(key) = any(${[...byDigest.keys()]})`
  return new Map(rows.map(row => [byDigest.get(row.digest)!, row.id]))
}

function make(tx: TransactionSql, libraryId: string, places: SeriesPlace[]) {
  const rows = places.map(place => ({
    id: newId(),
    ...place,
    nameKey: sortKey(place.name),
    externalIds: undefined,
  }))
  return tx<{ id: string; key: string }[]>`
    insert into series (id, library_id, key, name, name_key, folder, one_shot, title, sort_key, search_key,
      publisher, year, summary, status, language, age_rating, reading_direction)
    select id, ${libraryId}, key, name, "nameKey", folder, "oneShot", title, "sortKey", "searchKey",
      publisher, year, summary, coalesce(status, 'ongoing'), language, "ageRating", "readingDirection"
    from jsonb_to_recordset(${tx.json(rows as never)}) as s(id uuid, key text, name text,
      "nameKey" text, folder text, "oneShot" boolean, title text, "sortKey" text, "searchKey" text, publisher text, year integer,
      summary text, status text, language text, "ageRating" integer, "readingDirection" text)
    order by key
    on conflict (library_id, md5(key)) do nothing
    returning id, key`
}

const statable = ['publisher', 'year', 'summary', 'status', 'age_rating']

/**
 * What series.json states goes to the series, also when it was made without it: unless locked or set
 * by a user. What the books say of their series, the end of the scan counts (settle.ts).
 */
async function storeStated(tx: TransactionSql, series: { id: string; place: SeriesPlace }[]) {
  if (series.length === 0) return []
  const rows = series.map(({ id, place }) => ({
    id,
    stated: place.stated,
    publisher: place.publisher,
    year: place.year,
    summary: place.summary,
    status: place.status,
    age_rating: place.ageRating,
  }))
  const differs = statable
    .map(
      c => tx`(${c} = any(f.stated)
      and (s.${tx(c)} is distinct from f.${tx(c)} or s.provenance->>${c} is distinct from 'series_json'))`,
    )
    .reduce((all, one) => tx`${all} or ${one}`)
  const columns = statable
    .map(c => tx`${tx(c)} = case when ${c} = any(f.stated) then f.${tx(c)} else s.${tx(c)} end`)
    .reduce((all, one) => tx`${all}, ${one}`)
  const changed = await tx<{ id: string }[]>`
    with free as (
      select f.id, f.publisher, f.year, f.summary, f.status, f.age_rating, may.stated
      from jsonb_to_recordset(${tx.json(rows)}) as f(id uuid, stated text[], publisher text,
        year integer, summary text, status text, age_rating integer)
      join series s on s.id = f.id
      cross join lateral (
        select array_agg(c) as stated from unnest(f.stated) as c
        where not c = any(s.locks) and s.provenance->>c is distinct from 'user'
      ) may
    ), f as (
      select f.* from free f join series s on s.id = f.id where ${differs}
      order by s.id for no key update of s
    )
    update series s
    set ${columns}, updated_at = now(),
      provenance = s.provenance
        || (select jsonb_object_agg(c, 'series_json') from unnest(f.stated) as c)
    from f
    where s.id = f.id
    returning s.id`
  return changed.map(row => row.id)
}

async function storeExternalIds(tx: TransactionSql, series: { id: string; place: SeriesPlace }[]) {
  const rows = series.flatMap(({ id, place }) => place.externalIds.map(e => ({ id, ...e })))
  if (rows.length === 0) return []
  const changed = await tx<{ id: string }[]>`
    insert into series_external_id as x (series_id, source, external_id, url)
    select distinct on (e.id, source) e.id, source, "externalId", url
    from jsonb_to_recordset(${tx.json(rows as never)})
      as e(id uuid, source text, "externalId" text, url text)
    join series s on s.id = e.id
    where not 'external_ids' = any(s.locks)
      and s.provenance->>'external_ids' is distinct from 'user'
    order by e.id, source
    on conflict (series_id, source) do update
    set external_id = excluded.external_id, url = excluded.url
    where (x.external_id, x.url) is distinct from (excluded.external_id, excluded.url)
    returning x.series_id as id`
  return changed.map(row => row.id)
}

type Old = { id: string; key: string; folder: string | null; oneShot: boolean; others: boolean }
type Renamed = { id: string; place: SeriesPlace }

/**
 * A moved book whose old series' folder is gone takes its series along, and so does a series that is
 * one renamed file: the id and what users set on it stay. Answers the ids of those that followed.
 */
async function followRenames(tx: TransactionSql, library: Library, matches: Match[]) {
  const wanted = new Map<string, SeriesPlace>()
  const moved: string[] = []
  for (const m of matches) {
    const place = m.reading.series
    if (m.outcome !== 'moved' || !m.before || !place || m.before.libraryId !== library.id) continue
    if (!wanted.has(m.before.seriesId)) wanted.set(m.before.seriesId, place)
    moved.push(m.bookId)
  }
  if (wanted.size === 0) return []
  const old = await tx<Old[]>`
    select id, key, folder, one_shot as "oneShot", exists (
        select from book b
        where b.series_id = s.id and b.missing_at is null and not b.id = any(${moved})) as others
    from series s where id = any(${[...wanted.keys()]}) order by id for no key update`
  const renames = new Map<string, Renamed>()
  for (const series of old) {
    const place = wanted.get(series.id)!
    if (follows(library, series, place) && !renames.has(place.key))
      renames.set(place.key, { id: series.id, place })
  }
  const displaced = matches.flatMap(m => m.displaced?.id ?? [])
  if (renames.size === 0) return []
  return await rename(tx, library.id, { renames, left: [...moved, ...displaced] })
}

function follows({ root }: Library, old: Old, place: SeriesPlace) {
  if (old.key === place.key) return false
  if (old.oneShot || place.oneShot) return old.oneShot && place.oneShot && !old.others
  if (place.folder === null || old.folder === null || old.folder === place.folder) return false
  return !isThere(root, old.folder)
}

/** The folder was decoded for people: as UTF-8, or byte by byte where it is none. */
function isThere(root: Uint8Array, folder: string) {
  return (['utf8', 'latin1'] as const).some(encoding => {
    try {
      const path = joinPath(root, Buffer.from(folder, encoding))
      return lstatSync(path, { throwIfNoEntry: false }) !== undefined
    } catch {
      return true
    }
  })
}

/**
 * `renames` by their new keys. One whose key another series keeps stays as it is; a one-shot whose
 * books all left keeps nothing, and waits under no key for where they turn up.
 */
async function rename(
  tx: TransactionSql,
  libraryId: string,
  { renames, left }: { renames: Map<string, Renamed>; left: string[] },
) {
  const digests = [...renames.keys()].map(key => hash('md5', key))
  const holders = await tx<{ id: string; key: string; vacated: boolean }[]>`
    select id, key, one_shot and not exists (
        select from book b
        where b.series_id = s.id and b.missing_at is null and not b.id = any(${left})) as vacated
    from series s
    where library_id = ${libraryId} and md5(key) = any(${digests})`
  for (let before = -1; before !== renames.size; ) {
    before = renames.size
    const leaving = new Set([...renames.values()].map(series => series.id))
    for (const h of holders) if (!h.vacated && !leaving.has(h.id)) renames.delete(h.key)
  }
  const rows = [...renames.values()].map(({ id, place }) => ({
    id,
    ...place,
    nameKey: sortKey(place.name),
  }))
  if (rows.length === 0) return []
  // Series may change places: all leave before any arrives.
  const vacated = holders.filter(h => h.vacated && renames.has(h.key))
  await tx`
    update series set key = 'left:' || id
    where id = any(${[...rows, ...vacated].map(series => series.id)})`
  await tx`
    update series s
    set key = r.key, name = r.name, name_key = r."nameKey", folder = r.folder, updated_at = now(),
      title = case when ${keepsTitle(tx)} then s.title else r.title end,
      sort_key = case when ${keepsTitle(tx)} then s.sort_key else r."sortKey" end,
      search_key = case when ${keepsTitle(tx)} then s.search_key else r."searchKey" end
    from jsonb_to_recordset(${tx.json(rows as never)}) as r(id uuid, key text, name text,
      "nameKey" text, folder text, title text, "sortKey" text, "searchKey" text)
    where s.id = r.id`
  return rows.map(row => row.id)
}

/** A title that a user set or locked, or that the files themselves gave, does not follow the folder. */
function keepsTitle(tx: TransactionSql) {
  return tx`('title' = any(s.locks) or s.provenance ? 'title')`
}
