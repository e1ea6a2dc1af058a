// The server as clients of the Komga-compatible API see it: claim, settings, version, health, tasks.
import { Forbidden, Invalid, NotFound } from '../../../../base/errors.ts'
import { component, list, nullable, oneOf, record, Type } from '../../../../base/schema.ts'
import { route } from '../../../../http/route.ts'
import { cancelTask } from '../../../../store/queue/task/control.ts'
import { listTasks } from '../../../../store/queue/task/record.ts'
import { UserDto } from '../accounts/users.ts'
import { rememberedDays } from '../session/authenticate.ts'

/** A version of Komga, which its clients compare. */
const komgaVersion = '1.26.3'
const integer = () => nullable(Type.Integer())
const sources = <T extends ReturnType<typeof integer> | ReturnType<typeof optionalText>>(
  value: T,
) => record({ configurationSource: value, databaseSource: value, effectiveValue: value })
const optionalText = () => nullable(Type.String())
const thumbnailSizes = ['DEFAULT', 'MEDIUM', 'LARGE', 'XLARGE'] as const

const SettingsDto = component('SettingsDto', {
  deleteEmptyCollections: Type.Boolean(),
  deleteEmptyReadLists: Type.Boolean(),
  rememberMeDurationDays: Type.Integer(),
  thumbnailSize: oneOf(thumbnailSizes),
  taskPoolSize: Type.Integer(),
  serverPort: sources(integer()),
  serverContextPath: sources(optionalText()),
  koboProxy: Type.Boolean(),
  koboPort: integer(),
  kepubifyPath: sources(optionalText()),
})

export const server = [
  route('GET /claim', {
    operationId: 'getClaimStatus',
    permission: 'public',
    summary: 'Get whether the server has an administrator',
    responses: { 200: component('ClaimStatus', { isClaimed: Type.Boolean() }) },
    // The first one is created with the setup token.
    handle: () => ({ isClaimed: true }),
  }),
  route('POST /claim', {
    operationId: 'claimServer',
    permission: 'public',
    summary: 'Refuse to create the first administrator, which requires the setup token',
    responses: { 200: UserDto },
    handle: () => {
      throw new Invalid('This server has already been claimed')
    },
  }),
  route('GET /oauth2/providers', {
    operationId: 'getOAuth2Providers',
    permission: 'public',
    summary: 'List single sign-on providers; there are none',
    responses: {
      200: list(record({ name: Type.String(), registrationId: Type.String() })),
    },
    handle: () => [],
  }),
  route('GET /settings', {
    operationId: 'getServerSettings',
    permission: 'SystemAdmin',
    summary: 'Get the server settings that have a counterpart',
    responses: { 200: SettingsDto },
    handle: (_input, { config }) => {
      const { port } = config.application
      const none = { configurationSource: null, databaseSource: null, effectiveValue: null }
      return {
        ...{ deleteEmptyCollections: false, deleteEmptyReadLists: false },
        rememberMeDurationDays: rememberedDays,
        thumbnailSize: thumbnailSizeOf(config.thumbnail.max_dimension),
        taskPoolSize: Math.max(1, config.pipeline.threads),
        serverPort: { configurationSource: port, databaseSource: null, effectiveValue: port },
        serverContextPath: none,
        ...{ koboProxy: false, koboPort: null, kepubifyPath: none },
      }
    },
  }),
  route('PATCH /settings', {
    operationId: 'updateServerSettings',
    permission: 'SystemAdmin',
    summary: 'Accept server settings without effect',
    body: record({}),
    bodyOptional: true,
    responses: { 204: null },
    handle() {},
  }),
  route('DELETE /tasks', {
    operationId: 'emptyTaskQueue',
    permission: 'TasksWrite',
    summary: 'Cancel the waiting tasks',
    responses: { 200: Type.Integer() },
    async handle({ viewer }, { sql, queue }) {
      const range = { offset: 0, limit: maxCancelled }
      const tasks = await listTasks(sql, viewer, { filter: { status: 'pending' }, range })
      let cancelled = 0
      for (const { id } of tasks) {
        try {
          await cancelTask({ sql, queue, viewer, id })
          cancelled++
        } catch (error) {
          // It has ended already, or cannot be cancelled.
          if (!(error instanceof NotFound || error instanceof Invalid)) throw error
        }
      }
      return cancelled
    },
  }),
  route('GET /actuator/info', {
    operationId: 'getActuatorInfo',
    atRoot: true,
    permission: 'SystemAdmin',
    summary: 'Get the version of the API',
    responses: {
      200: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    },
    handle: (_input, { version }) => ({
      build: {
        ...{ artifact: 'komga', name: 'komga', group: 'org.gotson' },
        ...{ version: komgaVersion, time: '2026-01-01T00:00:00Z' },
      },
      git: { branch: 'stackroom', commit: { id: version, time: '2026-01-01T00:00:00Z' } },
    }),
  }),
  route('GET /actuator/health', {
    operationId: 'getActuatorHealth',
    atRoot: true,
    permission: 'public',
    summary: 'Check whether the server responds',
    responses: { 200: record({ status: Type.String() }) },
    handle: () => ({ status: 'UP' }),
  }),
  route('POST /actuator/shutdown', {
    operationId: 'shutdownActuator',
    atRoot: true,
    permission: 'SystemAdmin',
    summary: 'Refuse to shut down, which is left to the service manager',
    responses: { 200: record({}) },
    handle: () => {
      throw new Forbidden('The server cannot be shut down by a request')
    },
  }),
]

// Each one is a transaction.
const maxCancelled = 500

const thumbnailSizeOf = (pixels: number) =>
  thumbnailSizes[[300, 600, 900].filter(limit => pixels > limit).length]!
