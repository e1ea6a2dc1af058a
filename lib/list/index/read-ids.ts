// Ids of the rows of a query as bytes, as tables of ids look them up.
import type { Fragment, Sql } from 'postgres'
import type { Queryable } from '../../store/postgres/db.ts'

/** An expression: the ids that a query of one column has, 16 bytes each; null for none, and without a query. */
export const idsOf = (sql: Queryable, query: Fragment | null | undefined): Fragment =>
  query
    ? sql`(select string_agg(uuid_send(i.id), ''::bytea) from (${query}) as i(id))`
    : sql`null::bytea`

const maxWorkers = '2'

/** Runs a statement that reads a text of very many books, once for all lists: it may use processors that are idle. */
export async function inParallel<Row>(sql: Sql, read: (tx: Sql) => Promise<Row>): Promise<Row> {
  const { result } = await sql.begin(async tx => {
    await tx`select set_config('max_parallel_workers_per_gather', ${maxWorkers}, true)`
    return { result: await read(tx as unknown as Sql) }
  })
  return result
}
