// Runtime settings: values, history of changes, and the settings that every user may read.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../accounts/identify.ts'
import { backupFolder } from '../../backup/job.ts'
import {
  body,
  component,
  json,
  list,
  maybe,
  nullable,
  oneOf,
  optional,
  patchBody,
  record,
  strict,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import {
  type Paging,
  paged,
  pagedResponse,
  pageQuery,
  shortListQuery,
  shortListResponse,
} from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import type { Config } from '../../store/config/config.ts'
import type { Sql } from '../../store/postgres/db.ts'
import {
  parseSetting,
  requireSettingKey,
  type SettingKey,
  settingDefault,
  settingDefinition,
  settingId,
  settingText,
} from '../../store/setting/definition.ts'
import {
  listSettings,
  openSettings,
  type SettingChange,
  type StoredSetting,
} from '../../store/setting/setting.ts'

const Setting = component('Setting', {
  id: uuid(),
  key: Type.String(),
  value: Type.String({ description: 'The value as text.' }),
  valueType: oneOf(['Boolean', 'Float', 'Integer', 'String']),
  category: Type.String(),
  description: Type.String(),
  isSensitive: Type.Boolean({ description: 'Whether values are replaced by asterisks.' }),
  defaultValue: Type.String(),
  minValue: nullable(Type.Integer()),
  maxValue: nullable(Type.Integer({ description: 'For a String, the maximum length.' })),
  updatedAt: timestamp(),
  updatedBy: nullable(Type.String({ description: 'User name.' })),
  version: Type.Integer({ description: 'Number of changes, starting at 1.' }),
})

const HistoryEntry = component('SettingChange', {
  id: uuid(),
  settingId: uuid(),
  key: Type.String(),
  oldValue: nullable(Type.String()),
  newValue: nullable(Type.String()),
  changedBy: nullable(Type.String({ description: 'User name at the time.' })),
  changedAt: timestamp(),
  changeReason: nullable(Type.String()),
  ipAddress: nullable(Type.String()),
})

const PublicSettings = Type.Unsafe<Record<string, { key: string; value: string }>>({
  type: 'object',
  component: 'PublicSettings',
  additionalProperties: record({ key: Type.String(), value: Type.String() }),
})

const Key = record({
  key: Type.String({
    maxLength: 255,
    description: 'Key of the setting.',
    examples: ['application.name'],
  }),
})
const value = json({ description: "A value of the setting's type, or its text form." })
const reason = optional(
  text(1000, { description: 'Reason for the change, recorded in the history.' }),
)

export const settings = [
  route('GET /admin/settings', {
    permission: 'SystemAdmin',
    operationId: 'listSettings',
    summary: 'List settings',
    description: 'Sorted by category and key.',
    query: record({
      category: maybe(text(100, { description: 'Limits the list to this category.' })),
      ...shortListQuery,
    }),
    responses: { 200: paged(Setting) },
    handle: async (input, { sql }) => {
      const { category } = input.query
      const settings = (await listSettings(sql))
        .map(toRecord)
        .filter(setting => category === undefined || setting.category === category)
        .sort((a, b) => compare(a.category, b.category) || compare(a.key, b.key))
      return shortListResponse(input, settings)
    },
  }),
  route('GET /admin/settings/{key}', {
    permission: 'SystemAdmin',
    operationId: 'getSetting',
    summary: 'Get a setting',
    params: Key,
    responses: { 200: Setting },
    handle: ({ params }, { sql }) => findSetting(sql, requireSettingKey(params.key)),
  }),
  route('PUT /admin/settings/{key}', {
    permission: 'SystemAdmin',
    operationId: 'updateSetting',
    summary: 'Update a setting',
    params: Key,
    body: patchBody('SettingUpdate', { value, changeReason: reason }, Setting),
    responses: { 200: Setting },
    handle: async ({ params, body, ...input }, { sql, services, config }) => {
      const key = requireSettingKey(params.key)
      const changes = [changeOf(config, key, body.value)]
      await services(openSettings).write(changes, authorOf(input, body.changeReason))
      return await findSetting(sql, key)
    },
  }),
  route('POST /admin/settings/bulk', {
    permission: 'SystemAdmin',
    operationId: 'updateSettings',
    summary: 'Update several settings',
    description: 'Either all are updated or none. The response contains the updated ones.',
    body: body('SettingsUpdate', {
      updates: list(strict({ key: text(255), value }), { minItems: 1, maxItems: 100 }),
      changeReason: reason,
    }),
    responses: { 200: component('UpdatedSettings', { data: list(Setting) }) },
    handle: async ({ body, ...input }, { sql, services, config }) => {
      const changes = body.updates.map(({ key, value }) =>
        changeOf(config, requireSettingKey(key), value),
      )
      await services(openSettings).write(changes, authorOf(input, body.changeReason))
      const rows = await listSettings(sql, [...new Set(changes.map(change => change.key))])
      return { data: rows.map(toRecord) }
    },
  }),
  route('POST /admin/settings/{key}/reset', {
    permission: 'SystemAdmin',
    operationId: 'resetSetting',
    summary: 'Reset a setting to its default',
    params: Key,
    responses: { 200: Setting },
    handle: async ({ params, ...input }, { sql, services }) => {
      const key = requireSettingKey(params.key)
      const changes = [{ key, value: settingDefault(key) }]
      await services(openSettings).write(changes, authorOf(input, 'Reset to default'))
      return await findSetting(sql, key)
    },
  }),
  route('GET /admin/settings/{key}/history', {
    permission: 'SystemAdmin',
    operationId: 'listSettingChanges',
    summary: 'List changes of a setting',
    description: 'Newest first.',
    params: Key,
    query: record(pageQuery),
    responses: { 200: paged(HistoryEntry) },
    handle: (input, { sql }) =>
      pagedResponse(input, page => listChanges(sql, requireSettingKey(input.params.key), page)),
  }),
  route('GET /settings/public', {
    operationId: 'getPublicSettings',
    permission: 'auth',
    summary: 'Get the settings readable by every user',
    description: 'Settings by key.',
    responses: { 200: PublicSettings },
    handle: async (_input, { services }) => {
      const values = publicKeys.map(async key => {
        const setting = { key, value: settingText(key, await services(openSettings).cached(key)) }
        return [key, setting] as const
      })
      return Object.fromEntries(await Promise.all(values))
    },
  }),
  route('GET /settings/branding', {
    operationId: 'getBranding',
    permission: 'public',
    summary: 'Get the server name for the sign-in page',
    responses: { 200: component('Branding', { applicationName: Type.String() }) },
    handle: async (_input, { services }) => ({
      applicationName: await services(openSettings).cached('application.name'),
    }),
  }),
]

const publicKeys = [
  'application.name',
  'display.custom_metadata_template',
  'scheduler.timezone',
] as const

/** Throws Invalid, also for a schedule of backups that have no folder. */
function changeOf(config: Config, key: SettingKey, value: unknown): SettingChange {
  const change = { key, value: parseSetting(key, value) }
  if (key === 'backup.cron' && change.value !== '') backupFolder(config)
  return change
}

async function findSetting(sql: Sql, key: SettingKey) {
  const [row] = await listSettings(sql, [key])
  return toRecord(row!)
}

function toRecord({ key, value, ...row }: StoredSetting) {
  return {
    id: settingId(key),
    key,
    value: settingText(key, value),
    ...settingDefinition(key),
    ...row,
  }
}

async function listChanges(sql: Sql, key: SettingKey, { pageSize, offset }: Paging) {
  type Row = { oldValue: unknown; newValue: unknown; id: string; changedAt: Date } & Record<
    'changedBy' | 'changeReason' | 'ipAddress',
    string | null
  >
  const [count] = await sql<{ total: number }[]>`
    select count(*)::integer as total from setting_change where key = ${key}`
  const rows = await sql<Row[]>`
    select id, old_value as "oldValue", new_value as "newValue", username as "changedBy",
      changed_at as "changedAt", reason as "changeReason", address as "ipAddress"
    from setting_change
    where key = ${key}
    order by changed_at desc, id desc
    limit ${pageSize} offset ${offset}`
  const asText = (value: unknown) => (value === null ? null : settingText(key, value))
  const data = rows.map(row => ({
    ...{ ...row, key, settingId: settingId(key) },
    ...{ oldValue: asText(row.oldValue), newValue: asText(row.newValue) },
  }))
  return { data, total: count!.total }
}

type SettingInput = { identity: Identity; request: FastifyRequest }

function authorOf({ identity, request }: SettingInput, reason: string | null = null) {
  const { id, username } = identity.account
  return { accountId: id, username, reason, address: request.ip }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
