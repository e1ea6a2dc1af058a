// Rows by their ids. PostgreSQL assumes ten elements in an array parameter of a prepared statement; with
// fewer, it finds a custom plan cheaper and plans the statement every time, which takes longer than looking
// up the rows.
import type { Fragment } from 'postgres'
import type { Queryable } from './db.ts'

const assumedElements = 10

/** The ids, padded with nulls to that number; no id equals null. */
const padded = (ids: readonly string[]): (string | null)[] => [
  ...ids,
  ...Array<null>(Math.max(0, assumedElements - ids.length)).fill(null),
]

/** Whether the column is one of the ids. Must not be negated: for other values it is null, not false. */
export const isOneOf = (sql: Queryable, column: Fragment, ids: readonly string[]): Fragment =>
  sql`${column} in (select unnest(${padded(ids)}::uuid[]))`

/** A table `requested (id, place)` of the ids in order, followed by nulls; for inner joins. */
export const requestedIds = (sql: Queryable, ids: readonly string[]): Fragment =>
  sql`unnest(${padded(ids)}::uuid[]) with ordinality as requested(id, place)`
