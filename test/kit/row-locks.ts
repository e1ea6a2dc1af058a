// Row locks in tests: whether a row is free, and the rows a waiting transaction holds.
import type { Sql } from '../../lib/store/postgres/db.ts'

export type Row = { table: string; id: string }

const keyOf = (table: string) =>
  ['book_artifact', 'missing_candidate'].includes(table) ? 'book_id' : 'id'

/** Whether the row can be locked now. */
export async function isFree(sql: Sql, { table, id }: Row): Promise<boolean> {
  return await sql
    .begin(async tx => {
      await tx`select from ${tx(table)} where ${tx(keyOf(table))} = ${id} for update nowait`
      return true
    })
    .catch(error => {
      if (error.code !== '55P03') throw error
      return false
    })
}

/** Resolves when a transaction of the database waits for a lock. */
export async function untilBlocked(sql: Sql): Promise<void> {
  for (;;) {
    const rows = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    if (rows.length > 0) return
  }
}

/** Runs `work` while another transaction holds a row that it needs; `check` runs as soon as it waits, then the row is released. */
export async function whileBlocked<T>(
  sql: Sql,
  held: Row,
  work: () => Promise<T>,
  check: () => Promise<void>,
): Promise<T> {
  const holder = await sql.reserve()
  await holder`begin`
  await holder`
    select from ${holder(held.table)} where ${holder(keyOf(held.table))} = ${held.id} for update`
  const waiting = work()
  try {
    await untilBlocked(sql)
    await check()
  } finally {
    await holder`rollback`
    holder.release()
    await waiting
  }
  return await waiting
}
