// Due matches: series and books to be matched with a source, claimed by jobs, and the outcome for each. SQL on the
// tables `series_match` and `book_match` is in this file and library-matches.ts.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleBook, visibleSeries } from '../accounts/viewer.ts'
import { component, nullable, oneOf, type Static, Type, timestamp, uuid } from '../base/schema.ts'
import type { Owner, OwnerKind } from '../catalog/owner.ts'
import { mayHaveMetadata } from '../sources/open.ts'
import { enabledSources, type StoredSource } from '../sources/stored/source.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import type { Jobs, Queue } from '../store/queue/queue.ts'
import { fetchSetting } from '../store/setting/setting.ts'
import { type Matching, matchingsOf } from './matching-settings.ts'
import { FoundHit, type MatchResult, outcomes } from './outcome.ts'

export const SourceMatch = component('SourceMatch', {
  sourceId: uuid(),
  source: Type.String(),
  outcome: nullable(oneOf(outcomes, { description: 'Null before the first attempt.' })),
  message: nullable(Type.String()),
  externalId: nullable(Type.String()),
  relevance: nullable(Type.Number({ description: 'Relevance of the best hit, from 0 to 1.' })),
  found: nullable(FoundHit),
  matchedAt: nullable(timestamp()),
  isDue: Type.Boolean({ description: 'Whether it is waiting to be matched.' }),
  isUndoable: Type.Boolean({ description: 'Whether the match can be undone.' }),
})
export type SourceMatch = Static<typeof SourceMatch>

const matchTable = (sql: Queryable, kind: OwnerKind) => sql(`${kind}_match`)
const ownerId = (sql: Queryable, kind: OwnerKind) => sql(`${kind}_id`)

/** Select list of a SourceMatch of `m` with its source `p`. */
export const matchColumns = (sql: Queryable, kind: OwnerKind): Fragment => sql`
  m.source_id as "sourceId", p.name as source, m.outcome, m.message, m.external_id as "externalId",
  m.relevance, m.found, m.matched_at as "matchedAt", m.due_at is not null as "isDue",
  exists (
    select from external_reference x
    where x.${ownerId(sql, kind)} = m.${ownerId(sql, kind)} and x.kind = 'id' and x.source = p.name
      and x.former is not null) as "isUndoable"`

/** Outcomes of matching a series or book, by source. */
export async function matchesOf(sql: Queryable, { kind, id }: Owner): Promise<SourceMatch[]> {
  const rows = await sql<SourceMatch[]>`
    select ${matchColumns(sql, kind)}
    from ${matchTable(sql, kind)} m join source p on p.id = m.source_id
    where m.${ownerId(sql, kind)} = ${id}
    order by p.name`
  return [...rows]
}

type Request = {
  kind: OwnerKind
  /** A query for their ids. */
  items: Fragment
  sources: readonly MatchingSource[]
  /** Even if the source states the same as last time. */
  isForced: boolean
}
export type MatchingSource = { row: StoredSource; matching: Matching }
/** `count` is the number of series and books. */
export type StartedMatching = { taskIds: string[]; count: number }

/** Enabled sources of metadata that take part in automatic matching of series or books. */
export async function matchingSources(sql: Queryable, kind: OwnerKind): Promise<MatchingSource[]> {
  const rows = (await enabledSources(sql)).filter(row => mayHaveMetadata(row, kind))
  const ids = rows.map(row => row.id)
  const matchings = await matchingsOf(sql, ids)
  return rows.flatMap(row => {
    const matching = matchings.get(row.id)
    return matching?.enabled ? [{ row, matching }] : []
  })
}

