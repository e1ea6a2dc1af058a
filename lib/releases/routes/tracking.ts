// Release tracking of series, and the aliases by which releases are matched.
import type { TOptional } from 'typebox'
import {
  body,
  component,
  list,
  maybe,
  name,
  patchBody,
  record,
  type TSchema,
  uuid,
} from '../../base/schema.ts'
import { SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { WorkStarted, workStarted } from '../../http/started-work.ts'
import { SeriesIds, skipNote } from '../../organize/routes/bulk-ids.ts'
import { Alias, addAlias, aliasesOf, deleteAlias, maxAliasLength } from '../aliases.ts'
import { followSeries, unfollowSeries } from '../following.ts'
import { setTracked, Tracking, trackingFields, trackingOf, updateTracking } from '../tracking.ts'

const AliasId = record({
  ...SeriesId.properties,
  alias_id: uuid({ description: 'Alias id.' }),
})
const Aliases = component('SeriesAliases', { aliases: list(Alias) })

type Fields = typeof trackingFields
const optional = Object.fromEntries(
  Object.entries(trackingFields).map(([name, schema]) => [name, maybe(schema as TSchema)]),
) as unknown as { [N in keyof Fields]: TOptional<Fields[N]> }

const bulk = (
  [
    ['track', 'trackSeries', true, 'Track several series for releases'],
    ['untrack', 'untrackSeries', false, 'Stop tracking several series for releases'],
  ] as const
).map(([action, operationId, tracked, summary]) =>
  route(`POST /series/bulk/${action}-for-releases`, {
    operationId,
    permission: 'SeriesWrite',
    summary,
    description: `Takes effect before the response; there is no task. ${skipNote}`,
    body: SeriesIds,
    responses: { 200: WorkStarted },
    async handle({ body: { seriesIds }, viewer }, { sql }) {
      const count = await setTracked(sql, viewer, { seriesIds, tracked })
      return workStarted({ taskIds: [], count }, `series ${tracked ? '' : 'no longer '}tracked`)
    },
  }),
)

export const tracking = [
  route('GET /series/{id}/tracking', {
    operationId: 'getSeriesTracking',
    permission: 'SeriesRead',
    summary: 'Get how releases of a series are tracked',
    params: SeriesId,
    responses: { 200: Tracking },
    handle: ({ params, viewer }, { sql }) => trackingOf(sql, viewer, params.id),
  }),
  route('PATCH /series/{id}/tracking', {
    operationId: 'updateSeriesTracking',
    permission: 'SeriesWrite',
    summary: 'Change how releases of a series are tracked',
    description:
      'Absent fields are unchanged, null clears a field. When tracking is turned on, the titles of the series become aliases, and what is known and tracked is derived from its books.',
    params: SeriesId,
    body: patchBody('SeriesTrackingUpdate', optional, Tracking),
    responses: { 200: Tracking },
    handle: ({ params, body, viewer }, { sql }) =>
      updateTracking(sql, viewer, { seriesId: params.id, changes: body as never }),
  }),
  ...(['PUT', 'DELETE'] as const).map(method =>
    route(`${method} /series/{id}/follow`, {
      operationId: method === 'PUT' ? 'followSeries' : 'unfollowSeries',
      permission: { any: ['BooksWrite', 'ProgressWrite'] },
      summary: method === 'PUT' ? 'Follow the releases of a series' : 'Stop following a series',
      description:
        method === 'PUT'
          ? 'Its releases are in the inbox of the account. A series that was not tracked is tracked from now on.'
          : 'The series remains tracked.',
      params: SeriesId,
      responses: { 204: null },
      handle: ({ params, viewer }, { sql }) =>
        method === 'PUT'
          ? followSeries(sql, viewer, params.id)
          : unfollowSeries(sql, viewer, params.id),
    }),
  ),
  route('GET /series/{id}/aliases', {
    operationId: 'listSeriesAliases',
    permission: 'SeriesRead',
    summary: 'List the titles by which releases of a series are matched',
    params: SeriesId,
    responses: { 200: Aliases },
    handle: async ({ params, viewer }, { sql }) => ({
      aliases: await aliasesOf(sql, viewer, params.id),
    }),
  }),
  route('POST /series/{id}/aliases', {
    operationId: 'addSeriesAlias',
    permission: 'SeriesWrite',
    summary: 'Add a title by which releases of a series are matched',
    description: '200 if the series already has the alias.',
    params: SeriesId,
    body: body('NewSeriesAlias', {
      alias: name(maxAliasLength),
      source: maybe(name(50, { default: 'manual', description: 'Where the alias comes from.' })),
    }),
    responses: { 201: Alias, 200: Alias },
    async handle({ params, body: { alias, source = 'manual' }, viewer }, { sql }) {
      const added = await addAlias(sql, viewer, { seriesId: params.id, alias, source })
      return respond(added.isNew ? 201 : 200, added.alias)
    },
  }),
  route('DELETE /series/{id}/aliases/{alias_id}', {
    operationId: 'deleteSeriesAlias',
    permission: 'SeriesWrite',
    summary: 'Delete an alias of a series',
    params: AliasId,
    responses: { 204: null },
    handle: ({ params: { id, alias_id: aliasId }, viewer }, { sql }) =>
      deleteAlias(sql, viewer, { seriesId: id, aliasId }),
  }),
  ...bulk,
]
