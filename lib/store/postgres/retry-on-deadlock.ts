// Retries transactions that PostgreSQL aborted because of a deadlock. User edits run concurrently with scans,
// which lock the same rows in a different order.
import type { Sql, Transaction } from './db.ts'

const deadlockDetected = '40P01'
const maxAttempts = 4

/** Runs `work` in a transaction, up to four times in case of deadlocks. Throws other errors. */
export async function retryOnDeadlock<T>(sql: Sql, work: (tx: Transaction) => Promise<T>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(work)) as T
    } catch (error) {
      const { code } = error as { code?: unknown }
      if (attempt === maxAttempts || code !== deadlockDetected) throw error
    }
  }
}
