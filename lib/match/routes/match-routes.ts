// Series metadata from sources: search, comparison, application, automatic matching of one series.
import type { Viewer } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import {
  body,
  component,
  ErrorBody,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  optional,
  record,
  type Static,
  Type,
  text,
  uuid,
} from '../../base/schema.ts'
import { coverFolders } from '../../catalog/cover/cover-files.ts'
import { createCover } from '../../catalog/cover/routes/covers.ts'
import { seriesContext } from '../../catalog/metadata/template-context.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import type { Deps } from '../../http/deps.ts'
import { SeriesId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { type FetchedSeries, SeriesHit } from '../../sources/contract.ts'
import { enabledSources } from '../../sources/stored/source.ts'
import { fetchSetting } from '../../store/setting/setting.ts'
import { enqueueDedupeAfterMatch, finishMatch, matchesOf, SeriesMatch } from '../match-queue.ts'
import {
  type Applied,
  autoMatch,
  describedSource,
  fetchFromSource,
  type MatchDeps,
  type MatchSource,
  outcomes,
  previewFetched,
  searchSource,
  storeFetched,
} from '../match-series.ts'
import {
  compileQuery,
  defaultMatching,
  librariesOf,
  type MatchedField,
  matchedFields,
  matchingOf,
} from '../matching-settings.ts'
import { AppliedMetadata, MetadataSourceList, SeriesComparison } from './match-schema.ts'

const sourceId = uuid({
  aliases: ['pluginId', 'plugin_id'],
  description: 'Source id from GET /metadata/sources.',
})
const externalId = name(500, { description: 'Id of the series on the source.' })
const access = { params: SeriesId, permission: 'SeriesWrite' } as const
const failures = { 502: ErrorBody }

type Handled = { viewer: Viewer; signal: AbortSignal }

function depsOf({ viewer, signal }: Handled, deps: Deps): MatchDeps {
  const { sql, sources, config } = deps
  const client = { accountId: viewer.accountId, signal }
  return {
    ...{ sql, sources, viewer, signal, folders: coverFolders(config.data_dir) },
    makeCover: original => createCover(original, { ...deps, client }),
  }
}

/** Throws NotFound. */
async function sourceOf(
  { sql, sources }: Deps,
  id: string,
  signal: AbortSignal,
): Promise<MatchSource> {
  const row = await describedSource({ sql, sources, signal }, id)
  return { row, matching: await matchingOf(sql, id) }
}

type Fetch = { seriesId: string; source: MatchSource; externalId: string }

/** Throws NotFound for a hidden series, and for one that the source does not have. */
async function fetchFor(deps: MatchDeps, { seriesId, source, externalId }: Fetch) {
  await requireSeries(deps.sql, deps.viewer, seriesId)
  const fetched = await fetchFromSource(deps, source, externalId)
  if (!fetched) throw new NotFound('The source has no such series')
  return fetched
}

const comparisonOf = (
  { row }: MatchSource,
  { externalId, url, coverUrl }: Static<typeof FetchedSeries>,
) => ({ sourceId: row.id, externalId, url, coverUrl })

function appliedOf(applied: Omit<Applied, 'cover'> & { cover?: Applied['cover'] }) {
  const { fields, cover = 'none' } = applied
  const changed = fields.filter(({ action }) => action === 'change')
  return {
    ...applied,
    appliedFields: [
      ...changed.map(({ field }) => field),
      ...(cover === 'set' ? ['cover' as const] : []),
    ],
    skippedFields: fields.flatMap(({ field, action }) =>
      action === 'change' || action === 'same' ? [] : [{ field, reason: action }],
    ),
    cover,
  }
}

export const matchRoutes = [
  route('GET /metadata/sources', {
    operationId: 'listMetadataSources',
    permission: 'SeriesRead',
    summary: 'List the metadata sources that can be searched',
    responses: { 200: MetadataSourceList },
    async handle(_input, { sql, sources }) {
      const rows = await enabledSources(sql)
      return { sources: rows.filter(row => sources.open(row).fetchSeries !== undefined) }
    },
  }),
  route('GET /series/{id}/metadata/search-title', {
    operationId: 'getSeriesSearchTitle',
    permission: 'SeriesRead',
    // For one series only.
    cost: 'record',
    summary: 'Get the text for searching a source for a series',
    description: 'Without a source, the text for a source without settings.',
    params: SeriesId,
    query: record({ sourceId: maybe(sourceId) }),
    responses: {
      200: component('SearchTitle', { title: Type.String(), searchTitle: Type.String() }),
    },
    async handle({ params: { id }, query, viewer }, { sql }) {
      const context = await seriesContext(sql, viewer, id)
      const matching = query.sourceId ? await matchingOf(sql, query.sourceId) : defaultMatching
      const library = (await librariesOf(sql, [id])).get(id)!
      const searchTitle = compileQuery(matching)(context, library)
      return { title: context.metadata.title!, searchTitle }
    },
  }),
  route('POST /series/{id}/metadata/search', {
    ...access,
    operationId: 'searchSeriesMetadata',
    summary: 'Search a source for a series',
    description:
      'Without a query, searches for the text of GET /series/{id}/metadata/search-title.',
    body: body('MetadataSearch', {
      sourceId,
      query: optional(text(500)),
      limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    }),
    responses: {
      200: component('MetadataSearchResults', { query: Type.String(), results: list(SeriesHit) }),
      ...failures,
    },
    async handle({ params: { id }, body, viewer, signal }, deps) {
      const context = await seriesContext(deps.sql, viewer, id)
      const source = await sourceOf(deps, body.sourceId, signal)
      const library = (await librariesOf(deps.sql, [id])).get(id)!
      const query = body.query?.trim() || compileQuery(source.matching)(context, library)
      if (query === '') return { query, results: [] }
      const search = { query, limit: body.limit ?? 10 }
      const results = await searchSource(depsOf({ viewer, signal }, deps), source, search)
      return { query, results }
    },
  }),
  route('POST /series/{id}/metadata/preview', {
    ...access,
    operationId: 'previewSeriesMetadata',
    summary: 'Compare a series with its metadata on a source',
    description: 'Field by field; changes nothing.',
    body: body('MetadataPreviewRequest', { sourceId, externalId }),
    responses: { 200: SeriesComparison, ...failures },
    async handle({ params: { id: seriesId }, body, viewer, signal }, deps) {
      const matchDeps = depsOf({ viewer, signal }, deps)
      const source = await sourceOf(deps, body.sourceId, signal)
      const fetched = await fetchFor(matchDeps, { seriesId, source, externalId: body.externalId })
      const match = { seriesId, fetched, selected: null }
      return {
        ...comparisonOf(source, fetched),
        ...(await previewFetched(matchDeps, source, match)),
      }
    },
  }),
  route('POST /series/{id}/metadata/apply', {
    ...access,
    operationId: 'applySeriesMetadata',
    summary: 'Apply metadata from a source to a series',
    description:
      'Locked fields and fields set by a user do not change, and nothing is cleared. Applied fields are not locked, but scans leave them unchanged.',
    body: body('MetadataApplyRequest', {
      sourceId,
      externalId,
      fields: optional(
        list(oneOf(matchedFields), {
          maxItems: matchedFields.length,
          description: 'Fields to apply; null for all.',
        }),
      ),
      dryRun: maybe(
        Type.Boolean({ default: false, description: 'Whether to only show what would change.' }),
      ),
    }),
    responses: { 200: AppliedMetadata, ...failures },
    async handle({ params: { id: seriesId }, body, viewer, signal }, deps) {
      const matchDeps = depsOf({ viewer, signal }, deps)
      const source = await sourceOf(deps, body.sourceId, signal)
      const fetched = await fetchFor(matchDeps, { seriesId, source, externalId: body.externalId })
      const selected = (body.fields ?? null) as MatchedField[] | null
      const match = { seriesId, fetched, selected }
      const isDryRun = body.dryRun === true
      const applied = isDryRun
        ? await previewFetched(matchDeps, source, match)
        : await storeFetched(matchDeps, source, { ...match, isForced: true })
      const library = (await librariesOf(deps.sql, [seriesId])).get(seriesId)
      if (!isDryRun && library) await enqueueDedupeAfterMatch(deps.sql, deps.queue, library.id)
      return { ...comparisonOf(source, fetched), ...appliedOf(applied!), isDryRun }
    },
  }),
  route('POST /series/{id}/metadata/auto-match', {
    ...access,
    operationId: 'autoMatchSeries',
    summary: 'Match a series with a source',
    description:
      'Uses the external id, otherwise the best hit of a search, if the conditions of the library and the source hold. Metadata is applied as by /metadata/apply.',
    body: body('AutoMatchRequest', { sourceId }),
    responses: {
      200: component('AutoMatchResult', {
        outcome: oneOf(outcomes),
        externalId: nullable(Type.String()),
        relevance: nullable(Type.Number()),
        appliedFields: list(oneOf(matchedFields)),
      }),
      ...failures,
    },
    async handle({ params: { id: seriesId }, body, viewer, signal }, deps) {
      const { sql, queue } = deps
      const context = await seriesContext(sql, viewer, seriesId)
      const source = await sourceOf(deps, body.sourceId, signal)
      const library = (await librariesOf(sql, [seriesId])).get(seriesId)!
      const minRelevance = await fetchSetting(sql, 'plugins.auto_match_confidence_threshold')
      const match = { seriesId, context, library, minRelevance, isForced: true }
      const result = await autoMatch(depsOf({ viewer, signal }, deps), source, match)
      await finishMatch(sql, { seriesId, sourceId: source.row.id }, result)
      if (result.outcome === 'matched') await enqueueDedupeAfterMatch(sql, queue, library.id)
      const { outcome, externalId, relevance, applied } = result
      const { appliedFields } = appliedOf(applied ?? { fields: [], hash: '', isUnchanged: false })
      return { outcome, externalId, relevance, appliedFields }
    },
  }),
  route('GET /series/{id}/metadata/matches', {
    // Failure messages name hosts.
    ...access,
    operationId: 'listSeriesMatches',
    // One row per source.
    cost: 'record',
    summary: 'List the match results of a series by source',
    responses: { 200: component('SeriesMatchList', { matches: list(SeriesMatch) }) },
    async handle({ params: { id }, viewer }, { sql }) {
      await requireSeries(sql, viewer, id)
      return { matches: await matchesOf(sql, id) }
    },
  }),
]
