// Invariants of rows that only exist while a scan runs.
import { finalizeSeries } from '../finalize/series.ts'
import { librarySettings } from '../scan/scan-context.ts'
import { type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

/**
 * Libraries without a scan that will finish what was started. Leftovers of a canceled scan are expected: the
 * next scan takes them over.
 */
const abandonedLibraries = ({ sql, libraries }: DoctorScope) => sql`
  select id from library l
  where id = any(${libraries})
    and not exists (
      select from scan where library_id = l.id and state in ('queued', 'running'))
    and not exists (select from pending_file where library_id = l.id)
    and 'cancelled' is distinct from (
      select state from scan
      where library_id = l.id and state <> 'unavailable'
      order by number desc
      limit 1)`

export const leftoverInvariants: Invariant[] = [
  {
    name: 'missing candidates',
    description: 'Missing candidates exist only until the end of a scan.',
    check: violationQuery(
      scope => scope.sql`
        select book_id::text as note from missing_candidate
        where library_id in (${abandonedLibraries(scope)})`,
    ),
    // Their folders retain their old digests, so the next scan compares them again.
    repair: async scope => {
      await scope.sql`delete from missing_candidate where library_id in (${abandonedLibraries(scope)})`
    },
  },
  {
    name: 'pending digests',
    description: 'Folders have a pending digest only until the end of a scan.',
    check: violationQuery(
      scope => scope.sql`
        select path as place, id as note from directory
        where pending_digest is not null and library_id in (${abandonedLibraries(scope)})`,
    ),
    repair: async scope => {
      await scope.sql`
        update directory set pending_digest = null
        where pending_digest is not null and library_id in (${abandonedLibraries(scope)})`
    },
  },
  {
    name: 'series to refresh',
    description: 'The series that a scan changed are finalized when it ends.',
    check: violationQuery(
      scope => scope.sql`
        select series_id::text as note from series_refresh
        where library_id in (${abandonedLibraries(scope)})`,
    ),
    repair: async scope => {
      const { sql } = scope
      const rows = await sql<{ id: string }[]>`${abandonedLibraries(scope)}`
      for (const { id } of rows) {
        const library = await librarySettings(sql, id)
        if (library) await finalizeSeries(sql, library)
      }
    },
  },
]
