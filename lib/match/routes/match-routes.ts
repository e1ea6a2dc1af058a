// Metadata of series and books from sources: comparison, application, undo, automatic matching of one.
import {
  body,
  component,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  optional,
  Type,
} from '../../base/schema.ts'
import { requireOwner } from '../../catalog/owner.ts'
import { ofBook, ofSeries } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import type { FetchedBook, FetchedSeries } from '../../sources/contract.ts'
import { storedSource } from '../../sources/stored/source.ts'
import { fetchSetting } from '../../store/setting/setting.ts'
import { type MatchedField, matchedFields } from '../fields.ts'
import { matchContext } from '../match-context.ts'
import { enqueueDedupeAfterMatch, finishMatch, matchesOf, SourceMatch } from '../match-queue.ts'
import { autoMatch, type MatchSource, previewFetched, storeFetched, undo } from '../matching.ts'
import { type Applied, FoundHit, foundIn, outcomes, resultOf } from '../outcome.ts'
import { AppliedMetadata, MetadataComparison } from './match-schema.ts'
import { failures, fetchFor, matchDepsOf, matchSource, sourceId } from './request.ts'

const externalId = name(500, { description: 'Id of the series or book on the source.' })

const dryRun = maybe(
  Type.Boolean({ default: false, description: 'Whether to only show what would change.' }),
)

const PreviewRequest = body('MetadataPreviewRequest', { sourceId, externalId })
const ApplyRequest = body('MetadataApplyRequest', {
  sourceId,
  externalId,
  fields: optional(
    list(oneOf(matchedFields), {
      maxItems: matchedFields.length,
      description: 'Fields to apply; null for all.',
    }),
  ),
  dryRun,
})
const OneSource = body('UndoMatchRequest', { sourceId })
const AutoMatchRequest = body('AutoMatchRequest', { sourceId, dryRun })
const AutoMatchResult = component('AutoMatchResult', {
  outcome: oneOf(outcomes),
  externalId: nullable(Type.String()),
  relevance: nullable(Type.Number()),
  found: nullable(FoundHit),
  isDryRun: Type.Boolean(),
  appliedFields: list(oneOf(matchedFields)),
})
const Matches = component('SourceMatchList', { matches: list(SourceMatch) })
const UndoneMatch = component('UndoneMatch', {
  restoredFields: list(oneOf(matchedFields), { description: 'Fields with their former values.' }),
})

