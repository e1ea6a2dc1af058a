// Invariants of the reading ledger: derived data matches the entries.
import { readingFaults, rebuildReading } from '../../lib/reading/rebuild.ts'
import { type Invariant, maxSamples, violationQuery } from './invariant.ts'

export const readingInvariants: Invariant[] = [
  {
    name: 'reading ledger',
    description: 'Reading sessions, completed passes and positions match the recorded entries.',
    async check({ sql }) {
      let count = 0
      const samples: string[] = []
      for await (const faults of readingFaults(sql)) {
        count += faults.length
        for (const { accountId, bookId, kinds } of faults.slice(0, maxSamples - samples.length))
          samples.push(`${kinds.join(', ')} of ${bookId} for ${accountId}`)
      }
      return { count, samples }
    },
    async repair({ sql }) {
      for await (const faults of readingFaults(sql))
        for (const [accountId, own] of Map.groupBy(faults, fault => fault.accountId))
          await rebuildReading(
            sql,
            accountId,
            own.map(({ bookId }) => bookId),
          )
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
