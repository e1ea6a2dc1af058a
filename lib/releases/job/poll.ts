// Release poll job: reads the pages of a release list since the last poll, matches them with the tracked
// series, and stores each page along with the cursor that follows it.
import { NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { ReleaseItem, ReleasePage, TrackedSeries } from '../../sources/contract.ts'
import { SourceFailure } from '../../sources/failure.ts'
import type { Sources } from '../../sources/open.ts'
import { callSource } from '../../sources/stored/call.ts'
import { type StoredSource, storedSource } from '../../sources/stored/source.ts'
import { countPollError } from '../../store/metrics/releases.ts'
import type { Sql } from '../../store/postgres/db.ts'
import type { JobControl, JobOutcome } from '../../store/queue/job-run.ts'
import { fetchSetting } from '../../store/setting/setting.ts'
import { matchSeries } from '../match.ts'
import { storePage } from '../store-releases.ts'

type Deps = { sql: Sql; sources: Sources }

/** Kinds that are read for given series, a hundred at a time; the others list everything. */
const kindsBySeries: readonly string[] = ['rss-series', 'api-feed', 'metadata-piggyback']
const seriesPerQuery = 100
// An endless source continues at the next poll.
const maxPages = 1_000
const callTimeoutMs = 300_000
const maxIdLength = 1_000

type List = {
  id: string
  sourceId: string
  key: string
  kind: string
  cursor: unknown
  after: string | null
  lastPolledAt: Date | null
}
type Figures = {
  items: number
  unmatched: number
  added: number
  announced: number
  notes: string[]
}

/** Polls a release source. A failure of the source is recorded and not retried before the next slot. */
export async function pollReleases(
  deps: Deps,
  releaseSourceId: string,
  control: JobControl,
): Promise<JobOutcome | undefined> {
  const { sql } = deps
  const pollId = newId()
  const list = await beginPoll(sql, releaseSourceId, pollId)
  if (!list) return
  const figures: Figures = { items: 0, unmatched: 0, added: 0, announced: 0, notes: [] }
  try {
    const source = await storedSource(sql, list.sourceId)
    const isDone = await readAll(deps, { list, source, pollId, figures }, control)
    if (isDone) await endPoll(sql, list, pollId, { summary: summaryOf(figures), error: null })
    return
  } catch (error) {
    if (error instanceof NotFound) return
    if (!(error instanceof SourceFailure) || control.isStopped()) throw error
    countPollError(list.id)
    const summary = figures.items > 0 ? summaryOf(figures) : null
    await endPoll(sql, list, pollId, { summary, error: error.message })
    return { end: 'failed', reason: error.message }
  }
}

/** Null for a list that was deleted or disabled. From now on, its older polls store nothing. */
async function beginPoll(sql: Sql, id: string, pollId: string): Promise<List | null> {
  const [list] = await sql<List[]>`
    update release_source r set poll_id = ${pollId}
    from source s
    where r.id = ${id} and s.id = r.source_id and r.enabled and s.enabled
    returning r.id, r.source_id as "sourceId", r.key, r.kind, r.cursor, r.poll_after as after,
      r.last_polled_at as "lastPolledAt"`
  return list ?? null
}

type Poll = { list: List; source: StoredSource; pollId: string; figures: Figures }

/** False when the job is stopped or another poll took over; what was read so far is stored. */
async function readAll(deps: Deps, poll: Poll, control: JobControl): Promise<boolean> {
  const isBySeries = kindsBySeries.includes(poll.list.kind)
  let { cursor, after } = poll.list
  const languages = await followedLanguages(deps.sql)
  for (let page = 0; page < maxPages; page++) {
    if (control.isStopped()) return false
    const series = isBySeries ? await nextSeries(deps.sql, poll.list, after) : []
    if (isBySeries && series.length === 0) {
      if (after === null) return true
      return await store({ items: [], cursor, isLast: true }, null)
    }
    const result = await callSource(deps, poll.source, {
      operation: 'listReleases',
      call: source => {
        if (!source.listReleases) throw new SourceFailure('The source has no releases', 'invalid')
        const signal = AbortSignal.any([control.signal, AbortSignal.timeout(callTimeoutMs)])
        return source.listReleases({ key: poll.list.key, cursor, series }, { signal })
      },
    })
    const passed = isBySeries && result.isLast ? series.at(-1)!.seriesId : after
    if (!(await store(result, passed))) return false
    ;({ cursor } = result)
    after = passed
    if (result.isLast && !isBySeries) return true
  }
  return true

  async function store(result: ReleasePage, passed: string | null): Promise<boolean> {
    const { figures, list, pollId } = poll
    const items = result.items.filter(isAcceptable)
    const matches = await matchSeries(deps.sql, items)
    const stored = await storePage(
      deps.sql,
      { releaseSourceId: list.id, pollId, defaultLanguages: languages },
      { items, matches, cursor: result.cursor, after: passed },
    )
    if (!stored) return false
    figures.items += result.items.length
    figures.unmatched += matches.filter(match => match === null).length
    figures.added += stored.added
    figures.announced += stored.announced
    if (result.summary && figures.notes.length < 5) figures.notes.push(result.summary)
    return true
  }
}

const isAcceptable = ({ externalReleaseId, payloadUrl }: ReleaseItem) =>
  externalReleaseId !== '' && externalReleaseId.length <= maxIdLength && payloadUrl !== ''

async function followedLanguages(sql: Sql): Promise<string[]> {
  const text = await fetchSetting(sql, 'release_tracking.default_languages')
  return text
    .split(',')
    .map(language => language.trim())
    .filter(Boolean)
}

/**
 * The next tracked series after an id. A series with its own interval is polled if such an interval, counted from
 * 1970, began since the last poll.
 */
async function nextSeries(sql: Sql, { lastPolledAt }: List, after: string | null) {
  const rows = await sql<TrackedSeries[]>`
    select t.series_id as "seriesId",
      array(
        select a.alias from series_alias a where a.series_id = t.series_id order by a.alias
      ) as titles,
      coalesce((
        select jsonb_object_agg(e.source, e.external_id) from external_reference e
        where e.series_id = t.series_id and e.kind = 'id'), '{}') as "externalIds"
    from series_tracking t
    where t.tracked and (${after}::uuid is null or t.series_id > ${after})
      and (t.poll_interval_override_s is null or ${lastPolledAt}::timestamptz is null
        or floor(extract(epoch from now()) / t.poll_interval_override_s)
          > floor(extract(epoch from ${lastPolledAt}::timestamptz) / t.poll_interval_override_s))
    order by t.series_id
    limit ${seriesPerQuery}`
  return [...rows]
}

/** Stores the result of a poll, unless another one has begun. */
async function endPoll(
  sql: Sql,
  { id, sourceId }: List,
  pollId: string,
  { summary, error }: { summary: string | null; error: string | null },
) {
  await sql.begin(async tx => {
    const { count } = await tx`
      update release_source
      set ${
        error === null
          ? tx`last_polled_at = now(), last_error = null, last_error_at = null`
          : tx`last_error = ${error}, last_error_at = now()`
      }, last_summary = coalesce(${summary}, last_summary)
      where id = ${id} and poll_id = ${pollId}`
    if (count === 0) return
    // For accounts that manage sources.
    const data = { sourceId: id, pluginId: sourceId, hadError: error !== null }
    await tx`
      insert into event (type, count, data) values ('release_source_polled', 1, ${tx.json(data)})`
  })
}

/** `12 releases: 3 announced, 2 hidden, 1 known, 6 for untracked series`. */
function summaryOf({ items, unmatched, added, announced, notes }: Figures): string {
  const parts = [
    [announced, 'announced'],
    [added - announced, 'hidden'],
    [items - unmatched - added, 'known'],
    [unmatched, 'for untracked series'],
  ] as const
  const counted = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const first = items === 0 ? 'No releases' : `${items} releases: ${counted.join(', ')}`
  return [first, ...notes].join('. ').slice(0, 1_000)
}
