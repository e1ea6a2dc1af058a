// Assignment of genres and tags to series and books by users.
import { isDeepStrictEqual } from 'node:util'
import { type Viewer, visibleBook, visibleSeries } from '../../auth/viewer.ts'
import { Invalid, NotFound } from '../../errors.ts'
import { publish, seriesEvents } from '../../event/publish.ts'
import type { Queryable, Transaction } from '../../postgres/db.ts'
import { refreshEdited } from '../derived/refresh.ts'
import { fromBookForUpdate } from '../locks.ts'
import { changeEvents } from '../metadata/change-events.ts'
import { withUserLocks } from '../metadata/field-locks.ts'
import { lockSeriesRow } from '../metadata/series-metadata.ts'
import { type Owner, ownerNotFound } from '../owner.ts'
import { type Label, type LabelKind, labelKey, loadLabels, registerLabels } from './label.ts'

// Of one kind, per owner.
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
  const labelled = { genres: [], tags: [], [`${kind}s`]: row.names, createdAt: row.createdAt }
  const labels = await loadLabels(sql, viewer, [labelled])
  return labels(labelled, kind)
}

type OwnLabels = { names: string[]; createdAt: Label['createdAt'] }

export type LabelUpdate = {
  owner: Owner
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
  { owner, kind, names }: LabelUpdate,
): Promise<void> {
  const column = `${kind}s`
  const row =
    owner.kind === 'series'
      ? await lockSeriesLabels(tx, viewer, { id: owner.id, column })
      : await lockBookLabels(tx, viewer, { id: owner.id, column })
  const requested = names(row.names)
  if (requested.length > maxLabels) throw new Invalid(`At most ${maxLabels} ${column} are allowed`)
  await registerLabels(tx, kind, requested)
  const { locks, provenance } = withUserLocks(row, [column])
  await tx`
    update ${tx(owner.kind)}
    set ${tx(column)} = ${requested}, locks = ${locks}, provenance = ${tx.json(provenance)},
      updated_at = now()
    where id = ${owner.id}`
  const relabelled = await refreshEdited(tx, {
    seriesIds: [row.seriesId],
    ...(owner.kind === 'book' ? { bookIds: [owner.id] } : {}),
    columns: [column],
  })
  const { libraryId } = row
  const fields = [
    ...(isDeepStrictEqual(requested, row.names) ? [] : [column]),
    ...(isDeepStrictEqual(locks, row.locks) ? [] : ['locks']),
  ].sort()
  const series = owner.kind === 'book' ? relabelled.map(id => ({ id, libraryId })) : []
  await publish(tx, [
    ...changeEvents(owner.kind === 'book' ? row : { id: owner.id, libraryId }, fields),
    ...seriesEvents('series_updated', series, { fields: [column] }),
  ])
}

type LabelsForUpdate = {
  id: string
  libraryId: string
  seriesId: string
  names: string[]
  locks: string[]
  provenance: Record<string, string>
}
type LabelColumn = { id: string; column: string }

async function lockSeriesLabels(tx: Transaction, viewer: Viewer, { id, column }: LabelColumn) {
  const series = await lockSeriesRow(tx, viewer, id)
  return { ...series, seriesId: id, names: series[column as 'genres' | 'tags'] } as LabelsForUpdate
}

async function lockBookLabels(tx: Transaction, viewer: Viewer, { id, column }: LabelColumn) {
  const [book] = await tx<LabelsForUpdate[]>`
    select b.id, b.library_id as "libraryId", b.series_id as "seriesId",
      b.${tx(column)} as names, b.locks, b.provenance
    ${fromBookForUpdate(tx, viewer, id)}`
  if (!book) throw ownerNotFound('book')
  return book
}

/** Returns a function that removes a label from names; it throws NotFound when they do not contain it. */
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
