// A condition on series as SQL: sets of ids, and what the viewer has read of each by count.
import type { Fragment, Sql } from 'postgres'
import { seesSeries, showsBooks, type Viewer } from '../../auth/viewer.ts'
import { rankOf } from '../search/search-rank.ts'
import type { Query } from '../search/search-text.ts'
import type { Condition, Leaf, SeriesFilter } from './filter.ts'
import type { ReadStatus } from './filter-fields.ts'
import { findLabels, leavesOf } from './filter-labels.ts'
import { type SetScope, seriesSet, upright } from './filter-series.ts'
import { every, some } from './filter-sql.ts'

type Wanted = {
  filter: SeriesFilter | null
  libraryId?: string | undefined
  withBooks?: boolean | undefined
  query: Query | null
}

export type SeriesPlan = {
  /** `matched` (id, sort_key, rank), to stand after `with`. Inside a value, because a fragment that a promise gives would be run. */
  ctes: Fragment
}

export async function planSeries(sql: Sql, viewer: Viewer, wanted: Wanted): Promise<SeriesPlan> {
  const { filter, libraryId, query } = wanted
  const condition = filter?.condition ?? { all: [] }
  const scope = { sql, labels: await findLabels(sql, filter) }
  const asksReading = leavesOf(condition).some(leaf => leaf.field === 'readStatus')
  const reading = asksReading
    ? sql`left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id`
    : sql``
  const hits = query
    ? sql`hits as materialized (
        select t.series_id, ${rankOf(sql, query)} as rank from series_search t
        where ${every(
          sql,
          query.patterns.map(pattern => sql`t.text like ${pattern}`),
        )}
      ),`
    : sql``
  const ctes = sql`${hits} matched as materialized (
    select s.id, s.sort_key, ${query ? sql`t.rank` : sql`0`} as rank
    from series s
    ${query ? sql`join hits t on t.series_id = s.id` : sql``} ${reading}
    where s.book_count > 0 and ${seesSeries(sql, viewer)}
      and ${wanted.withBooks ? showsBooks(sql, viewer) : sql`true`}
      and ${libraryId ? sql`s.library_id = ${libraryId}` : sql`true`}
      and ${expression(scope, condition)}
  )`
  return { ctes }
}

function expression(scope: SetScope, condition: Condition): Fragment {
  const { sql } = scope
  if ('all' in condition)
    return every(
      sql,
      condition.all.map(part => expression(scope, part)),
    )
  if ('any' in condition)
    return some(
      sql,
      condition.any.map(part => expression(scope, part)),
    )
  const leaf = upright(condition)
  const holds = positive(scope, leaf)
  return leaf.negated ? sql`(not ${holds})` : holds
}

function positive(scope: SetScope, leaf: Leaf): Fragment {
  const { sql } = scope
  if (leaf.test.is === 'status') return readStatus(sql, leaf.test.status)
  return sql`((s.id in (${seriesSet(scope, leaf)})) is true)`
}

/** Over the viewer's `series_reading r`, which may be none. */
function readStatus(sql: Sql | SetScope['sql'], status: ReadStatus): Fragment {
  const read = sql`coalesce(r.read_count >= s.book_count, false)`
  if (status === 'read') return read
  const begun = sql`coalesce(r.opened_count > 0 or r.read_count > 0, false)`
  return status === 'in_progress' ? sql`(${begun} and not ${read})` : sql`(not ${begun})`
}
