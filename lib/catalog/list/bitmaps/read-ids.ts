// Ids of the rows of a query as bytes, as tables of ids look them up.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../../postgres/db.ts'

/** An expression: the ids that a query of one column has, 16 bytes each; null for none, and without a query. */
export const idsOf = (sql: Queryable, query: Fragment | null | undefined): Fragment =>
  query
    ? sql`(select string_agg(uuid_send(i.id), ''::bytea) from (${query}) as i(id))`
    : sql`null::bytea`
