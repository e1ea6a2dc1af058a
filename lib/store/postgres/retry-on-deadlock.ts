// Retry of transactions that PostgreSQL aborted because of a deadlock. Edits by users run concurrently
// with scans, which lock the same rows in another order.
import type { Sql, Transaction } from './db.ts'

const deadlockDetected = '40P01'
const maxAttempts = 4

/** Runs `work` in a transaction, up to four times while it is aborted by a deadlock. Throws its other errors. */
export async function retryOnDeadlock<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(work)) as T
    } catch (error) {
      const { code } = error as { code?: unknown }
      if (attempt === maxAttempts || code !== deadlockDetected) throw error
    }
  }
}
