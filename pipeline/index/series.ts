// Series of a batch: finds or creates the series of its books, and writes what series.json states.
import { hash } from 'node:crypto'
import { newId } from '../../lib/base/id.ts'
import { storeEmbeddedIds } from '../../lib/catalog/metadata/external-reference.ts'
import type { Field } from '../../lib/media/metadata/field.ts'
import { scannedSeriesFields, seriesJsonFields } from '../../lib/media/metadata/series-fields.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import { anyOf, commaList } from '../../lib/store/postgres/statement.ts'
import type { Match } from './match.ts'
import type { SeriesDraft } from './reading.ts'
import { renameSeries } from './series-rename.ts'

type Library = { id: string; root: Uint8Array }
type DraftedSeries = { id: string; draft: SeriesDraft }

export type BatchSeries = {
  /** Ids by key. */
  ids: Map<string, string>
  created: string[]
  /** Existing series that were renamed, or changed by a series.json. */
  changed: string[]
}

/** Returns a series for each key of the batch. Two statements for a batch of any size. */
export async function findOrCreateSeries(
  tx: Transaction,
  library: Library,
  matches: Match[],
): Promise<BatchSeries> {
  const renamed = await renameSeries(tx, library, matches)
  const drafts = draftsByKey(matches)
  const keys = [...drafts.keys()].sort()
  if (keys.length === 0) return { ids: new Map(), created: [], changed: [] }
  const ids = await findIds(tx, library.id, keys)
  const missing = keys.filter(key => !ids.has(key))
  const created: string[] = []
  if (missing.length > 0) {
    const newDrafts = missing.map(key => drafts.get(key)!)
    for (const row of await insertSeries(tx, library.id, newDrafts)) {
      ids.set(row.key, row.id)
      created.push(row.id)
    }
    // Series that another batch created concurrently are visible to a new statement.
    const concurrent = missing.filter(key => !ids.has(key))
    if (concurrent.length > 0)
      for (const [key, id] of await findIds(tx, library.id, concurrent)) ids.set(key, id)
  }
  const series = keys.map(key => ({ id: ids.get(key)!, draft: drafts.get(key)! }))
  const stating = series.filter(({ draft }) => draft.statedColumns.length > 0)
  const stated = await storeStated(tx, stating)
  const idRows = series.flatMap(({ id: seriesId, draft }) =>
    draft.externalIds.map(row => ({ seriesId, ...row })),
  )
  const identified = await storeEmbeddedIds(tx, idRows)
  const changed = new Set([...renamed, ...stated, ...identified])
  for (const id of created) changed.delete(id)
  return { ids, created, changed: [...changed] }
}

/** One draft per key, preferably one with columns from a series.json. */
function draftsByKey(matches: Match[]): Map<string, SeriesDraft> {
  const drafts = new Map<string, SeriesDraft>()
  for (const { reading } of matches) {
    const draft = reading.series
    if (draft && (draft.statedColumns.length > 0 || !drafts.has(draft.key)))
      drafts.set(draft.key, draft)
  }
  return drafts
}

/** The ids of the existing series of these keys. */
export async function findIds(tx: Transaction, libraryId: string, keys: readonly string[]) {
  if (keys.length === 0) return new Map<string, string>()
  const keysByDigest = new Map(keys.map(key => [hash('md5', key), key]))
  const rows = await tx<{ id: string; digest: string }[]>`
    select id, md5(key) as digest from series
    where library_id = ${libraryId} and md5(key) = any(${[...keysByDigest.keys()]})`
  return new Map(rows.map(row => [keysByDigest.get(row.digest)!, row.id]))
}

function insertSeries(tx: Transaction, libraryId: string, drafts: SeriesDraft[]) {
  const rows = drafts.map(({ columns, statedColumns, externalIds, ...draft }) => ({
    id: newId(),
    ...draft,
    ...columns,
    nameKey: sortKey(draft.name),
  }))
  const names = tx.unsafe(namesOf(scannedSeriesFields))
  return tx<{ id: string; key: string }[]>`
    insert into series (id, library_id, key, name, name_key, folder, one_shot, title, sort_key,
      search_key, ${names})
    select id, ${libraryId}, key, name, "nameKey", folder, "oneShot", title, "sortKey", "searchKey",
      ${names}
    from jsonb_to_recordset(${tx.json(rows as never)}) as s(id uuid, key text, name text,
      "nameKey" text, folder text, "oneShot" boolean, title text, "sortKey" text, "searchKey" text,
      ${tx.unsafe(typesOf(scannedSeriesFields))})
    order by key
    on conflict (library_id, md5(key)) do nothing
    returning id, key`
}

const namesOf = (fields: readonly Field[]) => fields.map(({ column }) => column).join(', ')
const typesOf = (fields: readonly Field[]) =>
  fields.map(({ column, sqlType }) => `${column} ${sqlType}`).join(', ')

const statableColumns = seriesJsonFields.map(({ column }) => column)

/**
 * Writes the columns that series.json states, unless locked, or set by a user or a metadata source. Values
 * that follow from the books are written at the end of the scan (pipeline/finalize/series.ts). Returns the
 * changed series.
 */
async function storeStated(tx: Transaction, series: DraftedSeries[]): Promise<string[]> {
  if (series.length === 0) return []
  const rows = series.map(({ id, draft: { title, sortKey, searchKey, ...draft } }) => ({
    ...{ id, stated: draft.statedColumns, title, sortKey, searchKey },
    ...draft.columns,
  }))
  const differs = anyOf(
    tx,
    statableColumns.map(
      c => tx`(${c} = any(f.stated)
      and (s.${tx(c)} is distinct from f.${tx(c)} or s.provenance->>${c} is distinct from 'series_json'))`,
    ),
  )
  const assignments = commaList(
    tx,
    statableColumns.map(
      c => tx`${tx(c)} = case when ${c} = any(f.stated) then f.${tx(c)} else s.${tx(c)} end`,
    ),
  )
  const changed = await tx<{ id: string }[]>`
    with free as (
      select f.id, ${commaList(
        tx,
        statableColumns.map(c => tx`f.${tx(c)}`),
      )}, f."sortKey", f."searchKey", may.stated
      from jsonb_to_recordset(${tx.json(rows as never)}) as f(id uuid, stated text[], "sortKey" text,
        "searchKey" text, ${tx.unsafe(typesOf(seriesJsonFields))})
      join series s on s.id = f.id
      cross join lateral (
        select array_agg(c) as stated from unnest(f.stated) as c
        where not c = any(s.locks) and coalesce(s.provenance->>c, 'embedded') in ('embedded', 'series_json')
      ) may
    ), f as (
      select f.* from free f join series s on s.id = f.id where ${differs}
      order by s.id for no key update of s
    )
    update series s
    set ${assignments}, updated_at = now(),
      sort_key = case when 'title' = any(f.stated) and s.title_sort is null then f."sortKey" else s.sort_key end,
      search_key = case when 'title' = any(f.stated) then f."searchKey" else s.search_key end,
      provenance = s.provenance
        || (select jsonb_object_agg(c, 'series_json') from unnest(f.stated) as c)
    from f
    where s.id = f.id
    returning s.id`
  return changed.map(row => row.id)
}
