// Edits of series metadata by users. Every field a user sets is locked, so that scans do not overwrite it.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../../accounts/viewer.ts'
import { mergeJson } from '../../base/json/json-text.ts'
import type { SqlType } from '../../media/metadata/field.ts'
import { seriesFields } from '../../media/metadata/series-fields.ts'
import { limitedCustomMetadata } from '../../media/metadata/user-input.ts'
import type { AlternateTitle } from '../../media/metadata/values.ts'
import { sortKey } from '../../media/name/natural.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { found } from '../owner.ts'
import { fromSeriesForUpdate } from '../row-locks.ts'
import { identifiedTitles, type StoredTitle } from './alternate-titles.ts'
import { eventFields, publishChanges } from './change-events.ts'
import { editedColumns, updateRows } from './columns.ts'
import type { Changes } from './edits.ts'
import { applyLocks, lockChanges, seriesLockFlags, withUserLocks } from './field-locks.ts'

export type SeriesForUpdate = {
  id: string
  libraryId: string
  title: string
  titleSort: string | null
  alternateTitles: StoredTitle[]
  /** JSON. */
  customMetadata: string | null
  genres: string[]
  tags: string[]
  locks: string[]
  provenance: Record<string, string>
}

/** Locks the rows of series until the transaction ends; hidden and unknown ones are left out. */
export async function lockSeriesRows(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  const series = await tx<SeriesForUpdate[]>`
    select s.id, s.library_id as "libraryId", s.title, s.title_sort as "titleSort",
      s.alternate_titles as "alternateTitles", s.custom_metadata as "customMetadata", s.genres,
      s.tags, s.locks, s.provenance
    ${fromSeriesForUpdate(tx, viewer, ids)}`
  return [...series]
}

/** Like `lockSeriesRows`, for one. Throws NotFound. */
export async function lockSeriesRow(tx: Transaction, viewer: Viewer, id: string) {
  return found('series', (await lockSeriesRows(tx, viewer, [id]))[0])
}

/**
 * Stores changes (see parseChanges) of series, the same fields for all of them; locks these fields,
 * refreshes derived state and publishes.
 */
export async function updateSeriesMetadata(
  tx: Transaction,
  series: readonly SeriesForUpdate[],
  changesOf: (series: SeriesForUpdate) => Changes,
): Promise<void> {
  const edits = series.map(one => ({ one, changes: changesOf(one) }))
  const names = [...(edits[0]?.changes.keys() ?? [])] as (keyof typeof seriesFields)[]
  if (names.length === 0) return
  const fields = names.map(name => seriesFields[name])
  const types = fields.map(({ column, sqlType }) => [column, sqlType as SqlType])
  const lockNames = fields.map(field => field.lock)
  const rows = edits.map(({ one, changes }) => ({
    ...rowOf(one, changes),
    ...withUserLocks(one, lockNames),
  }))
  const columns = { ...editedColumns, ...Object.fromEntries(types) }
  const changed = await updateRows(tx, 'series', { columns, rows })
  await refreshEdited(tx, {
    seriesIds: [...changed.keys()],
    columns: [...new Set([...changed.values()].flat())],
  })
  await publishChanges(tx, series, ({ id }) => eventFields(changed.get(id) ?? []))
}

/** Values of the changed columns and of the columns derived from titles. */
function rowOf({ id, ...series }: SeriesForUpdate, changes: Changes) {
  const { title, titleSort } = { ...series, ...Object.fromEntries(changes) } as SeriesForUpdate
  const values = [...changes].map(([name, value]) => {
    const { column, empty } = seriesFields[name as keyof typeof seriesFields]
    return [
      column,
      name === 'alternateTitles' && value !== null
        ? identifiedTitles(series.alternateTitles, value as AlternateTitle[])
        : (value ?? empty),
    ]
  })
  return {
    id,
    ...Object.fromEntries(values),
    sort_key: sortKey(titleSort ?? title),
    search_key: searchKey(title),
  }
}

/** Changes with custom metadata merged into the current value. Throws Invalid when it becomes too large. */
export function withMergedCustomMetadata(current: string | null, changes: Changes): Changes {
  const patch = changes.get('customMetadata') as string | null | undefined
  if (!patch) return changes
  const merged = limitedCustomMetadata(mergeJson(current, patch))
  return new Map([...changes, ['customMetadata', merged]])
}

/**
 * Sets and clears locks by their flags. Returns all locks by series. An unlocked field no longer counts as
 * set by a user, so that scans change it again.
 */
export async function setSeriesLocks(
  tx: Transaction,
  series: readonly SeriesForUpdate[],
  flags: Readonly<Record<string, boolean | undefined>>,
): Promise<Map<string, string[]>> {
  const edits = series.map(one => {
    const changes = lockChanges(seriesLockFlags, flags, one.locks)
    const unlocked = [...changes].flatMap(([name, isLocked]) => (isLocked ? [] : [name]))
    const provenance = Object.fromEntries(
      Object.entries(one.provenance).filter(
        ([name, source]) => source !== 'user' || !unlocked.includes(name),
      ),
    )
    const locks = applyLocks(one.locks, changes)
    return { ...one, unlocked, before: one.locks, locks, provenance }
  })
  await updateRows(tx, 'series', {
    columns: { locks: 'text[]', provenance: 'jsonb' },
    rows: edits.map(({ id, locks, provenance }) => ({ id, locks, provenance })),
  })
  // The labels of a series follow its books' labels unless they are locked.
  const relabeled = await refreshEdited(tx, {
    seriesIds: edits.map(({ id }) => id),
    columns: [...new Set(edits.flatMap(({ unlocked }) => unlocked))],
  })
  await publishChanges(tx, edits, ({ id, before, locks, unlocked }) => [
    ...(isDeepStrictEqual(locks, before) ? [] : ['locks']),
    ...(relabeled.includes(id)
      ? unlocked.filter(name => name === 'genres' || name === 'tags')
      : []),
  ])
  return new Map(edits.map(({ id, locks }) => [id, locks]))
}

/** Prevents scans and sources from changing the external ids, links or ratings of a series after a user did. */
export async function markUserSet(tx: Transaction, { id }: { id: string }, field: string) {
  await tx`
    update series set provenance = provenance || ${tx.json({ [field]: 'user' })}, updated_at = now()
    where id = ${id}`
}
