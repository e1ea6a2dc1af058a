// Assignment of genres and tags to series and books by users.
import { type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import { publish, seriesEvents } from '../../store/event/publish.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { lockBookRows } from '../metadata/book-metadata.ts'
import { changeEvents, eventFields } from '../metadata/change-events.ts'
import { type RowValues, updateRows } from '../metadata/columns.ts'
import { withUserLocks } from '../metadata/field-locks.ts'
import { lockSeriesRows } from '../metadata/series-metadata.ts'
import { type BookOrSeries, type Owner, ownerNotFound } from '../owner.ts'
import { type Label, type LabelKind, labelKey, loadLabels, registerLabels } from './label.ts'

// Per kind and owner.
const maxLabels = 500

/** Labels of a series or book, by name. Throws NotFound. */
export async function labelsOfOwner(
  sql: Queryable,
  viewer: Viewer,
  { owner, kind }: { owner: Owner; kind: LabelKind },
): Promise<Label[]> {
  const column = sql(`${kind}s`)
  const [row] =
    owner.kind === 'series'
      ? await sql<OwnLabels[]>`
          select s.${column} as names, s.created_at as "createdAt" from series s
          where s.id = ${owner.id} and ${visibleSeries(sql, viewer)}`
      : await sql<OwnLabels[]>`
          select b.${column} as names, b.created_at as "createdAt" from book b join series s on s.id = b.series_id
          where b.id = ${owner.id} and ${visibleBook(sql, viewer)}`
  if (!row) throw ownerNotFound(owner.kind)
  const labeled = { genres: [], tags: [], [`${kind}s`]: row.names, createdAt: row.createdAt }
  const labels = await loadLabels(sql, viewer, [labeled])
  return labels(labeled, kind)
}

type OwnLabels = { names: string[]; createdAt: Label['createdAt'] }

export type LabelUpdate = {
  kind: LabelKind
  /** Computes the new names from the current ones; may throw. */
  names: (current: string[]) => string[]
}

/**
 * Replaces the genres or tags of a series or book, locks them and publishes the changes. Throws
 * NotFound, Invalid.
 */
export async function updateLabels(
  tx: Transaction,
  viewer: Viewer,
  { owner, ...update }: LabelUpdate & { owner: Owner },
): Promise<void> {
  const { kind: of, id } = owner
  const updated = await updateLabelsOfMany(tx, viewer, { ...update, of, ids: [id] })
  if (updated === 0) throw ownerNotFound(owner.kind)
}

/** Like `updateLabels`, for all visible ones of several series or books. Returns their number. Throws Invalid. */
export async function updateLabelsOfMany(
  tx: Transaction,
  viewer: Viewer,
  { of, ids, kind, names }: LabelUpdate & { of: Owner['kind']; ids: readonly string[] },
): Promise<number> {
  const column = `${kind}s` as const
  const owners: LabeledOwner[] =
    of === 'series' ? await lockSeriesRows(tx, viewer, ids) : await lockBookRows(tx, viewer, ids)
  const rows = owners.map(owner => {
    const requested = names(owner[column])
    if (requested.length > maxLabels)
      throw new Invalid(`The limit is ${maxLabels} ${column}`, { limit: maxLabels })
    const row: RowValues = { id: owner.id, ...withUserLocks(owner, [column]) }
    return { ...row, [column]: requested }
  })
  const requestedNames = rows.flatMap(row => row[column] as string[])
  await registerLabels(tx, kind, requestedNames)
  const changed = await updateRows(tx, of, {
    columns: { [column]: 'text[]', locks: 'text[]', provenance: 'jsonb' },
    rows,
  })
  const series = new Map(
    owners.map(({ id, seriesId = id, libraryId }) => [seriesId, { id: seriesId, libraryId }]),
  )
  const relabeled = await refreshEdited(tx, {
    seriesIds: [...series.keys()],
    ...(of === 'book' ? { bookIds: owners.map(({ id }) => id) } : {}),
    columns: [column],
  })
  await publish(tx, [
    ...changeEvents(owners, ({ id }) => eventFields(changed.get(id) ?? [])),
    ...seriesEvents(
      'series_updated',
      of === 'book' ? relabeled.flatMap(id => series.get(id) ?? []) : [],
      { fields: [column] },
    ),
  ])
  return owners.length
}

type LabeledOwner = BookOrSeries & {
  genres: string[]
  tags: string[]
  locks: string[]
  provenance: Record<string, string>
}

/** Returns a function that removes a label from names, or throws NotFound when they do not contain it. */
export async function labelRemover(tx: Transaction, kind: LabelKind, id: string) {
  const [label] = await tx<{ key: string }[]>`
    select key from label where id = ${id} and kind = ${kind}`
  return (names: string[]): string[] => {
    const rest = names.filter(name => labelKey(name) !== label?.key)
    if (rest.length === names.length)
      throw new NotFound(kind === 'genre' ? 'Genre not found' : 'Tag not found')
    return rest
  }
}
