// Initial setup: whether it is required, and creation of the first administrator.
import { isRegistrationOpen } from '../../auth/registration.ts'
import { initialize, setupStatus } from '../../auth/setup.ts'
import { route } from '../../http/route.ts'
import { body, maybe, record, Type, text } from '../../schema.ts'
import { Email, Password, Username, userInfo } from './account-schema.ts'
import { tokenResponse, WelcomeResponse } from './token-response.ts'

const SetupStatus = record(
  {
    setupRequired: Type.Boolean({ description: 'There is no administrator yet.' }),
    hasUsers: Type.Boolean(),
    registrationEnabled: Type.Boolean(),
  },
  { component: 'SetupStatus' },
)

export const setup = [
  route({
    operationId: 'getSetupStatus',
    method: 'GET',
    path: '/setup/status',
    permission: 'public',
    summary: 'Setup status',
    responses: { 200: SetupStatus },
    async handle(_input, { sql }) {
      const status = await setupStatus(sql)
      return { ...status, registrationEnabled: await isRegistrationOpen(sql) }
    },
  }),
  route({
    operationId: 'initializeServer',
    method: 'POST',
    path: '/setup/initialize',
    permission: 'public',
    bucket: 'login',
    summary: 'Create the initial administrator',
    description:
      'Also signs the administrator in. Requests from another machine, through a reverse proxy or from a page of another site must send the setup token that the server printed at start, as `setupToken` or in the header `X-Setup-Token` (403 otherwise). 409 once there is an administrator.',
    body: body(
      {
        username: Username,
        email: Email,
        password: Password,
        setupToken: maybe(text(200, { description: 'The setup token, where it is required.' })),
      },
      { component: 'InitializeRequest' },
    ),
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
]
