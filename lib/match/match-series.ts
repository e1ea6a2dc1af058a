// Matching a series with a source: search, fetch, comparison, and the automatic choice of the best hit.
import type { Viewer } from '../accounts/viewer.ts'
import { Failure, Invalid } from '../base/errors.ts'
import type { NewCover } from '../catalog/cover/cover.ts'
import type { CoverFolders } from '../catalog/cover/cover-files.ts'
import { setSourceCover } from '../catalog/cover/source-cover.ts'
import type { SeriesContext } from '../catalog/metadata/template-context.ts'
import type { FetchedSeries, SeriesHit, Source } from '../sources/contract.ts'
import type { Sources } from '../sources/open.ts'
import { callSource, describeSource } from '../sources/stored/call.ts'
import { type StoredSource, storedSource } from '../sources/stored/source.ts'
import type { Sql } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { applyFetched, type Comparison, compareFetched } from './apply.ts'
import { compileConditions } from './condition.ts'
import {
  compileQuery,
  type MatchedField,
  type Matching,
  type SeriesLibrary,
} from './matching-settings.ts'

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
export async function searchSource(
  { sql, sources, signal }: MatchDeps,
  { row }: MatchSource,
  query: { query: string; limit: number },
): Promise<SeriesHit[]> {
  const call = (source: Source) => {
    if (!source.searchSeries) throw withoutMetadata(row)
    return source.searchSeries(query, { signal })
  }
  return await callSource({ sql, sources }, row, { operation: 'searchSeries', call })
}

/** Null if there is no such series. Throws SourceFailure, Invalid. */
export async function fetchFromSource(
  { sql, sources, signal }: MatchDeps,
  { row }: MatchSource,
  externalId: string,
): Promise<FetchedSeries | null> {
  const call = (source: Source) => {
    if (!source.fetchSeries) throw withoutMetadata(row)
    return source.fetchSeries(externalId, { signal })
  }
  return await callSource({ sql, sources }, row, { operation: 'fetchSeries', call })
}

/** Describes an enabled source that was never called, because its capabilities are unknown. Throws NotFound, SourceFailure. */
export async function describedSource(
  { sql, sources, signal }: Pick<MatchDeps, 'sql' | 'sources' | 'signal'>,
  id: string,
): Promise<StoredSource> {
  const row = await storedSource(sql, id)
  if (!row.enabled || sources.open(row).fetchSeries || row.description !== null) return row
  await describeSource({ sql, sources }, row, signal)
  return await storedSource(sql, id)
}

const withoutMetadata = ({ displayName }: StoredSource) =>
  new Invalid(`${displayName} has no series metadata`)

export type Fetched = {
  seriesId: string
  fetched: FetchedSeries
  /** Null for all fields. */
  selected: MatchedField[] | null
}

/** `cover`: whether the source's cover is now displayed; if it fails, the rest still succeeds. */
export type Applied = Comparison & { cover: 'none' | 'set' | 'locked' | 'failed' }

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

const toFetch = ({ row, matching }: MatchSource, { seriesId, fetched, selected }: Fetched) => ({
  ...{ seriesId, fetched, source: row.name },
  permitted: { fields: matching.fields, selected },
})

async function storeCover(
  { sql, sources, viewer, folders, makeCover, signal }: MatchDeps,
  { row, matching: { fields } }: MatchSource,
  { seriesId, fetched: { coverUrl }, selected }: Fetched,
): Promise<Applied['cover']> {
  const isWanted = (list: MatchedField[] | null) => list === null || list.includes('cover')
  if (coverUrl === null || !isWanted(fields) || !isWanted(selected)) return 'none'
  const [series] = await sql<{ isLocked: boolean }[]>`
    select 'cover' = any(locks) as "isLocked" from series where id = ${seriesId}`
  if (series?.isLocked !== false) return 'locked'
  try {
    const { status, body } = await sources.http.send({
      ...{ url: coverUrl, accept: 'image/*', maxBytes: maxCoverBytes, signal },
    })
    if (status !== 200) return 'failed'
    const cover = await makeCover(body)
    const owned = { viewer, owner: { kind: 'series', id: seriesId } } as const
    return (await setSourceCover(sql, owned, { folders, cover, source: row.name }))
      ? 'set'
      : 'locked'
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Failure) return 'failed'
    throw error
  }
}

export const outcomes = [
  'matched',
  'unchanged',
  'no_match',
  'low_confidence',
  'library_conditions_not_met',
  'plugin_conditions_not_met',
  'plugin_not_found',
  'plugin_disabled',
  'failed',
] as const
export type Outcome = (typeof outcomes)[number]

export type MatchResult = {
  outcome: Outcome
  message: string | null
  externalId: string | null
  /** Relevance of the best hit; null without a search. */
  relevance: number | null
  /** Result of a match. */
  applied: Applied | null
}

type AutoMatch = {
  seriesId: string
  context: SeriesContext
  library: SeriesLibrary
  /** Minimum relevance for a hit to be a match. */
  minRelevance: number
  /** Even if the source states the same as last time. */
  isForced: boolean
}

const resultOf = (outcome: Outcome, notes: Partial<MatchResult> = {}): MatchResult => ({
  ...{ message: null, externalId: null, relevance: null, applied: null },
  outcome,
  ...notes,
})

/** Finds the series on the source by its external id or as the best hit, and applies it. Throws SourceFailure, Invalid, NotFound. */
export async function autoMatch(
  deps: MatchDeps,
  source: MatchSource,
  { seriesId, context, library, minRelevance, isForced }: AutoMatch,
): Promise<MatchResult> {
  const { row, matching } = source
  if (library.conditions && !compileConditions(library.conditions)(context))
    return resultOf('library_conditions_not_met')
  if (matching.conditions && !compileConditions(matching.conditions)(context))
    return resultOf('plugin_conditions_not_met')
  const known = context.externalIds?.[row.name]
  let externalId = matching.usesExternalIds ? (known?.id ?? null) : null
  let relevance: number | null = null
  if (externalId === null) {
    const query = compileQuery(matching)(context, library)
    const [hit] = query === '' ? [] : await searchSource(deps, source, { query, limit: 10 })
    if (!hit) return resultOf('no_match')
    relevance = hit.relevance
    if (relevance < minRelevance)
      return resultOf('low_confidence', { relevance, externalId: hit.externalId })
    externalId = hit.externalId
  }
  const fetched = await fetchFromSource(deps, source, externalId)
  if (!fetched) return resultOf('no_match', { relevance, externalId })
  const applied = await storeFetched(deps, source, { seriesId, fetched, selected: null, isForced })
  return resultOf(applied ? 'matched' : 'unchanged', { relevance, externalId, applied })
}
