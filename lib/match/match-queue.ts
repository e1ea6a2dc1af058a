// Due matches: series to be matched with a source, claimed by jobs, and the outcome for each. All SQL on the
// table `series_match` is in this file.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { component, nullable, oneOf, type Static, Type, timestamp, uuid } from '../base/schema.ts'
import { mayHaveMetadata } from '../sources/open.ts'
import { enabledSources, type StoredSource } from '../sources/stored/source.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import type { Queue } from '../store/queue/queue.ts'
import { fetchSetting } from '../store/setting/setting.ts'
import { type MatchResult, outcomes } from './match-series.ts'
import { type Matching, matchingsOf } from './matching-settings.ts'

export const SeriesMatch = component('SeriesMatch', {
  sourceId: uuid(),
  source: Type.String(),
  outcome: nullable(oneOf(outcomes, { description: 'Null before the first attempt.' })),
  message: nullable(Type.String()),
  externalId: nullable(Type.String()),
  relevance: nullable(Type.Number({ description: 'Relevance of the best hit, from 0 to 1.' })),
  matchedAt: nullable(timestamp()),
  isDue: Type.Boolean({ description: 'Whether the series is waiting to be matched.' }),
})
export type SeriesMatch = Static<typeof SeriesMatch>

/** Outcomes of matching a series, by source. */
export async function matchesOf(sql: Queryable, seriesId: string): Promise<SeriesMatch[]> {
  const rows = await sql<SeriesMatch[]>`
    select m.source_id as "sourceId", s.name as source, m.outcome, m.message,
      m.external_id as "externalId", m.relevance, m.matched_at as "matchedAt",
      m.due_at is not null as "isDue"
    from series_match m join source s on s.id = m.source_id
    where m.series_id = ${seriesId}
    order by s.name`
  return [...rows]
}

type Request = {
  /** A query for series ids. */
  series: Fragment
  sources: readonly MatchingSource[]
  /** Even if the source states the same as last time. */
  isForced: boolean
}
export type MatchingSource = { row: StoredSource; matching: Matching }
/** `count` is the number of series. */
export type StartedMatching = { taskIds: string[]; count: number }

/** Enabled metadata sources that take part in automatic matching. */
export async function matchingSources(sql: Queryable): Promise<MatchingSource[]> {
  const rows = (await enabledSources(sql)).filter(mayHaveMetadata)
  const ids = rows.map(row => row.id)
  const matchings = await matchingsOf(sql, ids)
  return rows.flatMap(row => {
    const matching = matchings.get(row.id)
    return matching?.enabled ? [{ row, matching }] : []
  })
}

/** Makes series due, each with its library's sources, and sends a job for each library and source. */
export async function enqueueMatches(
  tx: Transaction,
  queue: Queue,
  { series, sources, isForced }: Request,
): Promise<StartedMatching> {
  const taskIds: string[] = []
  let count = 0
  for (const { row, matching } of sources) {
    const { libraryIds } = matching
    const inScope = libraryIds ? tx`s.library_id = any(${libraryIds}::uuid[])` : tx`true`
    const libraries = await tx<{ id: string; count: number }[]>`
      with due as (
        insert into series_match as m (series_id, source_id, due_at, forced)
        select s.id, ${row.id}, now(), ${isForced} from series s
        where s.id in (${series}) and ${inScope}
        order by s.id
        on conflict (series_id, source_id) do update
        set due_at = coalesce(m.due_at, now()), forced = m.forced or excluded.forced, attempts = 0
        returning m.series_id
      )
      select s.library_id as id, count(*)::integer as count
      from due join series s on s.id = due.series_id
      group by s.library_id order by s.library_id`
    for (const library of libraries) {
      const job = { libraryId: library.id, sourceId: row.id }
      taskIds.push(...(await queue.send(tx, 'match', [job], { key: jobKey(job) })))
    }
    count = Math.max(
      count,
      libraries.reduce((sum, library) => sum + library.count, 0),
    )
  }
  return { taskIds, count }
}

const jobKey = ({ libraryId, sourceId }: { libraryId: string; sourceId: string }) =>
  `${libraryId}:${sourceId}`

/** A query for the visible series of a library that have books, or for those with these ids. */
export function visibleSelection(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, seriesIds }: { libraryId?: string; seriesIds?: readonly string[] },
): Fragment {
  return sql`
    select s.id from series s
    where ${visibleSeries(sql, viewer)}
      and exists (select from book b where b.series_id = s.id and ${presentBook(sql)})
      and ${libraryId ? sql`s.library_id = ${libraryId}` : sql`true`}
      and ${seriesIds ? sql`s.id = any(${seriesIds as string[]}::uuid[])` : sql`true`}`
}

/**
 * After a scan: series of the library that were never matched with a source, those without a match after a week, and
 * matched ones after a month.
 */
