// Automatic matching in the background, for one series, several series or books, or a library; matching settings of sources.
import type { Viewer } from '../../accounts/viewer.ts'
import {
  body,
  component,
  list,
  maybe,
  oneOf,
  optional,
  record,
  Type,
  uuid,
} from '../../base/schema.ts'
import { requireLibrary } from '../../catalog/library/library.ts'
import type { OwnerKind } from '../../catalog/owner.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import type { Deps } from '../../http/deps.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { LibraryId, SeriesId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { WorkStarted, workStarted } from '../../http/started-work.ts'
import { bookIds, seriesIds, skipNote } from '../../organize/routes/bulk-ids.ts'
import { mayHaveMetadata } from '../../sources/open.ts'
import { storedSource } from '../../sources/stored/source.ts'
import { LibraryMatch, libraryMatches, OutcomeCount } from '../library-matches.ts'
import {
  enqueueMatches,
  type MatchingSource,
  matchingSources,
  visibleSelection,
} from '../match-queue.ts'
import { MatchingSettings, matchingOf, storeMatching } from '../matching-settings.ts'
import { outcomes } from '../outcome.ts'

const options = {
  sourceId: optional(
    uuid({
      aliases: ['pluginId', 'plugin_id'],
      description: 'Limits matching to this source; null for all enabled ones.',
    }),
  ),
  force: maybe(
    Type.Boolean({
      default: false,
      description: 'Whether to apply metadata even if the source states the same as last time.',
    }),
  ),
}
type Options = { sourceId?: string | null; force?: boolean }
const common = {
  permission: 'SeriesWrite',
  responses: { 200: WorkStarted },
} as const

async function sourcesOf(
  { sql }: Deps,
  kind: OwnerKind,
  id: string | null | undefined,
): Promise<MatchingSource[]> {
  if (!id) return await matchingSources(sql, kind)
  const row = await storedSource(sql, id)
  return mayHaveMetadata(row, kind) ? [{ row, matching: await matchingOf(sql, id) }] : []
}

type Selection = { kinds: readonly OwnerKind[]; libraryId?: string; ids?: readonly string[] }

async function start(deps: Deps, viewer: Viewer, selection: Selection, options: Options) {
  const { sql, queue } = deps
  const isForced = options.force === true
  const { kinds, ...of } = selection
  const started = { taskIds: [] as string[], count: 0 }
  for (const kind of kinds) {
    const sources = await sourcesOf(deps, kind, options.sourceId)
    const { taskIds, count } = await sql.begin(tx => {
      const items = visibleSelection(tx, viewer, { kind, ...of })
      return enqueueMatches(tx, queue, { kind, items, sources, isForced })
    })
    started.taskIds.push(...taskIds)
    started.count += count
  }
  const nouns = kinds.map(kind => (kind === 'series' ? 'series' : 'books'))
  return workStarted(started, `${nouns.join(' and ')} to be matched`)
}

const MatchesPage = component(
  'LibraryMatchPage',
  { ...paged(LibraryMatch).properties, counts: list(OutcomeCount) },
  { hasLinkHeader: true },
)
const SourceId = record({ id: uuid({ description: 'Source id.' }) })

export const matchTasks = [
  route('POST /series/{id}/metadata/auto-match/task', {
    ...common,
    operationId: 'startSeriesAutoMatch',
    summary: 'Match a series with sources in the background',
    params: SeriesId,
    body: body('AutoMatchTask', options),
    bodyOptional: true,
    async handle({ params: { id }, body, viewer }, deps) {
      await requireSeries(deps.sql, viewer, id)
      return await start(deps, viewer, { kinds: ['series'], ids: [id] }, body ?? {})
    },
  }),
  route('POST /series/metadata/auto-match/task/bulk', {
    ...common,
    operationId: 'startAutoMatchOfSeries',
    summary: 'Match several series with sources in the background',
    description: skipNote,
    body: body('AutoMatchTaskOfSeries', { seriesIds, ...options }),
    handle: ({ body: { seriesIds, ...options }, viewer }, deps) =>
      start(deps, viewer, { kinds: ['series'], ids: seriesIds }, options),
  }),
  route('POST /books/metadata/auto-match/task/bulk', {
    ...common,
    permission: 'BooksWrite',
    operationId: 'startAutoMatchOfBooks',
    summary: 'Match several books with sources in the background',
    description: skipNote,
    body: body('AutoMatchTaskOfBooks', { bookIds, ...options }),
    handle: ({ body: { bookIds, ...options }, viewer }, deps) =>
      start(deps, viewer, { kinds: ['book'], ids: bookIds }, options),
  }),
  route('POST /libraries/{id}/metadata/auto-match/task', {
    ...common,
    operationId: 'startLibraryAutoMatch',
    summary: 'Match all series and ebooks of a library with sources in the background',
    params: LibraryId,
    body: body('AutoMatchTask', options),
    bodyOptional: true,
    async handle({ params: { id }, body, viewer }, deps) {
      await requireLibrary(deps.sql, viewer, id)
      return await start(deps, viewer, { kinds: ['series', 'book'], libraryId: id }, body ?? {})
    },
  }),
  route('GET /libraries/{id}/metadata/matches', {
    operationId: 'listLibraryMatches',
    // Failure messages name hosts.
    permission: { all: ['SeriesWrite'], any: ['BooksWrite'] },
    summary: 'List the match results of the series or books of a library',
    description: 'Latest first, those that are due before them.',
    params: LibraryId,
    query: record({
      ...pageQuery,
      kind: maybe(
        oneOf(['series', 'book'], { default: 'series', description: 'What was matched.' }),
      ),
      sourceId: maybe(uuid({ description: 'Results of this source only.' })),
      outcome: maybe(oneOf(outcomes, { description: 'Results with this outcome only.' })),
    }),
    responses: { 200: MatchesPage },
    async handle({ params: { id }, query, viewer, request, reply }, { sql }) {
      await requireLibrary(sql, viewer, id)
      const { kind = 'series', sourceId = null, outcome = null } = query
      const page = paging(query)
      const { offset, pageSize } = page
      const { counts, ...found } = await libraryMatches(sql, viewer, {
        ...{ libraryId: id, kind, sourceId, outcome, offset, pageSize },
      })
      return { ...pageResponse({ request, reply, query }, { ...found, paging: page }), counts }
    },
  }),
  route('GET /admin/sources/{id}/matching', {
    operationId: 'getMatchingSettings',
    permission: 'PluginsManage',
    // For one source only.
    cost: 'record',
    summary: 'Get the matching settings of a source',
    params: SourceId,
    responses: { 200: MatchingSettings },
    handle: ({ params }, { sql }) => matchingOf(sql, params.id),
  }),
  route('PUT /admin/sources/{id}/matching', {
    operationId: 'replaceMatchingSettings',
    permission: 'PluginsManage',
    summary: 'Replace the matching settings of a source',
    description: 'Absent settings get their defaults.',
    params: SourceId,
    body: MatchingSettings,
    responses: { 200: MatchingSettings },
    handle: ({ params, body }, { sql }) => storeMatching(sql, params.id, body),
  }),
]
