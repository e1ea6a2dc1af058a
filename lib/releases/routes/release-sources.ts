// Administration of release sources: names, schedules, polls on request, resets.

import { cronError } from '../../base/cron.ts'
import { Invalid } from '../../base/errors.ts'
import {
  component,
  count,
  list,
  maybe,
  name,
  oneOf,
  optional,
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
const deletedLedgerEntries = count({ description: 'Number of deleted releases.' })
const considered = count({ description: 'Number of enabled release sources.' })
const failed = count({ description: 'Number of sources deleted or disabled in the meantime.' })

export const releaseSources = [
  route('GET /release-sources', {
    operationId: 'listReleaseSources',
    permission: 'PluginsManage',
    summary: 'List release sources',
    description: 'They are created and deleted along with their source.',
    responses: { 200: ReleaseSources },
    handle: async (_input, { sql }) => ({ sources: await listReleaseSources(sql) }),
  }),
  route('GET /release-sources/applicability', {
    operationId: 'getReleaseApplicability',
    permission: 'SeriesRead',
    summary: 'Get whether any source provides releases',
    query: record({
      libraryId: maybe(uuid({ description: 'Limits the check to series of this library.' })),
    }),
    responses: {
      200: component('ReleaseApplicability', {
        applicable: Type.Boolean(),
        pluginDisplayNames: list(Type.String()),
      }),
    },
    async handle({ query: { libraryId }, viewer }, { sql }) {
      const pluginDisplayNames = await releasePlugins(sql, viewer, libraryId)
      return { applicable: pluginDisplayNames.length > 0, pluginDisplayNames }
    },
  }),
  route('POST /release-sources/poll-now-all', {
    operationId: 'pollAllReleaseSources',
    permission: 'PluginsManage',
    summary: 'Poll all enabled release sources',
    responses: {
      202: component('PollsStarted', {
        considered,
        enqueued: count(),
        coalesced: count({ description: 'Number of polls that were already queued or running.' }),
        failed,
      }),
    },
    handle: async (_input, { sql, queue }) => respond(202, await requestAllPolls(sql, queue)),
  }),
  route('POST /release-sources/reset-all', {
    operationId: 'resetAllReleaseSources',
    permission: 'PluginsManage',
    summary: 'Delete all releases and restart all release sources from the beginning',
    responses: {
      200: component('ReleaseSourcesReset', {
        considered,
        reset: count(),
        failed,
        deletedLedgerEntries,
      }),
    },
    handle: (_input, { sql }) => resetAllReleaseSources(sql),
  }),
  route('PATCH /release-sources/{id}', {
    operationId: 'updateReleaseSource',
    permission: 'PluginsManage',
    summary: 'Change a release source',
    description: 'A null `cronSchedule` means the default schedule.',
    params: ReleaseSourceId,
    body: patchBody(
      'ReleaseSourceUpdate',
      {
        displayName: maybe(name(200)),
        enabled: maybe(Type.Boolean()),
        cronSchedule: optional(
          text(200, { description: 'Cron expression with five fields, such as `0 3 * * *`.' }),
        ),
      },
      ReleaseSource,
    ),
    responses: { 200: ReleaseSource },
    handle({ params, body }, { sql }) {
      const { cronSchedule = null } = body
      const problem = cronSchedule === null ? null : cronError(cronSchedule)
      if (problem !== null) throw new Invalid(`body/cronSchedule is not valid: ${problem}`)
      return changeReleaseSource(sql, params.id, body)
    },
  }),
  route('POST /release-sources/{id}/poll-now', {
    operationId: 'pollReleaseSource',
    permission: 'PluginsManage',
    summary: 'Poll a release source',
    description: '409 if it is disabled.',
    params: ReleaseSourceId,
    responses: {
      202: component('PollStarted', {
        status: oneOf(['enqueued', 'already_running']),
        message: Type.String(),
      }),
    },
    async handle({ params }, { sql, queue }) {
      const isEnqueued = await requestPoll(sql, queue, params.id)
      return respond(
        202,
        isEnqueued
          ? { status: 'enqueued' as const, message: 'Poll queued' }
          : { status: 'already_running' as const, message: 'A poll is already queued or running' },
      )
    },
  }),
  route('POST /release-sources/{id}/reset', {
    operationId: 'resetReleaseSource',
    permission: 'PluginsManage',
    summary: 'Delete the releases of a release source and restart it from the beginning',
    params: ReleaseSourceId,
    responses: { 200: component('ReleaseSourceReset', { deletedLedgerEntries }) },
    handle: async ({ params }, { sql }) => ({
      deletedLedgerEntries: await resetReleaseSource(sql, params.id),
    }),
  }),
]
