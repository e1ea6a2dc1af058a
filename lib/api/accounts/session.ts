// Signing in and out, staying signed in, and accounts that people make for themselves.

import { permissionNames } from '../../auth/permission.ts'
import { register, resendVerification, verifyEmail } from '../../auth/registration.ts'
import { refresh, signIn, signOut } from '../../auth/session.ts'
import { route } from '../../http/route.ts'
import { body, list, maybe, oneOf, record, Type, text } from '../../schema.ts'
import {
  allowedTo,
  Email,
  giveTokens,
  LoginAnswer,
  Password,
  RegisterAnswer,
  TokenAnswer,
  takeCookie,
  UserInfo,
  Username,
  userInfo,
  WelcomeAnswer,
} from './signed-in.ts'

const Message = record({ message: Type.String() })
const RefreshToken = text(200)
const Me = Type.Object({
  ...UserInfo.properties,
  effectivePermissions: list(oneOf(permissionNames), {
    description: 'All that this request may do: of role and extras, within those of the API key.',
  }),
})
const unsaid = {
  access_token: null,
  accessToken: null,
  refresh_token: null,
  refreshToken: null,
  token_type: null,
  tokenType: null,
  expires_in: null,
  expiresIn: null,
}

export const session = [
  route({
    method: 'POST',
    path: '/auth/login',
    permission: 'public',
    bucket: 'login',
    summary: 'Sign in',
    description:
      'Also sets the cookie `auth_token` for images and streams. An unknown name and a wrong password get the same 401.',
    body: body({
      username: text(254, { description: 'User name or e-mail address, in any case.' }),
      password: text(4096),
    }),
    responses: { 200: LoginAnswer },
    async handle({ body, request, reply }, { auth }) {
      const signedIn = await signIn(auth, { name: body.username, password: body.password })
      return { ...giveTokens({ request, reply }, auth, signedIn), user: userInfo(signedIn.account) }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/refresh',
    permission: 'public',
    summary: 'Trade a refresh token for new tokens',
    description:
      'Each refresh token is good once. Showing a used one ends its session, except within ten seconds of its ' +
      'first use while the tokens of that answer were not used: the answer may have been lost.',
    body: body({ refreshToken: RefreshToken }),
    responses: { 200: TokenAnswer },
    async handle({ body, request, reply }, { auth }) {
      return giveTokens({ request, reply }, auth, await refresh(auth, body.refreshToken))
    },
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    permission: 'auth',
    summary: 'Sign out',
    description:
      'Ends the session of the access token, and that of the refresh token if one is sent: both are useless at once.',
    body: body({ refreshToken: maybe(RefreshToken) }),
    bodyOptional: true,
    responses: { 200: Message },
    async handle({ body, identity, request, reply }, { auth }) {
      const { sessionId, account } = identity
      await signOut(auth, account.id, { sessionId, refreshToken: body.refreshToken })
      takeCookie({ request, reply }, auth)
      return { message: 'Signed out' }
    },
  }),
  route({
    method: 'GET',
    path: '/auth/me',
    permission: 'auth',
    cookie: true,
    summary: 'The current user',
    responses: { 200: Me },
    handle: ({ identity }) => ({
      ...userInfo(identity.account),
      effectivePermissions: allowedTo(identity),
    }),
  }),
  route({
    method: 'POST',
    path: '/auth/register',
    permission: 'public',
    bucket: 'login',
    summary: 'Register an account',
    description:
      'Needs the setting `auth.registration_enabled` (403 otherwise). Where addresses must be confirmed ' +
      'the tokens are null until they are; an address that has an account already then gets the same ' +
      'answer, and its owner a letter.',
    body: body({ username: Username, email: Email, password: Password }),
    responses: { 201: RegisterAnswer },
    async handle({ body, request, reply }, { auth }) {
      const { account, tokens, isMailed } = await register(auth, body)
      const user = userInfo(account)
      if (tokens) return { ...giveTokens({ request, reply }, auth, tokens), message: null, user }
      const message = isMailed
        ? 'A letter with a link was sent: open it to confirm the address'
        : 'The letter that confirms the address could not be sent: ask for it again later'
      return { ...unsaid, message, user }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/verify-email',
    permission: 'public',
    bucket: 'login',
    summary: 'Confirm an e-mail address',
    description: 'Takes the token that was mailed, once, and signs in.',
    body: body({ token: text(200) }),
    responses: { 200: WelcomeAnswer },
    async handle({ body, request, reply }, { auth }) {
      const signedIn = await verifyEmail(auth, body.token.trim())
      const tokens = giveTokens({ request, reply }, auth, signedIn)
      return { ...tokens, message: 'The address is confirmed', user: userInfo(signedIn.account) }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/resend-verification',
    permission: 'public',
    bucket: 'login',
    summary: 'Send the confirmation again',
    description: 'The answer is the same whether or not an account waits for it.',
    body: body({ email: Email }),
    responses: { 200: Message },
    async handle({ body }, { auth }) {
      await resendVerification(auth, body.email)
      return { message: 'If an account waits for confirmation, a letter is on its way' }
    },
  }),
]
