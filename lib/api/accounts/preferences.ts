// Preferences: what clients keep for their user, by dotted keys. The server knows no defaults; a
// preference that is deleted is the client's default again.

import { NotFound } from '../../errors.ts'
import { route } from '../../http/route.ts'
import { body, change, count, json, list, record, Type } from '../../schema.ts'
import {
  deletePreference,
  findPreference,
  listPreferences,
  Preference,
  preferenceKey,
  writePreferences,
} from '../../setting/preference.ts'

const Key = record({ key: preferenceKey })

export const preferences = [
  route({
    method: 'GET',
    path: '/user/preferences',
    permission: 'auth',
    summary: 'Preferences of the caller',
    description: 'Those that are set, by key.',
    responses: { 200: record({ preferences: list(Preference) }) },
    handle: async ({ identity }, { sql }) => ({
      preferences: await listPreferences(sql, identity.account.id),
    }),
  }),
  route({
    method: 'PUT',
    path: '/user/preferences',
    permission: 'auth',
    summary: 'Set several preferences',
    description: 'All or none; others stay as they are.',
    body: body({
      preferences: Type.Record(preferenceKey, json(), { additionalProperties: false }),
    }),
    responses: { 200: record({ updated: count(), preferences: list(Preference) }) },
    async handle({ identity, body }, { sql }) {
      const preferences = await writePreferences(sql, identity.account.id, body.preferences)
      return { updated: preferences.length, preferences }
    },
  }),
  route({
    method: 'GET',
    path: '/user/preferences/{key}',
    permission: 'auth',
    summary: 'A preference',
    params: Key,
    responses: { 200: Preference },
    async handle({ identity, params }, { sql }) {
      const found = await findPreference(sql, identity.account.id, params.key)
      if (!found) throw new NotFound('Preference not set')
      return found
    },
  }),
  route({
    method: 'PUT',
    path: '/user/preferences/{key}',
    permission: 'auth',
    summary: 'Set a preference',
    params: Key,
    body: change({ value: json({ description: 'Any JSON, at most 64 KiB.' }) }, Preference),
    responses: { 200: Preference },
    async handle({ identity, params, body }, { sql }) {
      const set = { [params.key]: body.value }
      const [written] = await writePreferences(sql, identity.account.id, set)
      return written!
    },
  }),
  route({
    method: 'DELETE',
    path: '/user/preferences/{key}',
    permission: 'auth',
    summary: 'Reset a preference to its default',
    params: Key,
    responses: { 200: record({ deleted: Type.Boolean(), message: Type.String() }) },
    async handle({ identity, params }, { sql }) {
      const deleted = await deletePreference(sql, identity.account.id, params.key)
      return { deleted, message: deleted ? 'Preference reset' : 'Preference was not set' }
    },
  }),
]
