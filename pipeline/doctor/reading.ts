// Invariants of the reading ledger: derived data matches the entries.
import { readingFaults, rebuildReading } from '../../lib/reading/rebuild.ts'
import { createViolations, type Invariant, violationQuery } from './invariant.ts'

const bookIdOf = ({ bookId }: { bookId: string }) => bookId

export const readingInvariants: Invariant[] = [
  {
    name: 'reading ledger',
    description: 'Reading sessions, completed passes and positions match the recorded entries.',
    async check({ sql }) {
      const { violations, add } = createViolations()
      for await (const faults of readingFaults(sql))
        for (const { accountId, bookId, kinds } of faults)
          add(`${kinds.join(', ')} of ${bookId} for ${accountId}`)
      return violations
    },
    async repair({ sql }) {
      for await (const faults of readingFaults(sql))
        for (const [accountId, own] of Map.groupBy(faults, fault => fault.accountId))
          await rebuildReading(sql, accountId, own.map(bookIdOf))
    },
  },
  {
    name: 'read history without records',
    description: 'Every completed pass has reading records.',
    check: violationQuery(
      ({ sql }) => sql`
        select r.book_id || ' for ' || r.account_id as note
        from reading_pass r
        where not exists (
          select from reading_session e
          where e.account_id = r.account_id and e.book_id = r.book_id)`,
    ),
    repair: async ({ sql }) => {
      await sql`
        delete from reading_pass r
        where not exists (
          select from reading_session e
          where e.account_id = r.account_id and e.book_id = r.book_id)`
    },
  },
]
