// Edits of series metadata by users. Every field a user sets is locked, so that scans do not overwrite it.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../../auth/viewer.ts'
import { seriesFields } from '../../metadata/series-fields.ts'
import { checkCustomMetadata, mergeCustomMetadata } from '../../metadata/user-input.ts'
import type { CustomMetadata } from '../../metadata/values.ts'
import { sortKey } from '../../name/natural.ts'
import { searchKey } from '../../name/text.ts'
import type { Transaction } from '../../postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { fromSeriesForUpdate } from '../locks.ts'
import { ownerNotFound } from '../owner.ts'
import { changedColumns, eventFields, publishChange } from './change-events.ts'
import { columnValue } from './columns.ts'
import type { Changes } from './edits.ts'
import { applyLocks, lockChanges, seriesLockFlags, withUserLocks } from './field-locks.ts'

export type SeriesForUpdate = {
  id: string
  libraryId: string
  title: string
  titleSort: string | null
  customMetadata: CustomMetadata | null
  genres: string[]
  tags: string[]
  locks: string[]
  provenance: Record<string, string>
}

/** Locks the row of a series until the transaction ends. Throws NotFound, also for a hidden series. */
export async function lockSeriesRow(
  tx: Transaction,
  viewer: Viewer,
  id: string,
): Promise<SeriesForUpdate> {
  const [series] = await tx<SeriesForUpdate[]>`
    select s.id, s.library_id as "libraryId", s.title, s.title_sort as "titleSort",
      s.custom_metadata as "customMetadata", s.genres, s.tags, s.locks, s.provenance
    ${fromSeriesForUpdate(tx, viewer, id)}`
  if (!series) throw ownerNotFound('series')
  return series
}

/** Stores changes (see parseChanges), locks their fields, refreshes derived state and publishes. */
export async function updateSeriesMetadata(
  tx: Transaction,
  series: SeriesForUpdate,
  changes: Changes,
): Promise<void> {
  if (changes.size === 0) return
  const entries = [...changes].map(
    ([name, value]) => [seriesFields[name as keyof typeof seriesFields], value] as const,
  )
  const columns = Object.fromEntries(
    entries.map(([field, value]) => [field.column, columnValue(tx, field, value ?? field.empty)]),
  )
  const title = (changes.get('title') as string | undefined) ?? series.title
  const titleSort = changes.has('titleSort')
    ? (changes.get('titleSort') as string | null)
    : series.titleSort
  const { locks, provenance } = withUserLocks(
    series,
    entries.map(([field]) => field.lock),
  )
  const [row] = await tx<{ changed: string[] }[]>`
    update series s
    set ${tx(columns)}, sort_key = ${sortKey(titleSort ?? title)},
      search_key = ${searchKey(title)}, locks = ${locks}, provenance = ${tx.json(provenance)},
      updated_at = now()
    from series old
    where s.id = ${series.id} and old.id = s.id
    returning ${changedColumns(tx, 's', 'old')} as changed`
  const { changed } = row!
  await refreshEdited(tx, { seriesIds: [series.id], columns: changed })
  await publishChange(tx, series, eventFields(changed))
}

/** Changes with custom metadata merged into the current one. Throws Invalid when it becomes too large. */
export function withMergedCustomMetadata(
  current: CustomMetadata | null,
  changes: Changes,
): Changes {
  const patch = changes.get('customMetadata') as CustomMetadata | null | undefined
  if (!patch) return changes
  const merged = checkCustomMetadata(mergeCustomMetadata(current, patch))
  return new Map([...changes, ['customMetadata', merged]])
}

/**
 * Sets and clears locks by their flags. Returns all locks. An unlocked field no longer counts as set by a
 * user, so that scans change it again.
 */
export async function setSeriesLocks(
  tx: Transaction,
  series: SeriesForUpdate,
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<string[]> {
  const changes = lockChanges(seriesLockFlags, flags, series.locks)
  const locks = applyLocks(series.locks, changes)
  const provenance = { ...series.provenance }
  for (const [name, isLocked] of changes)
    if (!isLocked && provenance[name] === 'user') delete provenance[name]
  await tx`
    update series set locks = ${locks}, provenance = ${tx.json(provenance)}, updated_at = now()
    where id = ${series.id}`
  // The labels of a series follow those of its books, unless they are locked.
  const unlocked = [...changes].flatMap(([name, isLocked]) => (isLocked ? [] : [name]))
  const relabelled = await refreshEdited(tx, { seriesIds: [series.id], columns: unlocked })
  const fields =
    relabelled.length > 0 ? unlocked.filter(name => name === 'genres' || name === 'tags') : []
  await publishChange(tx, series, [
    ...(isDeepStrictEqual(locks, series.locks) ? [] : ['locks']),
    ...fields,
  ])
  return locks
}

/** Prevents scans from changing the external ids of a series after a user did. */
export async function markExternalIdsUserSet(
  tx: Transaction,
  { id }: { id: string },
): Promise<void> {
  await tx`
    update series set provenance = provenance || '{"external_ids": "user"}', updated_at = now()
    where id = ${id}`
}