/** Makes series or books due, each with its library's sources, and sends a job for each library and source. */
export async function enqueueMatches(
  tx: Transaction,
  queue: Queue,
  { kind, items, sources, isForced }: Request,
): Promise<StartedMatching> {
  const taskIds: string[] = []
  let count = 0
  for (const { row, matching } of sources) {
    const { libraryIds } = matching
    const inScope = libraryIds ? tx`o.library_id = any(${libraryIds}::uuid[])` : tx`true`
    const id = ownerId(tx, kind)
    const libraries = await tx<{ id: string; count: number }[]>`
      with due as (
        insert into ${matchTable(tx, kind)} as m (${id}, source_id, due_at, forced)
        select o.id, ${row.id}, now(), ${isForced} from ${tx(kind)} o
        where o.id in (${items}) and ${inScope}
        order by o.id
        on conflict (${id}, source_id) do update
        set due_at = coalesce(m.due_at, now()), forced = m.forced or excluded.forced, attempts = 0
        returning m.${id} as id
      )
      select o.library_id as id, count(*)::integer as count
      from due join ${tx(kind)} o on o.id = due.id
      group by o.library_id order by o.library_id`
    for (const library of libraries) {
      const job = { libraryId: library.id, sourceId: row.id, kind }
      taskIds.push(...(await queue.send(tx, 'match', [job], { key: jobKey(job) })))
    }
    count = Math.max(
      count,
      libraries.reduce((sum, library) => sum + library.count, 0),
    )
  }
  return { taskIds, count }
}

const jobKey = ({ libraryId, sourceId, kind }: Jobs['match']) => `${libraryId}:${sourceId}:${kind}`

type Selection = { kind: OwnerKind; libraryId?: string; ids?: readonly string[] }

/** A query for visible series that have books, or for present books: those of a library, or with these ids. */
export function visibleSelection(
  sql: Queryable,
  viewer: Viewer,
  { kind, libraryId, ids }: Selection,
): Fragment {
  const isSelected = sql`
    ${libraryId ? sql`o.library_id = ${libraryId}` : sql`true`}
    and ${ids ? sql`o.id = any(${ids as string[]}::uuid[])` : sql`true`}`
  return kind === 'series'
    ? sql`
        select o.id from (select s.* from series s where ${visibleSeries(sql, viewer)}) o
        where ${isSelected}
          and exists (select from book b where b.series_id = o.id and ${presentBook(sql)})`
    : sql`
        select o.id
        from (
          select b.* from book b join series s on s.id = b.series_id
          where ${presentBook(sql)} and ${visibleBook(sql, viewer)}) o
        where ${isSelected} and ${ids ? sql`true` : isEbook(sql)}`
}

/** By themselves only ebooks are matched as books; comics are matched as series. */
const isEbook = (sql: Queryable) => sql`o.format in ('epub', 'pdf')`

/**
 * After a scan: series and books of the library that were never matched with a source, those without a match after a
 * week, and matched ones after a month; none whose match was undone.
 */
export async function enqueueAfterScan(
  sql: Sql,
  queue: Queue,
  libraryId: string,
): Promise<StartedMatching> {
  const started: StartedMatching = { taskIds: [], count: 0 }
  for (const kind of ['series', 'book'] as const)
    for (const source of await matchingSources(sql, kind)) {
      const { taskIds, count } = await sql.begin(tx => {
        const isPresent =
          kind === 'series' ? tx`o.book_count > 0` : tx`o.missing_at is null and ${isEbook(tx)}`
        const items = tx`
          select o.id from ${tx(kind)} o
          left join ${matchTable(tx, kind)} m
            on m.${ownerId(tx, kind)} = o.id and m.source_id = ${source.row.id}
          where o.library_id = ${libraryId} and ${isPresent} and m.due_at is null
            and m.outcome is distinct from 'undone'
            and (m.matched_at is null or m.matched_at < now() - case
              when m.outcome in ('matched', 'unchanged') then interval '30 days'
              else interval '7 days' end)`
        return enqueueMatches(tx, queue, { kind, items, sources: [source], isForced: false })
      })
      started.taskIds.push(...taskIds)
      started.count += count
    }
  return started
}

const claimedRetrySeconds = 5

type Claims = Jobs['match']
export type Claim = { id: string; isForced: boolean; attempts: number }

