// Releases announced by sources: the inbox with its facets, states, and the releases of one series.
import type { Viewer } from '../../accounts/viewer.ts'
import {
  body,
  component,
  count,
  list,
  maybe,
  oneOf,
  record,
  Type,
  text,
  uuid,
} from '../../base/schema.ts'
import { requireSeries } from '../../catalog/series/series-record.ts'
import {
  paged,
  pagedResponse,
  pageQuery,
  shortListQuery,
  shortListResponse,
} from '../../http/pagination.ts'
import { SeriesId } from '../../http/params.ts'
import { type Route, route } from '../../http/route.ts'
import { sortQuery } from '../../list/routes/list-routes.ts'
import { parseSort } from '../../list/sort.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { deleteReleases, setStates } from '../change-releases.ts'
import { inboxOf, markActions, markReleases } from '../following.ts'
import { listReleases, releaseFacets } from '../list-releases.ts'
import {
  actionStates,
  historyOf,
  Release,
  ReleaseChange,
  type ReleaseState,
  releaseActions,
  releaseById,
  releaseNotFound,
  releasesByIds,
  stateNamed,
  stateNames,
} from '../release-record.ts'

const ReleaseId = record({ id: uuid({ description: 'Release id.' }) })
const state = (preset: string) =>
  maybe(
    oneOf([...stateNames, 'all'], {
      default: preset,
      description: '`new` means announced, `ignored` means hidden.',
    }),
  )
const filterQuery = {
  state: state('announced'),
  seriesId: maybe(uuid({ description: 'Limits the list to this series.' })),
  sourceId: maybe(uuid({ description: 'Limits the list to this release source.' })),
  language: maybe(text(50, { description: 'Limits the list to this language.' })),
  libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
  followed: maybe(
    Type.Boolean({
      default: false,
      description: 'Limits the list to series that the account follows, without what it dismissed.',
    }),
  ),
}
type FilterQuery = { [K in Exclude<keyof typeof filterQuery, 'followed'>]?: string } & {
  followed?: boolean
}

const filterOf = ({ state = 'announced', followed = false, ...others }: FilterQuery) => ({
  ...others,
  isFollowed: followed,
  state: state === 'all' ? null : stateNamed(state),
})

const sortFields = {
  series: 'series',
  series_title: 'series',
  observed: 'observed',
  observed_at: 'observed',
  released: 'released',
  released_at: 'released',
} as const

function sortOf({ sort, order }: { sort?: string; order?: string }) {
  const { sort: field = 'series', direction } = parseSort(sortFields, sort, order)
  return { field, descending: direction === 'desc' }
}

const FacetCount = { count: count({ description: 'Number of releases.' }) }
const Facets = component('ReleaseFacets', {
  languages: list(record({ language: Type.String(), ...FacetCount })),
  libraries: list(record({ libraryId: uuid(), libraryName: Type.String(), ...FacetCount })),
  series: list(
    record({
      ...{ seriesId: uuid(), seriesTitle: Type.String() },
      ...{ libraryId: uuid(), libraryName: Type.String(), ...FacetCount },
    }),
  ),
})

async function pageOf(sql: Sql, viewer: Viewer, request: Parameters<typeof listReleases>[2]) {
  const { ids, total } = await listReleases(sql, viewer, request)
  return { data: await releasesByIds(sql, viewer, ids), total }
}

const maxBulkReleases = 500

/** Throws NotFound. */
async function setState(sql: Sql, viewer: Viewer, id: string, state: ReleaseState) {
  if ((await setStates(sql, viewer, [id], state)) === 0) throw releaseNotFound()
  return await releaseById(sql, viewer, id)
}

const shortcuts: Route[] = (
  [
    ['dismiss', 'dismissRelease', 'dismissed'],
    ['mark-acquired', 'markReleaseAcquired', 'marked_acquired'],
  ] as const
).map(([action, operationId, state]) =>
  route(`POST /releases/{id}/${action}`, {
    operationId,
    permission: 'SeriesWrite',
    summary: `Set the state of a release to ${state}`,
    params: ReleaseId,
    responses: { 200: Release },
    handle: ({ params, viewer }, { sql }) => setState(sql, viewer, params.id, state),
  }),
)

