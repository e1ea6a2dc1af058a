// Columns of table book that scans fill from metadata, according to the field descriptors.
import { scannedFields } from '../../lib/media/metadata/book-fields.ts'
import type { Field } from '../../lib/media/metadata/field.ts'

const fields: readonly Field[] = Object.values(scannedFields)

/**
 * Fields with their own column. Users may lock them; a locked one retains its value when the file changes.
 */
export const metadataColumns = fields.filter(field => field.sqlType !== null)
/** Fields stored in the column `extra_metadata`. */
export const extraMembers = fields
  .filter(field => field.sqlType === null)
  .map(({ member }) => member)

/** Columns derived from a metadata column, which are retained together with it. */
export const derivedColumns = { search_key: 'title', number_sort: 'number' } as const

/** `title, title_sort, …` */
export const columnNames = metadataColumns.map(({ column }) => column).join(', ')

/** `title text, title_sort text, …` */
export const columnTypes = metadataColumns
  .map(({ column, sqlType }) => `${column} ${sqlType}`)
  .join(', ')

/** Like columnNames, with empty lists for null. */
export const columnValues = metadataColumns
  .map(({ column, sqlType }) => {
    if (sqlType === 'jsonb') return `coalesce(${column}, '[]')`
    return sqlType === 'text[]' ? `coalesce(${column}, '{}')` : column
  })
  .join(', ')
