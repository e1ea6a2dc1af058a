// Events of metadata changes by users, and the field names they use for changed columns.

import { composedFields, fileFields } from '../../media/metadata/book-fields.ts'
import { seriesFields } from '../../media/metadata/series-fields.ts'
import { bookEvents, type NewEvent, publish, seriesEvents } from '../../store/event/publish.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { BookOrSeries } from '../owner.ts'

const fields = [fileFields, composedFields, seriesFields].flatMap(group => Object.values(group))
const eventColumns = new Set([
  ...fields.filter(field => field.isNamedInEvents).map(field => field.column),
  'locks',
])
// Derived from other columns, or not part of the API.
const internalColumns = new Set([
  'updated_at',
  'metadata_changed_at',
  'sort_key',
  'search_key',
  'number_sort',
  'provenance',
  'book_genres',
  'book_tags',
])

/** Fields of an event for changed columns of a book or series; empty when nothing visible changed. */
export function eventFields(columns: readonly string[]): string[] {
  const visible = columns.filter(column => !internalColumns.has(column))
  const names = visible.map(column => (eventColumns.has(column) ? column : 'metadata'))
  return [...new Set(names)].sort()
}

/** One event for each book or series with changed fields. */
export function changeEvents<T extends BookOrSeries>(
  items: readonly T[],
  fieldsOf: (item: T) => string[],
): NewEvent[] {
  const groups = Map.groupBy(items, item => fieldsOf(item).join())
  groups.delete('')
  return [...groups.values()].flatMap(group => {
    const fields = fieldsOf(group[0]!)
    const books = group.flatMap(({ id, libraryId, seriesId }) =>
      seriesId === undefined ? [] : [{ id, libraryId, seriesId }],
    )
    const series = group.filter(({ seriesId }) => seriesId === undefined)
    return [
      ...bookEvents('book_updated', books, { fields }),
      ...seriesEvents('series_updated', series, { fields }),
    ]
  })
}

/** Publishes `changeEvents`. */
export async function publishChanges<T extends BookOrSeries>(
  tx: Queryable,
  items: readonly T[],
  fieldsOf: (item: T) => string[],
) {
  await publish(tx, changeEvents(items, fieldsOf))
}

export const publishChange = (tx: Queryable, item: BookOrSeries, fields: string[]) =>
  publishChanges(tx, [item], () => fields)
