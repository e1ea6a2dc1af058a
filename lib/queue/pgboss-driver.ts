// pg-boss on postgres.js: it speaks node-postgres, with numbered parameters and several statements in
// one text.
import type { Sql, TransactionSql } from 'postgres'

type Row = Record<string, unknown>
type Executor = { executeSql(text: string, values?: unknown[]): Promise<{ rows: Row[] }> }

/** Runs pg-boss's statements on a pool. */
export function onPool(sql: Sql): Executor {
  return {
    // The driver refuses a transaction on a pool; pg-boss sends some as one text.
    async executeSql(text, values) {
      if (!/^\s*begin\b/i.test(text)) return await execute(sql, text, values)
      const held = await sql.reserve()
      try {
        return await execute(held, text, values)
      } catch (error) {
        // Else the connection would go back into the pool in a transaction that failed.
        await held.unsafe('rollback').simple()
        throw error
      } finally {
        held.release()
      }
    },
  }
}

/** Runs them within the caller's transaction. */
export function within(tx: Sql | TransactionSql): Executor {
  return { executeSql: (text, values) => execute(tx, text, values) }
}

async function execute(sql: Sql | TransactionSql, text: string, values?: unknown[]) {
  if (!values || values.length === 0) {
    const result = await sql.unsafe(text).simple()
    return { rows: flat(result) }
  }
  // Text type for strings, so that JSON already encoded is not encoded again.
  const typed = values.map(v => (typeof v === 'string' ? sql.typed(v as never, 25) : v))
  const result = await sql.unsafe(text, typed as never[], { prepare: true })
  return { rows: flat(result) }
}

// Several statements give several results, of which pg-boss wants the rows of all.
function flat(result: readonly unknown[]): Row[] {
  return (Array.isArray(result[0]) ? result.flat() : [...result]) as Row[]
}