const comparisonOf = (
  { row }: MatchSource,
  { externalId, url, coverUrl }: FetchedSeries | FetchedBook,
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

type Resource = typeof ofBook | typeof ofSeries

function applyRoutes({ kind, path, params, ownerName, write }: Resource) {
  const access = { params, permission: write } as const
  return [
    route(`POST ${path}/metadata/preview`, {
      ...access,
      operationId: `preview${ownerName}Metadata`,
      summary: `Compare a ${kind} with its metadata on a source`,
      description: 'Field by field; changes nothing.',
      body: PreviewRequest,
      responses: { 200: MetadataComparison, ...failures },
      async handle({ params: { id }, body, viewer, signal }, deps) {
        const owner = { kind, id }
        const matchDeps = matchDepsOf({ viewer, signal }, deps)
        const source = await matchSource(deps, body.sourceId, signal)
        const fetched = await fetchFor(matchDeps, { owner, source, externalId: body.externalId })
        const match = { owner, fetched, selected: null }
        return {
          ...comparisonOf(source, fetched),
          ...(await previewFetched(matchDeps, source, match)),
        }
      },
    }),
    route(`POST ${path}/metadata/apply`, {
      ...access,
      operationId: `apply${ownerName}Metadata`,
      summary: `Apply metadata from a source to a ${kind}`,
      description:
        'Locked fields and fields set by a user do not change, and nothing is cleared. Applied fields are not locked, but scans leave them unchanged.',
      body: ApplyRequest,
      responses: { 200: AppliedMetadata, ...failures },
      async handle({ params: { id }, body, viewer, signal }, deps) {
        const owner = { kind, id }
        const { sql, queue } = deps
        const matchDeps = matchDepsOf({ viewer, signal }, deps)
        const source = await matchSource(deps, body.sourceId, signal)
        const fetched = await fetchFor(matchDeps, { owner, source, externalId: body.externalId })
        const match = { owner, fetched, selected: (body.fields ?? null) as MatchedField[] | null }
        const of = comparisonOf(source, fetched)
        if (body.dryRun === true) {
          const compared = await previewFetched(matchDeps, source, match)
          return { ...of, ...appliedOf(compared), isDryRun: true }
        }
        const applied = await storeFetched(matchDeps, source, { ...match, isForced: true })
        const found = foundIn(fetched)
        const matched = resultOf('matched', { externalId: fetched.externalId, found })
        await finishMatch(sql, { owner, sourceId: source.row.id }, matched)
        const { libraryId } = await requireOwner(sql, { viewer, owner })
        if (kind === 'series') await enqueueDedupeAfterMatch(sql, queue, libraryId)
        return { ...of, ...appliedOf(applied!), isDryRun: false }
      },
    }),
  ]
}

function matchingRoutes({ kind, path, params, ownerName, write }: Resource) {
  const access = { params, permission: write } as const
  return [
    route(`POST ${path}/metadata/undo`, {
      ...access,
      operationId: `undo${ownerName}Match`,
      summary: `Undo the match of a ${kind} with a source`,
      description:
        'Its fields get the values from before the source first changed them, unless a user, a file or another source has set them since; its cover, external id and references are removed. The source no longer matches it automatically.',
      body: OneSource,
      responses: { 200: UndoneMatch },
      async handle({ params: { id }, body, viewer, signal }, deps) {
        const row = await storedSource(deps.sql, body.sourceId)
        const matchDeps = matchDepsOf({ viewer, signal }, deps)
        return { restoredFields: await undo(matchDeps, { row }, { kind, id }) }
      },
    }),
    route(`POST ${path}/metadata/auto-match`, {
      ...access,
      operationId: `autoMatch${ownerName}`,
      summary: `Match a ${kind} with a source`,
      description:
        'Uses the external id, otherwise the best hit of a search, if the conditions of the library and the source hold. Metadata is applied as by /metadata/apply. A dry run only searches.',
      body: AutoMatchRequest,
      responses: { 200: AutoMatchResult, ...failures },
      async handle({ params: { id }, body, viewer, signal }, deps) {
        const { sql, queue } = deps
        const owner = { kind, id }
        const context = await matchContext(sql, viewer, owner)
        const source = await matchSource(deps, body.sourceId, signal)
        const minRelevance = await fetchSetting(sql, 'plugins.auto_match_confidence_threshold')
        const isDryRun = body.dryRun === true
        const match = { context, minRelevance, isForced: true, isDryRun }
        const result = await autoMatch(matchDepsOf({ viewer, signal }, deps), source, match)
        const { outcome, externalId, relevance, found, applied } = result
        if (isDryRun) return { outcome, externalId, relevance, found, isDryRun, appliedFields: [] }
        await finishMatch(sql, { owner, sourceId: source.row.id }, result)
        if (outcome === 'matched' && kind === 'series')
          await enqueueDedupeAfterMatch(sql, queue, context.library.id)
        const { appliedFields } = appliedOf(applied ?? { fields: [], hash: '', isUnchanged: false })
        return { outcome, externalId, relevance, found, isDryRun, appliedFields }
      },
    }),
    route(`GET ${path}/metadata/matches`, {
      // Failure messages name hosts.
      ...access,
      operationId: `list${ownerName}Matches`,
      // One row per source.
      cost: 'record',
      summary: `List the match results of a ${kind} by source`,
      responses: { 200: Matches },
      async handle({ params: { id }, viewer }, { sql }) {
        const owner = { kind, id }
        await requireOwner(sql, { viewer, owner })
        return { matches: await matchesOf(sql, owner) }
      },
    }),
  ]
}

export const matchRoutes = [ofSeries, ofBook].flatMap(resource => [
  ...applyRoutes(resource),
  ...matchingRoutes(resource),
])
