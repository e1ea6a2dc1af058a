// Settings: what administrators change while the server runs, with who changed what and why; and the
// few that everyone may read.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../auth/identify.ts'
import { route } from '../../http/route.ts'
import type { Sql } from '../../postgres/db.ts'
import {
  body,
  change,
  json,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  Type,
  text,
  timestamp,
  uuid,
} from '../../schema.ts'
import {
  definitionOf,
  parseSetting,
  type SettingKey,
  settingId,
  settingKey,
  settingText,
} from '../../setting/definition.ts'
import {
  type Change,
  type Changer,
  readSetting,
  type SettingRow,
  settingRows,
  writeSettings,
} from '../../setting/setting.ts'

const Setting = record(
  {
    id: uuid(),
    key: Type.String(),
    value: Type.String({ description: 'As text, whatever its type.' }),
    valueType: oneOf(['Boolean', 'Integer', 'String']),
    category: Type.String(),
    description: Type.String(),
    isSensitive: Type.Boolean({ description: 'Its values are shown as asterisks.' }),
    defaultValue: Type.String(),
    minValue: nullable(Type.Integer()),
    maxValue: nullable(Type.Integer({ description: 'Of a String: its longest length.' })),
    updatedAt: timestamp(),
    updatedBy: nullable(Type.String({ description: 'User name.' })),
    version: Type.Integer({ description: 'Counts the changes, from 1.' }),
  },
  { component: 'Setting' },
)

const HistoryEntry = record(
  {
    id: uuid(),
    settingId: uuid(),
    key: Type.String(),
    oldValue: nullable(Type.String()),
    newValue: nullable(Type.String()),
    changedBy: nullable(Type.String({ description: 'User name at the time.' })),
    changedAt: timestamp(),
    changeReason: nullable(Type.String()),
    ipAddress: nullable(Type.String()),
  },
  { component: 'SettingChange' },
)

const PublicSettings = Type.Unsafe<Record<string, { key: string; value: string }>>({
  type: 'object',
  additionalProperties: record({ key: Type.String(), value: Type.String() }),
})

const Key = record({ key: Type.String({ maxLength: 255 }) })
const value = json({ description: 'Text, or JSON of the type of the setting.' })
const reason = maybe(nullable(text(1000, { description: 'Why; kept in the history.' })))
const common = { permission: 'SystemAdmin' } as const

export const settings = [
  route({
    ...common,
    method: 'GET',
    path: '/admin/settings',
    summary: 'All settings, by category and key',
    query: record({ category: maybe(text(100)) }),
    responses: { 200: list(Setting) },
    handle: async ({ query }, { sql }) => {
      const shown = (await settingRows(sql)).map(toRecord)
      return shown
        .filter(setting => query.category === undefined || setting.category === query.category)
        .sort((a, b) => compare(a.category, b.category) || compare(a.key, b.key))
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/admin/settings/{key}',
    summary: 'One setting',
    params: Key,
    responses: { 200: Setting },
    handle: ({ params }, { sql }) => settingNamed(sql, settingKey(params.key)),
  }),
  route({
    ...common,
    method: 'PUT',
    path: '/admin/settings/{key}',
    summary: 'Change a setting',
    params: Key,
    body: change({ value, changeReason: reason }, Setting),
    responses: { 200: Setting },
    handle: async ({ params, body, ...asking }, { sql }) => {
      const key = settingKey(params.key)
      const changes = [{ key, value: parseSetting(key, body.value) }]
      await writeSettings(sql, changes, changer(asking, body.changeReason))
      return await settingNamed(sql, key)
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/admin/settings/bulk',
    summary: 'Change several settings, all or none',
    body: body({
      updates: list(body({ key: text(255), value }), { minItems: 1, maxItems: 100 }),
      changeReason: reason,
    }),
    responses: { 200: list(Setting) },
    handle: async ({ body, ...asking }, { sql }) => {
      const changes = body.updates.map((update): Change => {
        const key = settingKey(update.key)
        return { key, value: parseSetting(key, update.value) }
      })
      await writeSettings(sql, changes, changer(asking, body.changeReason))
      const rows = await settingRows(sql, [...new Set(changes.map(change => change.key))])
      return rows.map(toRecord)
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/admin/settings/{key}/reset',
    summary: 'Set a setting back to its default',
    params: Key,
    responses: { 200: Setting },
    handle: async ({ params, ...asking }, { sql }) => {
      const key = settingKey(params.key)
      const changes = [{ key, value: definitionOf(key).default }]
      await writeSettings(sql, changes, changer(asking, 'Reset to its default'))
      return await settingNamed(sql, key)
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/admin/settings/{key}/history',
    summary: 'Changes of a setting, newest first',
    params: Key,
    query: record({
      limit: maybe(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    }),
    responses: { 200: list(HistoryEntry) },
    handle: ({ params, query }, { sql }) =>
      history(sql, settingKey(params.key), query.limit ?? 100),
  }),
  route({
    method: 'GET',
    path: '/settings/public',
    permission: 'auth',
    summary: 'Settings that every user may read, by key',
    responses: {
      200: PublicSettings,
    },
    handle: async (_input, { sql }) => {
      const values = open.map(async key => {
        const shown = { key, value: settingText(key, await readSetting(sql, key)) }
        return [key, shown] as const
      })
      return Object.fromEntries(await Promise.all(values))
    },
  }),
  route({
    method: 'GET',
    path: '/settings/branding',
    permission: 'public',
    summary: 'What this server is called, for the sign-in page',
    responses: { 200: record({ applicationName: Type.String() }) },
    handle: async (_input, { sql }) => ({
      applicationName: await readSetting(sql, 'application.name'),
    }),
  }),
]

const open = ['application.name', 'display.custom_metadata_template', 'scheduler.timezone'] as const

async function settingNamed(sql: Sql, key: SettingKey) {
  const [row] = await settingRows(sql, [key])
  return toRecord(row!)
}

function toRecord({ key, value, ...row }: SettingRow) {
  const definition = definitionOf(key)
  return {
    id: settingId(key),
    key,
    value: settingText(key, value),
    valueType: definition.type,
    category: definition.category,
    description: definition.description,
    isSensitive: definition.isSensitive ?? false,
    defaultValue: String(definition.default),
    minValue: definition.min ?? null,
    maxValue: definition.max ?? null,
    ...row,
  }
}

async function history(sql: Sql, key: SettingKey, limit: number) {
  type Row = { oldValue: unknown; newValue: unknown; id: string; changedAt: Date } & Record<
    'changedBy' | 'changeReason' | 'ipAddress',
    string | null
  >
  const rows = await sql<Row[]>`
    select id, old_value as "oldValue", new_value as "newValue", username as "changedBy",
      changed_at as "changedAt", reason as "changeReason", address as "ipAddress"
    from setting_change
    where key = ${key}
    order by changed_at desc, id desc
    limit ${limit}`
  const shown = (value: unknown) => (value === null ? null : settingText(key, value))
  return rows.map(row => ({
    ...row,
    key,
    settingId: settingId(key),
    oldValue: shown(row.oldValue),
    newValue: shown(row.newValue),
  }))
}

type Asking = { identity: Identity; request: FastifyRequest }

function changer({ identity, request }: Asking, reason: string | null | undefined): Changer {
  const { id, username } = identity.account
  return { accountId: id, username, reason: reason ?? null, address: request.ip }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