export const releases = [
  route('GET /releases', {
    operationId: 'listReleases',
    permission: 'SeriesRead',
    summary: 'List releases of tracked series',
    description:
      'When sorted by series, the newest volumes and chapters of each come first. When sorted by `released`, a release without a date counts as released when it was found.',
    query: record({ ...pageQuery, ...filterQuery, ...sortQuery(Object.keys(sortFields)) }),
    responses: { 200: paged(Release) },
    handle: (input, { sql }) =>
      pagedResponse(input, page =>
        pageOf(sql, input.viewer, {
          filter: filterOf(input.query),
          sort: sortOf(input.query),
          page,
        }),
      ),
  }),
  route('GET /releases/facets', {
    operationId: 'listReleaseFacets',
    permission: 'SeriesRead',
    summary: 'Count releases by language, library and series',
    description: 'Each list applies all filters except its own.',
    query: record(filterQuery),
    responses: { 200: Facets },
    handle: ({ query, viewer }, { sql }) => releaseFacets(sql, viewer, filterOf(query)),
  }),
  route('POST /releases/bulk', {
    operationId: 'changeReleases',
    permission: 'SeriesWrite',
    summary: 'Change the states of several releases, or delete them',
    description:
      '`ignore` hides, `reset` announces again. A source from which a release was deleted is read from its beginning by the next poll, and may bring it back. Hidden and unknown ids are skipped.',
    body: body('ReleaseChanges', {
      ids: list(uuid(), { minItems: 1, maxItems: maxBulkReleases }),
      action: oneOf(releaseActions),
    }),
    responses: {
      200: component('ChangedReleases', { affected: count(), action: oneOf(releaseActions) }),
    },
    async handle({ body: { ids, action }, viewer }, { sql }) {
      const affected =
        action === 'delete'
          ? await deleteReleases(sql, viewer, ids)
          : await setStates(sql, viewer, ids, actionStates[action])
      return { affected, action }
    },
  }),
  route('GET /releases/inbox', {
    operationId: 'getReleaseInbox',
    permission: 'SeriesRead',
    summary: 'Count what is new in the inbox of the account',
    responses: {
      200: component('ReleaseInbox', {
        followed: count({ description: 'Number of series that the account follows.' }),
        unseen: count({ description: 'Announced releases of these that it has not seen.' }),
      }),
    },
    handle: ({ viewer }, { sql }) => inboxOf(sql, viewer),
  }),
  route('POST /releases/inbox', {
    operationId: 'markReleases',
    permission: { any: ['BooksWrite', 'ProgressWrite'] },
    summary: 'Mark releases as seen or dismissed for the account',
    description:
      'The state of a release, which all accounts share, stays as it is. `restore` undoes `dismiss`. Hidden and unknown ids are skipped.',
    body: body('ReleaseMarks', {
      ids: list(uuid(), { minItems: 1, maxItems: maxBulkReleases }),
      action: oneOf(markActions),
    }),
    responses: { 200: component('MarkedReleases', { affected: count() }) },
    handle: async ({ body, viewer }, { sql }) => ({
      affected: await markReleases(sql, viewer, body),
    }),
  }),
  route('GET /releases/{id}', {
    operationId: 'getRelease',
    permission: 'SeriesRead',
    summary: 'Get a release',
    params: ReleaseId,
    responses: { 200: Release },
    handle: ({ params, viewer }, { sql }) => releaseById(sql, viewer, params.id),
  }),
  route('PATCH /releases/{id}', {
    operationId: 'updateRelease',
    permission: 'SeriesWrite',
    summary: 'Set the state of a release',
    description: 'Any state may follow any other. `new` means announced, `ignored` means hidden.',
    params: ReleaseId,
    body: body('ReleaseUpdate', { state: oneOf(stateNames) }),
    responses: { 200: Release },
    handle: ({ params, body, viewer }, { sql }) =>
      setState(sql, viewer, params.id, stateNamed(body.state)),
  }),
  ...shortcuts,
  route('DELETE /releases/{id}', {
    operationId: 'deleteRelease',
    permission: 'SeriesWrite',
    summary: 'Delete a release',
    description:
      'The next poll reads its source from the beginning and may add it again; to prevent that, hide or dismiss it instead.',
    params: ReleaseId,
    responses: { 200: component('DeletedRelease', { deleted: Type.Boolean() }) },
    async handle({ params, viewer }, { sql }) {
      if ((await deleteReleases(sql, viewer, [params.id])) === 0) throw releaseNotFound()
      return { deleted: true }
    },
  }),
  route('GET /releases/{id}/history', {
    operationId: 'listReleaseHistory',
    permission: 'SeriesWrite',
    summary: 'List the state history of a release',
    description: 'Oldest first, with who changed it and why.',
    params: ReleaseId,
    query: record(shortListQuery),
    responses: { 200: paged(ReleaseChange) },
    handle: async ({ params, viewer, ...input }, { sql }) =>
      shortListResponse(input, await historyOf(sql, viewer, params.id)),
  }),
  route('GET /series/{id}/releases', {
    operationId: 'listReleasesOfSeries',
    permission: 'SeriesRead',
    summary: 'List releases of a series',
    description: 'Newest volumes and chapters first.',
    params: SeriesId,
    query: record({ ...pageQuery, state: state('all') }),
    responses: { 200: paged(Release) },
    async handle(input, { sql }) {
      const { params, query, viewer } = input
      await requireSeries(sql, viewer, params.id)
      const filter = filterOf({ state: query.state ?? 'all', seriesId: params.id })
      const sort = { field: 'series', descending: false } as const
      return await pagedResponse(input, page => pageOf(sql, viewer, { filter, sort, page }))
    },
  }),
]
