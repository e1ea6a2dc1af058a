// Changes by users run beside scans, which take the same rows in an order of their own.
import type { Sql, TransactionSql } from 'postgres'

const deadlock = '40P01'
const attempts = 4

/** A transaction that begins anew when the database broke it off for the sake of another. */
export async function changing<T>(sql: Sql, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  for (let left = attempts; ; left--) {
    try {
      return (await sql.begin(work)) as T
    } catch (error) {
      if (left <= 1 || (error as { code?: unknown }).code !== deadlock) throw error
    }
  }
}
