// User preferences: JSON values that clients store under dotted keys. The server has no defaults.
import { NotFound } from '../../base/errors.ts'
import { body, count, json, list, patchBody, record, Type } from '../../base/schema.ts'
import { route } from '../../http/route.ts'
import {
  deletePreference,
  findPreference,
  listPreferences,
  Preference,
  preferenceKey,
  writePreferences,
} from '../../store/setting/preference.ts'

const PreferenceKey = record({ key: preferenceKey })

export const preferences = [
  route({
    operationId: 'listPreferences',
    method: 'GET',
    path: '/user/preferences',
    permission: 'ProgressRead',
    cost: 'record',
    summary: 'List preferences of the current user',
    description: 'Sorted by key.',
    responses: {
      200: record({ preferences: list(Preference) }, { component: 'PreferenceList' }),
    },
    handle: async ({ identity }, { sql }) => ({
      preferences: await listPreferences(sql, identity.account.id),
    }),
  }),
  route({
    operationId: 'setPreferences',
    method: 'PUT',
    path: '/user/preferences',
    permission: 'auth',
    summary: 'Set several preferences',
    description: 'Either all are set or none; other preferences are unchanged.',
    body: body(
      { preferences: Type.Record(preferenceKey, json(), { additionalProperties: false }) },
      { component: 'PreferencesUpdate' },
    ),
    responses: {
      200: record(
        { updated: count(), preferences: list(Preference) },
        { component: 'UpdatedPreferences' },
      ),
    },
    async handle({ identity, body }, { sql }) {
      const preferences = await writePreferences(sql, identity.account.id, body.preferences)
      return { updated: preferences.length, preferences }
    },
  }),
  route({
    operationId: 'getPreference',
    method: 'GET',
    path: '/user/preferences/{key}',
    permission: 'ProgressRead',
    summary: 'Get a preference',
    params: PreferenceKey,
    responses: { 200: Preference },
    async handle({ identity, params }, { sql }) {
      const preference = await findPreference(sql, identity.account.id, params.key)
      if (!preference) throw new NotFound('Preference not set')
      return preference
    },
  }),
  route({
    operationId: 'setPreference',
    method: 'PUT',
    path: '/user/preferences/{key}',
    permission: 'auth',
    summary: 'Set a preference',
    params: PreferenceKey,
    body: patchBody({ value: json({ description: 'Any JSON value up to 64 KiB.' }) }, Preference, {
      component: 'PreferenceUpdate',
    }),
    responses: { 200: Preference },
    async handle({ identity, params, body }, { sql }) {
      const values = { [params.key]: body.value }
      const [preference] = await writePreferences(sql, identity.account.id, values)
      return preference!
    },
  }),
  route({
    operationId: 'deletePreference',
    method: 'DELETE',
    path: '/user/preferences/{key}',
    permission: 'auth',
    summary: 'Reset a preference to its default',
    params: PreferenceKey,
    responses: {
      200: record(
        { deleted: Type.Boolean(), message: Type.String() },
        { component: 'PreferenceDeletion' },
      ),
    },
    async handle({ identity, params }, { sql }) {
      const deleted = await deletePreference(sql, identity.account.id, params.key)
      return { deleted, message: deleted ? 'Preference reset' : 'Preference was not set' }
    },
  }),
]
