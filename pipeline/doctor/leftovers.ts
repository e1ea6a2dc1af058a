// What a scan keeps while it runs and must not leave behind.

import { settleSeries } from '../scan/finalize-scan.ts'
import { librarySettings } from '../scan/scan-context.ts'
import { broken, type Invariant, type Scope } from './invariant.ts'

/**
 * Libraries where nobody is going to finish what was begun. A cancelled scan is no fault: it said so,
 * and the next one takes over.
 */
const abandoned = ({ sql, libraries }: Scope) => sql`
  select id from library l
  where id = any(${libraries})
    and not exists (
      select from scan where library_id = l.id and state in ('queued', 'running'))
    and not exists (select from found where library_id = l.id)
    and 'cancelled' is distinct from (
      select state from scan
      where library_id = l.id and state <> 'unavailable'
      order by created_at desc
      limit 1)`

export const leftoverInvariants: Invariant[] = [
  {
    name: 'undecided books',
    sentence: 'Books that a scan did not meet are decided when it ends.',
    look: broken(
      scope => scope.sql`
        select book_id::text as note from vanished
        where library_id in (${abandoned(scope)})`,
    ),
    // Their folders keep their old digests, so that the next scan meets the question again.
    repair: async scope => {
      await scope.sql`delete from vanished where library_id in (${abandoned(scope)})`
    },
  },
  {
    name: 'undecided folders',
    sentence: 'No folder waits for a decision when no scan runs.',
    look: broken(
      scope => scope.sql`
        select path as place, id as note from directory
        where pending_digest is not null and library_id in (${abandoned(scope)})`,
    ),
    repair: async scope => {
      await scope.sql`
        update directory set pending_digest = null
        where pending_digest is not null and library_id in (${abandoned(scope)})`
    },
  },
  {
    name: 'unsettled series',
    sentence: 'Series that a scan changed have their titles and order when it ends.',
    look: broken(
      scope => scope.sql`
        select series_id::text as note from touched_series
        where library_id in (${abandoned(scope)})`,
    ),
    repair: async scope => {
      const rows = await scope.sql<{ id: string }[]>`${abandoned(scope)}`
      for (const { id } of rows) await settleSeries(scope.sql, await librarySettings(scope.sql, id))
    },
  },
]
