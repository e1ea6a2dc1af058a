// First-run set-up: is it needed, and the first administrator.
import { isRegistrationOpen } from '../../auth/registration.ts'
import { initialize, setupStatus } from '../../auth/setup.ts'
import { route } from '../../http/route.ts'
import { body, maybe, record, Type, text } from '../../schema.ts'
import { Email, giveTokens, Password, Username, userInfo, WelcomeAnswer } from './signed-in.ts'

const Status = record({
  setupRequired: Type.Boolean({ description: 'There is no administrator yet.' }),
  hasUsers: Type.Boolean(),
  registrationEnabled: Type.Boolean(),
})

export const setup = [
  route({
    method: 'GET',
    path: '/setup/status',
    permission: 'public',
    summary: 'Whether initial set-up is needed',
    responses: { 200: Status },
    async handle(_input, { sql }) {
      const status = await setupStatus(sql)
      return { ...status, registrationEnabled: await isRegistrationOpen(sql) }
    },
  }),
  route({
    method: 'POST',
    path: '/setup/initialize',
    permission: 'public',
    bucket: 'login',
    summary: 'Create the initial administrator',
    description:
      'Signs the new administrator in. A request that does not come from the machine of the server itself ' +
      'must bring the setup token that the server printed when it started, as `setupToken` or in the header ' +
      '`X-Setup-Token` (403 otherwise); so must one through a reverse proxy or from a page of another site. ' +
      '409 once there is an administrator.',
    body: body({
      username: Username,
      email: Email,
      password: Password,
      setupToken: maybe(text(200, { description: 'See above.' })),
    }),
    responses: { 201: WelcomeAnswer },
    async handle({ body, request, reply }, { auth }) {
      const { setupToken = request.headers['x-setup-token'], ...first } = body
      const signedIn = await initialize(auth, first, {
        headers: request.headers,
        address: request.socket.remoteAddress ?? '',
        setupToken: setupToken?.toString(),
      })
      const tokens = giveTokens({ request, reply }, auth, signedIn)
      return { ...tokens, message: 'The server is set up', user: userInfo(signedIn.account) }
    },
  }),
]
