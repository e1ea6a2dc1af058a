// Matching a series or book with a source: search, fetch, comparison, and the automatic choice of the best hit.
import type { Viewer } from '../accounts/viewer.ts'
import { Failure, Invalid } from '../base/errors.ts'
import { isOwnedBy, type NewCover } from '../catalog/cover/cover.ts'
import type { CoverFolders } from '../catalog/cover/cover-files.ts'
import { removeSourceCover, setSourceCover } from '../catalog/cover/source-cover.ts'
import type { Owner, OwnerKind } from '../catalog/owner.ts'
import type {
  BookHit,
  BookQuery,
  FetchedBook,
  FetchedSeries,
  SearchQuery,
  SeriesHit,
  Source,
} from '../sources/contract.ts'
import type { Sources } from '../sources/open.ts'
import { callSource, describeSource } from '../sources/stored/call.ts'
import { type StoredSource, storedSource } from '../sources/stored/source.ts'
import type { Sql } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { applyFetched, type Comparison, compareFetched } from './apply.ts'
import { compileConditions } from './condition.ts'
import type { MatchedField } from './fields.ts'
import { bookQueryOf, firstYearOf, type MatchContext, seriesQueryOf } from './match-context.ts'
import { finishMatch } from './match-queue.ts'
import { higherSources, type Matching } from './matching-settings.ts'
import { type Applied, foundIn, foundOf, type MatchResult, resultOf } from './outcome.ts'
import { nearestOf, otherBookQueries } from './search-queries.ts'
import { undoMatch } from './undo.ts'

export type MatchDeps = {
  sql: Sql
  sources: Sources
  viewer: Viewer
  folders: CoverFolders
  /** Decodes an image within the limits of uploads. Throws Failure. */
  makeCover: (original: Buffer) => Promise<NewCover>
  signal: AbortSignal
}

export type MatchSource = { row: StoredSource; matching: Matching }

const maxCoverBytes = 20 * 1024 * 1024

/** Best first. Throws SourceFailure, Invalid. */
export async function searchSeries(
  { sql, sources, signal }: MatchDeps,
  { row }: MatchSource,
  query: SearchQuery,
): Promise<SeriesHit[]> {
  const call = (source: Source) => {
    if (!source.searchSeries) throw withoutMetadata(row, 'series')
    return source.searchSeries(query, { signal })
  }
  return await callSource({ sql, sources }, row, { operation: 'searchSeries', call })
}

/** Best first. Throws SourceFailure, Invalid. */
export async function searchBooks(
  { sql, sources, signal }: MatchDeps,
  { row }: MatchSource,
  query: BookQuery,
): Promise<BookHit[]> {
  const call = (source: Source) => {
    if (!source.searchBooks) throw withoutMetadata(row, 'book')
    return source.searchBooks(query, { signal })
  }
  return await callSource({ sql, sources }, row, { operation: 'searchBooks', call })
}

/** Like `searchBooks`; what is not found by its own title is searched for by other readings of it. */
export async function searchOwnBook(
  deps: MatchDeps,
  source: MatchSource,
  query: BookQuery,
): Promise<{ query: BookQuery; hits: BookHit[] }> {
  for (const reading of [query, ...otherBookQueries(query)]) {
    const hits = await searchBooks(deps, source, reading)
    if (hits.length > 0) return { query: reading, hits }
  }
  return { query, hits: [] }
}

/** Null if there is no such series or book. Throws SourceFailure, Invalid. */
export async function fetchFromSource(
  { sql, sources, signal }: MatchDeps,
  { row }: MatchSource,
  { kind, externalId }: { kind: OwnerKind; externalId: string },
): Promise<FetchedSeries | FetchedBook | null> {
  const operation = kind === 'series' ? 'fetchSeries' : 'fetchBook'
  const call = (source: Source) => {
    const fetch = source[operation]
    if (!fetch) throw withoutMetadata(row, kind)
    return fetch(externalId, { signal })
  }
  return await callSource({ sql, sources }, row, { operation, call })
}

/** Describes an enabled source that was never called, because its capabilities are unknown. Throws NotFound, SourceFailure. */
export async function describedSource(
  { sql, sources, signal }: Pick<MatchDeps, 'sql' | 'sources' | 'signal'>,
  id: string,
): Promise<StoredSource> {
  const row = await storedSource(sql, id)
  const { fetchSeries, fetchBook } = sources.open(row)
  if (!row.enabled || fetchSeries || fetchBook || row.description !== null) return row
  await describeSource({ sql, sources }, row, signal)
  return await storedSource(sql, id)
}

const withoutMetadata = ({ displayName }: StoredSource, kind: OwnerKind) =>
  new Invalid(`${displayName} has no metadata of ${kind === 'series' ? 'series' : 'books'}`)

export type Fetched = {
  owner: Owner
  fetched: FetchedSeries | FetchedBook
  /** Null for all fields. */
  selected: MatchedField[] | null
  /** Names of sources whose values stay; none if a person applies. */
  higher?: ReadonlySet<string>
}

/** What would change. Throws NotFound. */
export async function previewFetched(
  { sql, viewer }: MatchDeps,
  source: MatchSource,
  fetched: Fetched,
): Promise<Comparison> {
  return await retryOnDeadlock(sql, tx => compareFetched(tx, viewer, toFetch(source, fetched)))
}

