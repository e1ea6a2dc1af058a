// Events of metadata changes by users: which columns changed, and the field names events use for them.
import type { Fragment } from 'postgres'
import { bookEvents, type NewEvent, publish, seriesEvents } from '../../event/publish.ts'
import { composedFields, fileFields } from '../../metadata/book-fields.ts'
import { seriesFields } from '../../metadata/series-fields.ts'
import type { Queryable } from '../../postgres/db.ts'
import type { BookOrSeries } from '../owner.ts'

/** For the `returning` clause of an update joined with the previous row: names of the changed columns, sorted. */
export function changedColumns(sql: Queryable, row: string, previous: string): Fragment {
  return sql`array(
    select key
    from jsonb_each(to_jsonb(${sql(row)})) n join jsonb_each(to_jsonb(${sql(previous)})) o using (key)
    where n.value <> o.value
    order by key)`
}

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

/** Event for changed fields of a book or series; none without fields. */
export function changeEvents({ seriesId, ...item }: BookOrSeries, fields: string[]): NewEvent[] {
  if (fields.length === 0) return []
  return seriesId === undefined
    ? seriesEvents('series_updated', [item], { fields })
    : bookEvents('book_updated', [{ ...item, seriesId }], { fields })
}

export async function publishChange(
  tx: Queryable,
  item: BookOrSeries,
  fields: string[],
): Promise<void> {
  await publish(tx, changeEvents(item, fields))
}
