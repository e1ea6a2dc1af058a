// What users change of series. All that a user sets is locked, because no scan may undo it.
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { sortKey } from '../../name/natural.ts'
import { searchKey } from '../../name/normalise.ts'
import { writeSeriesSearch } from '../search/search-rows.ts'
import { changedColumns, fieldsOf, tellChange } from './change-events.ts'
import { seriesFlags, wishesOf, withLocks } from './lock-names.ts'
import { lockOf, seriesFields } from './metadata-fields.ts'
import { type Custom, checkCustom, mergeCustom } from './metadata-values.ts'

export type HeldSeries = {
  id: string
  libraryId: string
  title: string
  titleSort: string | null
  customMetadata: Custom | null
  genres: string[]
  tags: string[]
  locks: string[]
  provenance: Record<string, string>
}

/** The row, kept from others until the transaction ends. Throws NotFound, also for a hidden one. */
export async function holdSeries(
  tx: TransactionSql,
  viewer: Viewer,
  id: string,
): Promise<HeldSeries> {
  const [series] = await tx<HeldSeries[]>`
    select s.id, s.library_id as "libraryId", s.title, s.title_sort as "titleSort", s.custom_metadata as "customMetadata",
      s.genres, s.tags, s.locks, s.provenance
    from series s
    where s.id = ${id} and ${seesSeries(tx, viewer)}
    for no key update of s`
  if (!series) throw new NotFound('Series not found')
  return series
}

/** Locks and sources of a row after a user set the fields with these lock names. */
export function claimed(
  { locks, provenance }: Pick<HeldSeries, 'locks' | 'provenance'>,
  names: readonly string[],
) {
  return {
    locks: withLocks(
      locks,
      names.map(name => [name, true]),
    ),
    provenance: {
      ...provenance,
      ...Object.fromEntries(names.map(name => [name.split('.', 1)[0]!, 'user'])),
    } as Record<string, string>,
  }
}

/** Stores fields (see changesOf), locks them, makes sorting and searching follow, and tells. */
export async function changeSeries(
  tx: TransactionSql,
  series: HeldSeries,
  changes: ReadonlyMap<string, unknown>,
): Promise<void> {
  if (changes.size === 0) return
  const fields = [...changes].map(
    ([name, value]) => [seriesFields[name as keyof typeof seriesFields], value] as const,
  )
  const columns: Record<string, unknown> = {}
  for (const [field, value] of fields) {
    const stored = value ?? ('empty' in field ? field.empty : null)
    columns[field.column!] = field.json && stored !== null ? tx.json(stored as never) : stored
  }
  const title = (changes.get('title') as string | undefined) ?? series.title
  const titleSort = changes.has('titleSort')
    ? (changes.get('titleSort') as string | null)
    : series.titleSort
  const { locks, provenance } = claimed(
    series,
    fields.map(([field]) => lockOf(field)),
  )
  const [row] = await tx<{ changed: string[] }[]>`
    update series s
    set ${tx(columns)}, sort_key = ${sortKey(titleSort ?? title)},
      search_key = ${searchKey(title)}, locks = ${locks}, provenance = ${tx.json(provenance)},
      updated_at = now()
    from series old
    where s.id = ${series.id} and old.id = s.id
    returning ${changedColumns(tx, 's', 'old')} as changed`
  await writeSeriesSearch(tx, [series.id])
  await tellChange(tx, series, fieldsOf(row!.changed))
}

/** `changes` with custom metadata merged into that of the row. Throws Invalid when it grows too large. */
export function mergingCustom(
  before: Custom | null,
  changes: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, unknown> {
  const patch = changes.get('customMetadata') as Custom | null | undefined
  if (!patch) return changes
  return new Map([...changes, ['customMetadata', checkCustom(mergeCustom(before, patch))]])
}

/**
 * Sets and takes off locks by their flags; answers all locks. What is taken off is no longer held for
 * the user's: scans may change it again.
 */
export async function lockSeries(
  tx: TransactionSql,
  series: HeldSeries,
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<string[]> {
  const wishes = wishesOf(seriesFlags, flags)
  const locks = withLocks(series.locks, wishes)
  const provenance = { ...series.provenance }
  for (const [name, wanted] of wishes)
    if (!wanted && provenance[name] === 'user') delete provenance[name]
  await tx`
    update series set locks = ${locks}, provenance = ${tx.json(provenance)}, updated_at = now()
    where id = ${series.id}`
  await tellChange(tx, series, isDeepStrictEqual(locks, series.locks) ? [] : ['locks'])
  return locks
}

/** Keeps scans from changing the external ids of a series after a user did. */
export async function claimExternalIds(tx: TransactionSql, { id }: { id: string }): Promise<void> {
  await tx`
    update series set provenance = provenance || '{"external_ids": "user"}', updated_at = now()
    where id = ${id}`
}
