// Administration of release sources: names, schedules, polls on request, resets.

import { cronError } from '../../base/cron.ts'
import { Invalid } from '../../base/errors.ts'
import {
  count,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  patchBody,
  record,
  Type,
  text,
  uuid,
} from '../../base/schema.ts'
import { respond, route } from '../../http/route.ts'
import {
  changeReleaseSource,
  listReleaseSources,
  ReleaseSource,
  ReleaseSources,
  releasePlugins,
  requestAllPolls,
  requestPoll,
  resetAllReleaseSources,
  resetReleaseSource,
} from '../release-source.ts'

const ReleaseSourceId = record({ id: uuid({ description: 'Release source id.' }) })
const deletedLedgerEntries = count({ description: 'Releases that were deleted.' })
const considered = count({ description: 'Release sources.' })
const failed = count({ description: 'Deleted or disabled meanwhile.' })

export const releaseSources = [
  route({
    operationId: 'listReleaseSources',
    method: 'GET',
    path: '/release-sources',
    permission: 'PluginsManage',
    summary: 'List release sources',
    description: 'They are created and deleted with the source that has them.',
    responses: { 200: ReleaseSources },
    handle: async (_input, { sql }) => ({ sources: await listReleaseSources(sql) }),
  }),
  route({
    operationId: 'getReleaseApplicability',
    method: 'GET',
    path: '/release-sources/applicability',
    permission: 'SeriesRead',
    summary: 'Whether any source brings releases',
    query: record({ libraryId: maybe(uuid({ description: 'For series of this library.' })) }),
    responses: {
      200: record(
        { applicable: Type.Boolean(), pluginDisplayNames: list(Type.String()) },
        { component: 'ReleaseApplicability' },
      ),
    },
    async handle({ query: { libraryId }, viewer }, { sql }) {
      const pluginDisplayNames = await releasePlugins(sql, viewer, libraryId)
      return { applicable: pluginDisplayNames.length > 0, pluginDisplayNames }
    },
  }),
  route({
    operationId: 'pollAllReleaseSources',
    method: 'POST',
    path: '/release-sources/poll-now-all',
    permission: 'PluginsManage',
    summary: 'Poll all enabled release sources',
    responses: {
      202: record(
        {
          considered,
          enqueued: count(),
          coalesced: count({ description: 'Polls that were queued or running already.' }),
          failed,
        },
        { component: 'PollsStarted' },
      ),
    },
    handle: async (_input, { sql, queue }) => respond(202, await requestAllPolls(sql, queue)),
  }),
  route({
    operationId: 'resetAllReleaseSources',
    method: 'POST',
    path: '/release-sources/reset-all',
    permission: 'PluginsManage',
    summary: 'Delete all releases, and let all release sources begin from the start',
    responses: {
      200: record(
        { considered, reset: count(), failed, deletedLedgerEntries },
        { component: 'ReleaseSourcesReset' },
      ),
    },
    handle: (_input, { sql }) => resetAllReleaseSources(sql),
  }),
  route({
    operationId: 'updateReleaseSource',
    method: 'PATCH',
    path: '/release-sources/{id}',
    permission: 'PluginsManage',
    summary: 'Change a release source',
    description: '`cronSchedule` null: the default schedule.',
    params: ReleaseSourceId,
    body: patchBody(
      {
        displayName: maybe(name(200)),
        enabled: maybe(Type.Boolean()),
        cronSchedule: maybe(nullable(text(200, { description: 'Five fields: `0 3 * * *`.' }))),
      },
      ReleaseSource,
      { component: 'ReleaseSourceUpdate' },
    ),
    responses: { 200: ReleaseSource },
    handle({ params, body }, { sql }) {
      const { cronSchedule = null } = body
      const problem = cronSchedule === null ? null : cronError(cronSchedule)
      if (problem !== null) throw new Invalid(`body/cronSchedule is not valid: ${problem}`)
      return changeReleaseSource(sql, params.id, body)
    },
  }),
  route({
    operationId: 'pollReleaseSource',
    method: 'POST',
    path: '/release-sources/{id}/poll-now',
    permission: 'PluginsManage',
    summary: 'Poll a release source',
    description: '409 for one that is disabled.',
    params: ReleaseSourceId,
    responses: {
      202: record(
        { status: oneOf(['enqueued', 'already_running']), message: Type.String() },
        { component: 'PollStarted' },
      ),
    },
    async handle({ params }, { sql, queue }) {
      const isEnqueued = await requestPoll(sql, queue, params.id)
      return respond(
        202,
        isEnqueued
          ? { status: 'enqueued' as const, message: 'Poll queued' }
          : { status: 'already_running' as const, message: 'A poll is queued or running' },
      )
    },
  }),
  route({
    operationId: 'resetReleaseSource',
    method: 'POST',
    path: '/release-sources/{id}/reset',
    permission: 'PluginsManage',
    summary: 'Delete the releases of a release source, and let it begin from the start',
    params: ReleaseSourceId,
    responses: { 200: record({ deletedLedgerEntries }, { component: 'ReleaseSourceReset' }) },
    handle: async ({ params }, { sql }) => ({
      deletedLedgerEntries: await resetReleaseSource(sql, params.id),
    }),
  }),
]