/** The next due series or books. Another process may claim them after ten minutes, or once they are postponed. */
export async function claimMatches(
  sql: Queryable,
  { libraryId, sourceId, kind }: Claims,
  limit: number,
): Promise<Claim[]> {
  const id = ownerId(sql, kind)
  // Materialized: as the inner side of a join it would be executed, and would claim, once per row.
  const rows = await sql<Claim[]>`
    with due as materialized (
      select d.${id} as id
      from ${matchTable(sql, kind)} d join ${sql(kind)} o on o.id = d.${id}
      where d.source_id = ${sourceId} and o.library_id = ${libraryId} and d.due_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
      order by d.due_at, d.${id}
      limit ${limit}
      for update of d skip locked
    )
    update ${matchTable(sql, kind)} m
    set claimed_until = now() + interval '10 minutes', attempts = m.attempts + 1
    from due
    where m.source_id = ${sourceId} and m.${id} = due.id
    returning m.${id} as id, m.forced as "isForced", m.attempts`
  return [...rows]
}

/** Seconds until the next one is due, a few while another process works on it; null when there is none. */
export async function secondsUntilDue(sql: Queryable, { libraryId, sourceId, kind }: Claims) {
  const [row] = await sql<{ seconds: number | null }[]>`
    select min(case when m.claimed_until > now() then ${claimedRetrySeconds}
      else extract(epoch from m.due_at - now()) end)::float8 as seconds
    from ${matchTable(sql, kind)} m join ${sql(kind)} o on o.id = m.${ownerId(sql, kind)}
    where m.source_id = ${sourceId} and o.library_id = ${libraryId} and m.due_at is not null`
  return row?.seconds ?? null
}

/** Stores the result of an attempt, after which the series or book is no longer due. */
export async function finishMatch(
  sql: Queryable,
  { owner: { kind, id }, sourceId }: { owner: Owner; sourceId: string },
  { outcome, message, externalId, relevance, found }: Omit<MatchResult, 'applied'>,
): Promise<void> {
  const column = ownerId(sql, kind)
  await sql`
    insert into ${matchTable(sql, kind)} as m
      (${column}, source_id, outcome, message, external_id, relevance, found, matched_at)
    select o.id, s.id, ${outcome}, ${message}, ${externalId}, ${relevance},
      ${found && sql.json(found)}, now()
    from ${sql(kind)} o, source s where o.id = ${id} and s.id = ${sourceId}
    on conflict (${column}, source_id) do update
    set due_at = null, claimed_until = null, forced = false, attempts = 0,
      outcome = excluded.outcome, message = excluded.message, external_id = excluded.external_id,
      relevance = excluded.relevance, found = excluded.found, matched_at = now()`
}

/** Releases the claims of those that were not matched; they are due again after `seconds`. */
export async function postponeMatches(
  sql: Queryable,
  { sourceId, kind }: Pick<Claims, 'sourceId' | 'kind'>,
  { claims, seconds }: { claims: readonly Claim[]; seconds: number },
): Promise<void> {
  await sql`
    update ${matchTable(sql, kind)}
    set claimed_until = null, due_at = now() + make_interval(secs => ${seconds}),
      attempts = greatest(0, attempts - 1)
    where source_id = ${sourceId} and ${ownerId(sql, kind)} = any(${claims.map(claim => claim.id)}::uuid[])`
}

/** Ends all due matches of a source that must not be called. */
export async function dropMatches(
  sql: Queryable,
  { libraryId, sourceId, kind }: Claims,
  outcome: MatchResult['outcome'],
): Promise<void> {
  await sql`
    update ${matchTable(sql, kind)} m
    set due_at = null, claimed_until = null, forced = false, attempts = 0, outcome = ${outcome},
      matched_at = now()
    from ${sql(kind)} o
    where o.id = m.${ownerId(sql, kind)} and o.library_id = ${libraryId} and m.source_id = ${sourceId}
      and m.due_at is not null`
}

/** Changed external ids may show that series are duplicates. */
export async function enqueueDedupeAfterMatch(sql: Queryable, queue: Queue, libraryId: string) {
  if (await fetchSetting(sql, 'deduplication.enabled'))
    await queue.send(sql, 'dedupe', [{ libraryId }], { key: 'all', afterSeconds: 30 })
}
