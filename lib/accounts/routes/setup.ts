// Initial setup: whether it is required, creation of the first administrator, first settings.

import { body, component, count, json, maybe, optional, Type, text } from '../../base/schema.ts'
import { route } from '../../http/route.ts'
import { isSettingKey, parseSetting } from '../../store/setting/definition.ts'
import { openSettings } from '../../store/setting/setting.ts'
import { isRegistrationOpen } from '../registration.ts'
import { initialize, setupStatus } from '../setup.ts'
import { Email, Password, Username, userInfo } from './account-schema.ts'
import { tokenResponse, WelcomeResponse } from './token-response.ts'

const SetupStatus = component('SetupStatus', {
  setupRequired: Type.Boolean({ description: 'Whether no administrator exists yet.' }),
  hasUsers: Type.Boolean(),
  registrationEnabled: Type.Boolean(),
})

const SettingValues = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: 100,
  propertyNames: { maxLength: 255 },
  additionalProperties: json({ description: "A value of the setting's type, or its text form." }),
})

export const setup = [
  route('GET /setup/status', {
    operationId: 'getSetupStatus',
    permission: 'public',
    summary: 'Setup status',
    responses: { 200: SetupStatus },
    async handle(_input, { sql }) {
      const status = await setupStatus(sql)
      return { ...status, registrationEnabled: await isRegistrationOpen(sql) }
    },
  }),
  route('POST /setup/initialize', {
    operationId: 'initializeServer',
    permission: 'public',
    bucket: 'login',
    summary: 'Create the initial administrator',
    description:
      'Also signs the administrator in. Requests from another machine, through a reverse proxy or from a page on another site must send the setup token that the server printed at startup, as `setupToken` or in the header `X-Setup-Token` (403 otherwise). 409 once there is an administrator.',
    body: body('InitializeRequest', {
      username: Username,
      email: Email,
      password: Password,
      setupToken: maybe(text(200, { description: 'The setup token, where required.' })),
    }),
    responses: { 201: WelcomeResponse },
    async handle({ body, request, reply }, { auth }) {
      const { setupToken = request.headers['x-setup-token'], ...account } = body
      const session = await initialize(auth, account, {
        headers: request.headers,
        address: request.socket.remoteAddress ?? '',
        setupToken: setupToken?.toString(),
      })
      const tokens = tokenResponse({ request, reply }, auth, session)
      return { ...tokens, message: 'Setup complete', user: userInfo(session.account) }
    },
  }),
  route('PATCH /setup/settings', {
    operationId: 'updateSetupSettings',
    permission: 'SystemAdmin',
    summary: 'Update settings during the setup',
    description:
      'Settings by key, as for /admin/settings/bulk. Unknown keys are skipped and named in the message; with an invalid value (400) nothing is changed.',
    body: body('SetupSettings', {
      settings: optional(SettingValues),
      skipConfiguration: optional(
        Type.Boolean({ description: 'Leaves all settings at their defaults.' }),
      ),
    }),
    responses: {
      200: component('SetupSettingsResult', {
        message: Type.String(),
        settingsConfigured: count({ description: 'Settings changed.' }),
      }),
    },
    async handle({ body: { settings, skipConfiguration }, identity, request }, { services }) {
      const values = Object.entries(skipConfiguration ? {} : (settings ?? {}))
      const changes = values.flatMap(([key, value]) =>
        isSettingKey(key) ? [{ key, value: parseSetting(key, value) }] : [],
      )
      const unknown = values.map(([key]) => key).filter(key => !isSettingKey(key))
      if (changes.length > 0)
        await services(openSettings).write(changes, {
          ...{ accountId: identity.account.id, username: identity.account.username },
          ...{ reason: 'Setup', address: request.ip },
        })
      const skipped = unknown.length > 0 ? `; unknown settings skipped: ${unknown.join(', ')}` : ''
      return {
        message: `${changes.length} settings configured${skipped}`,
        settingsConfigured: changes.length,
      }
    },
  }),
]
