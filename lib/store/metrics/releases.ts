// Release metrics: ledger entries, polls of release sources and their errors.
import type { Sql } from 'postgres'
import type { Services } from '../services.ts'
import { cachedQuery } from './cached-query.ts'
import { counter, family, type MetricFamily } from './registry.ts'

const pollErrors = counter(
  'release_poll_errors_total',
  'Polls of release sources that failed in this process, by source.',
  ['source'],
)

export function countPollError(source: string) {
  pollErrors.inc({ source })
}

type Counts = {
  states: { state: string; count: number }[]
  sources: { source: string; seconds: number }[]
}

/** Cached, because counting reads an index of the whole ledger. */
const loadCounts = cachedQuery(
  async (sql: Sql) => {
    const [row] = await sql<Counts[]>`
      select
        array(
          select json_build_object('state', state, 'count', count(*)) from release
          group by state order by state) as states,
        array(
          select json_build_object('source', r.id,
            'seconds', extract(epoch from now() - coalesce(r.last_polled_at, r.created_at)))
          from release_source r join source s on s.id = r.source_id
          where r.enabled and s.enabled
          order by r.id) as sources`
    return row!
  },
  { minAgeMs: 15_000 },
)

/** Without values if the database does not respond. */
export async function releaseFamilies(services: Services): Promise<MetricFamily[]> {
  const { states, sources } = (await services(loadCounts)()) ?? { states: [], sources: [] }
  return [
    family('gauge', 'release_ledger_entries', [
      'Entries of the release ledger, by state.',
      states.map(({ state, count }) => ({ labels: { state }, value: count })),
    ]),
    family('gauge', 'release_last_poll_age_seconds', [
      'Time since the last successful poll of each enabled release source, or since it was added.',
      sources.map(({ source, seconds }) => ({ labels: { source }, value: seconds })),
    ]),
  ]
}
