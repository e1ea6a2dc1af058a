// Rows by their ids. PostgreSQL assumes ten elements in an array that is a parameter of a prepared statement, finds a
// plan for fewer cheaper, and plans such a statement again each time, which takes longer than to look up the rows.
import type { Fragment } from 'postgres'
import type { Queryable } from './db.ts'

const assumedElements = 10

/** The ids, then nulls up to that number; no id is equal to them. */
const padded = (ids: readonly string[]): (string | null)[] => [
  ...ids,
  ...Array<null>(Math.max(0, assumedElements - ids.length)).fill(null),
]

/** The column is one of the ids. Not to be negated: it is null, not false, for other values. */
export const isOneOf = (sql: Queryable, column: Fragment, ids: readonly string[]): Fragment =>
  sql`${column} in (select unnest(${padded(ids)}::uuid[]))`

/** A table `requested (id, place)` of the ids in their order, and of nulls after them; for inner joins. */
export const requestedIds = (sql: Queryable, ids: readonly string[]): Fragment =>
  sql`unnest(${padded(ids)}::uuid[]) with ordinality as requested(id, place)`
