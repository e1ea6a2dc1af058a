// What a change really changed, in the words in which it is told.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { ofBooks, ofSeries, type Told, tell } from '../../event/publish.ts'

type Db = Sql | TransactionSql

/** For `returning` of an update that joins the row as it was: names of the columns that differ, sorted. */
export function changedColumns(sql: Db, row: string, before: string): Fragment {
  return sql`array(
    select key
    from jsonb_each(to_jsonb(${sql(row)})) n join jsonb_each(to_jsonb(${sql(before)})) o using (key)
    where n.value <> o.value
    order by key)`
}

const told = new Set([
  'title',
  'number',
  'title_sort',
  'summary',
  'publisher',
  'imprint',
  'status',
  'age_rating',
  'language',
  'reading_direction',
  'year',
  'total_volume_count',
  'total_chapter_count',
  'custom_metadata',
  'authors',
  'genres',
  'tags',
  'alternate_titles',
  'locks',
])
// They follow from others, or are not shown.
const untold = new Set([
  'updated_at',
  'said_at',
  'sort_key',
  'search_key',
  'number_sort',
  'provenance',
  'book_genres',
  'book_tags',
])

/** Fields of an event for changed columns of a book or series; none when nothing is to be told. */
export function fieldsOf(columns: readonly string[]): string[] {
  const shown = columns.filter(column => !untold.has(column))
  return [...new Set(shown.map(column => (told.has(column) ? column : 'metadata')))].sort()
}

/** A book with its series, or a series. */
export type Subject = { id: string; libraryId: string; seriesId?: string }

/** That a user changed a book or series; nothing when there are no fields. */
export function changeOf({ seriesId, ...at }: Subject, fields: string[]): Told[] {
  if (fields.length === 0) return []
  return seriesId === undefined
    ? ofSeries('series_updated', [at], { fields })
    : ofBooks('book_updated', [{ ...at, seriesId }], { fields })
}

/** Tells just that. */
export async function tellChange(tx: Db, subject: Subject, fields: string[]): Promise<void> {
  await tell(tx, changeOf(subject, fields))
}
