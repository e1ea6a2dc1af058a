// Select lists of metadata fields, from their descriptors.
import type { Fragment } from 'postgres'
import type { Field, Fields } from '../../metadata/field.ts'
import type { Queryable } from '../../postgres/db.ts'

/** Select list of the fields with a column, under their wire names. */
export function selectColumns(sql: Queryable, fields: Fields, table: string): Fragment {
  const columns = Object.entries(fields)
    .filter(([, { sqlType }]) => sqlType !== null)
    .map(([name, { column }]) => `${table}.${column} as "${name}"`)
  return sql.unsafe(columns.join(', '))
}

/** A value for its column. */
export function columnValue(sql: Queryable, { sqlType }: Field, value: unknown): never {
  return (sqlType === 'jsonb' && value !== null ? sql.json(value as never) : value) as never
}

/** Select list of the most frequent value of each field, under the column names. */
export function majorityColumns(sql: Queryable, fields: readonly Field[]): Fragment {
  const columns = fields.map(
    ({ column }) => `mode() within group (order by ${column}) as ${column}`,
  )
  return sql.unsafe(columns.join(', '))
}