/** Stores the values. Null if the source states the same as last time, unless forced. Throws NotFound. */
export async function storeFetched(
  deps: MatchDeps,
  source: MatchSource,
  { isForced, ...fetched }: Fetched & { isForced: boolean },
): Promise<Applied | null> {
  const { sql, viewer } = deps
  const fetch = { ...toFetch(source, fetched), isForced }
  const comparison = await retryOnDeadlock(sql, tx => applyFetched(tx, viewer, fetch))
  if (comparison.isUnchanged && !isForced) return null
  return { ...comparison, cover: await storeCover(deps, source, fetched) }
}

const toFetch = (
  { row, matching }: MatchSource,
  { owner, fetched, selected, higher = new Set() }: Fetched,
) => ({
  ...{ owner, fetched, source: row.name },
  permitted: { fields: matching.fields, selected, higher },
})

async function storeCover(
  { sql, sources, viewer, folders, makeCover, signal }: MatchDeps,
  source: MatchSource,
  { owner, fetched: { coverUrl }, selected, higher }: Fetched,
): Promise<Applied['cover']> {
  const { fields } = source.matching
  const isWanted = (list: MatchedField[] | null) => list === null || list.includes('cover')
  if (coverUrl === null || !isWanted(fields) || !isWanted(selected)) return 'none'
  const [row] = await sql<{ isLocked: boolean; source: string | null }[]>`
    select 'cover' = any(o.locks) as "isLocked", c.source
    from ${sql(owner.kind)} o left join cover c on ${isOwnedBy(sql, owner)} and c.is_selected
    where o.id = ${owner.id}`
  if (row?.isLocked !== false) return 'locked'
  if (row.source !== null && higher?.has(row.source)) return 'none'
  try {
    const { status, body } = await sources.http.send({
      ...{ url: coverUrl, accept: 'image/*', maxBytes: maxCoverBytes, signal },
    })
    if (status !== 200) return 'failed'
    const cover = await makeCover(body)
    const named = { folders, cover, source: source.row.name }
    return (await setSourceCover(sql, { viewer, owner }, named)) ? 'set' : 'locked'
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) return 'failed'
    throw error
  }
}

type AutoMatch = {
  context: MatchContext
  /** Minimum relevance for a hit to be a match. */
  minRelevance: number
  /** Even if the source states the same as last time. */
  isForced: boolean
  /** Only finds what would be applied: `matched` without changing anything. */
  isDryRun?: boolean
}

/** Finds the series or book on the source by its external id or as the best hit, and applies it. Throws SourceFailure, Invalid, NotFound. */
export async function autoMatch(
  deps: MatchDeps,
  source: MatchSource,
  { context, minRelevance, isForced, isDryRun = false }: AutoMatch,
): Promise<MatchResult> {
  const { row, matching } = source
  const { owner, own, series, library } = context
  if (library.conditions && !compileConditions(library.conditions)(series))
    return resultOf('library_conditions_not_met')
  if (matching.conditions && !compileConditions(matching.conditions)(series))
    return resultOf('plugin_conditions_not_met')
  const known = own.externalIds?.[row.name]
  let externalId = matching.usesExternalIds ? (known?.id ?? null) : null
  const hit = externalId === null ? await bestHit(deps, source, context) : null
  externalId ??= hit?.externalId ?? null
  if (externalId === null) return resultOf('no_match')
  const relevance = hit?.relevance ?? null
  const notes = { externalId, relevance, found: hit && foundOf(hit) }
  if (relevance !== null && relevance < minRelevance) return resultOf('low_confidence', notes)
  if (isDryRun) return resultOf('matched', notes)
  const fetched = await fetchFromSource(deps, source, { kind: owner.kind, externalId })
  if (!fetched) return resultOf('no_match', notes)
  const higher = await higherSources(deps.sql, matching)
  const match = { owner, fetched, selected: null, higher, isForced }
  const applied = await storeFetched(deps, source, match)
  const found = notes.found ?? foundIn(fetched)
  return resultOf(applied ? 'matched' : 'unchanged', { ...notes, found, applied })
}

/** Null without a hit, or nothing to search for. */
async function bestHit(deps: MatchDeps, source: MatchSource, context: MatchContext) {
  const { matching } = source
  if (context.owner.kind === 'series') {
    const query = seriesQueryOf(context, matching, 10)
    if (query === null) return null
    const hits = await searchSeries(deps, source, query)
    return nearestOf(hits, await firstYearOf(deps.sql, context.series))
  }
  const query = bookQueryOf(context, matching, 10)
  return query && ((await searchOwnBook(deps, source, query)).hits[0] ?? null)
}

/** Undoes a match with a source, its cover included; the source no longer matches by itself. Throws NotFound. */
export async function undo(
  { sql, viewer, folders }: Pick<MatchDeps, 'sql' | 'viewer' | 'folders'>,
  { row }: Pick<MatchSource, 'row'>,
  owner: Owner,
): Promise<MatchedField[]> {
  const source = row.name
  const fields = await retryOnDeadlock(sql, async tx => {
    const restored = await undoMatch(tx, viewer, { owner, source })
    await finishMatch(tx, { owner, sourceId: row.id }, resultOf('undone'))
    return restored
  })
  const hadCover = await removeSourceCover(sql, { viewer, owner }, { folders, source })
  return hadCover ? [...fields, 'cover'] : fields
}
