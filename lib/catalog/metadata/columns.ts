// Columns of metadata fields: select lists from their descriptors, and updates of many rows.
import type { Fragment } from 'postgres'
import type { Fields, SqlType } from '../../media/metadata/field.ts'
import type { Queryable, Transaction } from '../../store/postgres/db.ts'

/** Select list of the fields with a column, under their wire names. */
export function selectColumns(sql: Queryable, fields: Fields, table: string): Fragment {
  const columns = Object.entries(fields)
    .filter(([, { sqlType }]) => sqlType !== null)
    .map(([name, { column }]) => `${table}.${column} as "${name}"`)
  return sql.unsafe(columns.join(', '))
}

/** Types by column name. */
export type ColumnTypes = Readonly<Record<string, SqlType>>
/** Values by column name, in JSON form. */
export type RowValues = { id: string } & Record<string, unknown>

/**
 * Sets these columns and `updated_at` of series or books, each row to its own values, in one statement. Returns
 * the names of the changed columns by id.
 */
export async function updateRows(
  tx: Transaction,
  table: 'book' | 'series',
  { columns, rows }: { columns: ColumnTypes; rows: readonly RowValues[] },
): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map()
  const names = Object.keys(columns)
  const assignments = tx.unsafe(names.map(name => `${name} = g.${name}`).join(', '))
  const definitions = tx.unsafe(names.map(name => `${name} ${columns[name]}`).join(', '))
  const updated = await tx<{ id: string; changed: string[] }[]>`
    update ${tx(table)} r
    set ${assignments}, updated_at = now()
    from jsonb_to_recordset(${tx.json(rows as never)}) as g(id uuid, ${definitions})
    join ${tx(table)} old on old.id = g.id
    where r.id = g.id
    returning r.id, ${changedColumns(tx, 'r', 'old')} as changed`
  return new Map(updated.map(({ id, changed }) => [id, changed]))
}

/** Types of the columns written by every edit. */
export const editedColumns: ColumnTypes = {
  ...{ sort_key: 'text', search_key: 'text' },
  ...{ locks: 'text[]', provenance: 'jsonb' },
}

/** For the `returning` clause of an update joined with the previous row: names of the changed columns, sorted. */
export function changedColumns(sql: Queryable, row: string, previous: string): Fragment {
  return sql`array(
    select key
    from jsonb_each(to_jsonb(${sql(row)})) n join jsonb_each(to_jsonb(${sql(previous)})) o using (key)
    where n.value <> o.value
    order by key)`
}