export async function enqueueAfterScan(
  sql: Sql,
  queue: Queue,
  libraryId: string,
): Promise<StartedMatching> {
  const started: StartedMatching = { taskIds: [], count: 0 }
  for (const source of await matchingSources(sql)) {
    const { taskIds, count } = await sql.begin(tx => {
      const series = tx`
        select s.id from series s
        left join series_match m on m.series_id = s.id and m.source_id = ${source.row.id}
        where s.library_id = ${libraryId} and s.book_count > 0 and m.due_at is null
          and (m.matched_at is null or m.matched_at < now() - case
            when m.outcome in ('matched', 'unchanged') then interval '30 days'
            else interval '7 days' end)`
      return enqueueMatches(tx, queue, { series, sources: [source], isForced: false })
    })
    started.taskIds.push(...taskIds)
    started.count += count
  }
  return started
}

const claimedRetrySeconds = 5

type Claims = { libraryId: string; sourceId: string }
export type Claim = { seriesId: string; isForced: boolean; attempts: number }

/** The next due series. Another process may claim them after ten minutes, or once they are postponed. */
export async function claimMatches(
  sql: Queryable,
  { libraryId, sourceId }: Claims,
  limit: number,
): Promise<Claim[]> {
  // Materialized: as the inner side of a join it would be executed, and would claim, once per row.
  const rows = await sql<Claim[]>`
    with due as materialized (
      select d.series_id from series_match d join series s on s.id = d.series_id
      where d.source_id = ${sourceId} and s.library_id = ${libraryId} and d.due_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
      order by d.due_at, d.series_id
      limit ${limit}
      for update of d skip locked
    )
    update series_match m
    set claimed_until = now() + interval '10 minutes', attempts = m.attempts + 1
    from due
    where m.source_id = ${sourceId} and m.series_id = due.series_id
    returning m.series_id as "seriesId", m.forced as "isForced", m.attempts`
  return [...rows]
}

/** Seconds until the next series is due, a few while another process works on it; null when there is none. */
export async function secondsUntilDue(sql: Queryable, { libraryId, sourceId }: Claims) {
  const [row] = await sql<{ seconds: number | null }[]>`
    select min(case when m.claimed_until > now() then ${claimedRetrySeconds}
      else extract(epoch from m.due_at - now()) end)::float8 as seconds
    from series_match m join series s on s.id = m.series_id
    where m.source_id = ${sourceId} and s.library_id = ${libraryId} and m.due_at is not null`
  return row?.seconds ?? null
}

/** Stores the result of an attempt, after which the series is no longer due. */
export async function finishMatch(
  sql: Queryable,
  { seriesId, sourceId }: { seriesId: string; sourceId: string },
  { outcome, message, externalId, relevance }: Omit<MatchResult, 'applied'>,
): Promise<void> {
  await sql`
    insert into series_match as m
      (series_id, source_id, outcome, message, external_id, relevance, matched_at)
    select s.id, o.id, ${outcome}, ${message}, ${externalId}, ${relevance}, now()
    from series s, source o where s.id = ${seriesId} and o.id = ${sourceId}
    on conflict (series_id, source_id) do update
    set due_at = null, claimed_until = null, forced = false, attempts = 0,
      outcome = excluded.outcome, message = excluded.message, external_id = excluded.external_id,
      relevance = excluded.relevance, matched_at = now()`
}

/** Releases the claims of series that were not matched; they are due again after `seconds`. */
export async function postponeMatches(
  sql: Queryable,
  sourceId: string,
  { claims, seconds }: { claims: readonly Claim[]; seconds: number },
): Promise<void> {
  await sql`
    update series_match
    set claimed_until = null, due_at = now() + make_interval(secs => ${seconds}),
      attempts = greatest(0, attempts - 1)
    where source_id = ${sourceId} and series_id = any(${claims.map(claim => claim.seriesId)}::uuid[])`
}

/** Ends all due matches of a source that must not be called. */
export async function dropMatches(
  sql: Queryable,
  { libraryId, sourceId }: Claims,
  outcome: MatchResult['outcome'],
): Promise<void> {
  await sql`
    update series_match m
    set due_at = null, claimed_until = null, forced = false, attempts = 0, outcome = ${outcome},
      matched_at = now()
    from series s
    where s.id = m.series_id and s.library_id = ${libraryId} and m.source_id = ${sourceId}
      and m.due_at is not null`
}

/** Changed external ids may show that series are duplicates. */
export async function enqueueDedupeAfterMatch(sql: Queryable, queue: Queue, libraryId: string) {
  if (await fetchSetting(sql, 'deduplication.enabled'))
    await queue.send(sql, 'dedupe', [{ libraryId }], { key: 'all', afterSeconds: 30 })
}
