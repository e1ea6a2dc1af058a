// Database adapter that runs pg-boss on postgres.js. pg-boss is written for node-postgres: numbered
// parameters, and several statements in one text.
import { openDedicatedConnection, type Queryable, type Sql } from '../postgres/db.ts'

type Row = Record<string, unknown>
type Executor = { executeSql(text: string, values?: unknown[]): Promise<{ rows: Row[] }> }

/** Runs pg-boss's statements on a pool. */
export function onPool(sql: Sql): Executor {
  return {
    // The driver refuses a transaction on a pool; pg-boss sends some as one text.
    async executeSql(text, values) {
      if (!/^\s*begin\b/i.test(text)) return await execute(sql, text, values)
      const connection = openDedicatedConnection(sql)
      try {
        return await execute(connection.sql, text, values)
      } finally {
        await connection.close()
      }
    },
  }
}

/** Runs them within the caller's transaction. */
export function within(tx: Queryable): Executor {
  return { executeSql: (text, values) => execute(tx, text, values) }
}

async function execute(sql: Queryable, text: string, values?: unknown[]) {
  if (!values || values.length === 0) {
    const result = await sql.unsafe(text).simple()
    return { rows: flattenRows(result) }
  }
  // Strings are typed as text, so that encoded JSON is not encoded again.
  const typed = values.map(v => (typeof v === 'string' ? sql.typed(v as never, 25) : v))
  const result = await sql.unsafe(text, typed as never[], { prepare: true })
  return { rows: flattenRows(result) }
}

// Several statements return several results; pg-boss expects the rows of all.
function flattenRows(result: readonly unknown[]): Row[] {
  return (Array.isArray(result[0]) ? result.flat() : [...result]) as Row[]
}
