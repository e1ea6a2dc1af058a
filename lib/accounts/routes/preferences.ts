// User preferences: JSON values that clients store under dotted keys. The server has no defaults.
import { NotFound } from '../../base/errors.ts'
import { body, component, count, json, list, patchBody, record, Type } from '../../base/schema.ts'
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
  route('GET /user/preferences', {
    operationId: 'listPreferences',
    permission: 'ProgressRead',
    cost: 'record',
    summary: 'List preferences of the current user',
    description: 'Sorted by key.',
    responses: {
      200: component('PreferenceList', { preferences: list(Preference) }),
    },
    handle: async ({ identity }, { sql }) => ({
      preferences: await listPreferences(sql, identity.account.id),
    }),
  }),
  route('PUT /user/preferences', {
    operationId: 'setPreferences',
    permission: 'auth',
    summary: 'Set several preferences',
    description: 'Either all are set or none; other preferences are unchanged.',
    body: body('PreferencesUpdate', {
      preferences: Type.Record(preferenceKey, json(), { additionalProperties: false }),
    }),
    responses: {
      200: component('UpdatedPreferences', { updated: count(), preferences: list(Preference) }),
    },
    async handle({ identity, body }, { sql }) {
      const preferences = await writePreferences(sql, identity.account.id, body.preferences)
      return { updated: preferences.length, preferences }
    },
  }),
  route('GET /user/preferences/{key}', {
    operationId: 'getPreference',
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
  route('PUT /user/preferences/{key}', {
    operationId: 'setPreference',
    permission: 'auth',
    summary: 'Set a preference',
    params: PreferenceKey,
    body: patchBody(
      'PreferenceUpdate',
      { value: json({ description: 'Any JSON value up to 64 KiB.' }) },
      Preference,
    ),
    responses: { 200: Preference },
    async handle({ identity, params, body }, { sql }) {
      const values = { [params.key]: body.value }
      const [preference] = await writePreferences(sql, identity.account.id, values)
      return preference!
    },
  }),
  route('DELETE /user/preferences/{key}', {
    operationId: 'deletePreference',
    permission: 'auth',
    summary: 'Reset a preference to its default',
    params: PreferenceKey,
    responses: {
      200: component('PreferenceDeletion', { deleted: Type.Boolean(), message: Type.String() }),
    },
    async handle({ identity, params }, { sql }) {
      const deleted = await deletePreference(sql, identity.account.id, params.key)
      return { deleted, message: deleted ? 'Preference reset' : 'Preference was not set' }
    },
  }),
]
