// Authentication endpoints: sign-in, token refresh, sign-out, registration, e-mail verification and its web page.
import { Failure } from '../../base/errors.ts'
import {
  body,
  bytes,
  component,
  ErrorBody,
  list,
  maybe,
  oneOf,
  optional,
  record,
  Type,
  text,
} from '../../base/schema.ts'
import { addressKey } from '../../http/limits/rate-limit.ts'
import { Message } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { checkEmail } from '../account.ts'
import { register, resendVerification, verifyEmail } from '../registration.ts'
import { refresh, signIn, signOut } from '../session.ts'
import {
  EffectivePermissions,
  Email,
  effectivePermissionNames,
  Password,
  UserInfo,
  Username,
  userInfo,
} from './account-schema.ts'
import {
  clearSessionCookie,
  LoginResponse,
  noTokens,
  RegisterResponse,
  TokenResponse,
  tokenResponse,
} from './token-response.ts'

const LoginProviders = component('LoginProviders', {
  enabled: Type.Boolean(),
  providers: list(
    component('LoginProvider', {
      name: Type.String(),
      displayName: Type.String(),
      loginUrl: Type.String(),
    }),
  ),
})
const RefreshToken = text(200, { description: 'A refresh token.' })
const CurrentUser = component('CurrentUser', {
  ...UserInfo.properties,
  effectivePermissions: EffectivePermissions,
})

const signIns = [
  route('POST /auth/login', {
    operationId: 'login',
    permission: 'public',
    bucket: 'login',
    guesses: 'username',
    summary: 'Sign in',
    description:
      'Also sets the cookie `auth_token` for images and event streams. An unknown name and a wrong password give the same 401.',
    body: body('LoginRequest', {
      username: text(254, { description: 'User name or e-mail address, case-insensitive.' }),
      password: text(4096),
    }),
    responses: { 200: LoginResponse },
    async handle({ body, request, reply }, { auth }) {
      const { username: name, password } = body
      const session = await signIn(auth, { name, password, address: addressKey(request.ip) })
      return {
        ...tokenResponse({ request, reply }, auth, session),
        user: userInfo(session.account),
      }
    },
  }),
  route('POST /auth/refresh', {
    operationId: 'refreshTokens',
    permission: 'public',
    summary: 'Exchange a refresh token for new tokens',
    description:
      'A refresh token is valid for one use. For ten seconds it can be used again, by another tab or because the response was lost; each response has its own refresh token. Any later reuse ends the session, because the token must have been copied.',
    body: body('RefreshRequest', { refreshToken: RefreshToken }),
    responses: { 200: TokenResponse },
    async handle({ body, request, reply }, { auth }) {
      return tokenResponse({ request, reply }, auth, await refresh(auth, body.refreshToken))
    },
  }),
  route('POST /auth/logout', {
    operationId: 'logout',
    permission: 'auth',
    summary: 'Sign out',
    description:
      'Ends the session of the access token, and the session of the refresh token if one is sent. Both tokens become invalid immediately.',
    body: body('LogoutRequest', { refreshToken: optional(RefreshToken) }),
    bodyOptional: true,
    responses: { 200: Message },
    async handle({ body, identity, request, reply }, { auth }) {
      const { sessionId, account } = identity
      await signOut(auth, account.id, { sessionId, refreshToken: body.refreshToken ?? undefined })
      clearSessionCookie({ request, reply }, auth)
      return { message: 'Signed out' }
    },
  }),
  route('GET /auth/oidc/providers', {
    operationId: 'listLoginProviders',
    permission: 'public',
    summary: 'List single sign-on providers',
    description: 'There are none: accounts sign in with a password.',
    responses: { 200: LoginProviders },
    handle: () => ({ enabled: false, providers: [] }),
  }),
  route('GET /auth/me', {
    operationId: 'getCurrentUser',
    permission: 'auth',
    cookie: true,
    summary: 'Current user',
    responses: { 200: CurrentUser },
    handle: ({ identity }) => ({
      ...userInfo(identity.account),
      effectivePermissions: effectivePermissionNames(identity),
    }),
  }),
  route('POST /auth/register', {
    operationId: 'register',
    permission: 'public',
    bucket: 'login',
    summary: 'Register an account',
    description:
      'Requires the setting `auth.registration_enabled` (403 otherwise). If e-mail addresses must be verified, the tokens are null until then; an address that already has an account gets the same response, and its owner is sent an e-mail.',
    body: body('RegisterRequest', { username: Username, email: Email, password: Password }),
    responses: { 201: RegisterResponse },
    async handle({ body, request, reply }, { auth }) {
      const { account, tokens, isMailed } = await register(auth, body)
      const user = userInfo(account)
      if (tokens) return { ...tokenResponse({ request, reply }, auth, tokens), message: null, user }
      const message = isMailed
        ? 'A verification e-mail was sent; open its link to verify the address'
        : 'The verification e-mail could not be sent; request it again later'
      return { ...noTokens, message, user }
    },
  }),
  route('POST /auth/verify-email', {
    operationId: 'verifyEmail',
    permission: 'public',
    bucket: 'login',
    summary: 'Verify an e-mail address',
    description:
      'Takes the single-use token of the verification e-mail. A registration token signs in; the tokens are null after a change of address and for an e-mail that was sent again.',
    body: body('VerifyEmailRequest', {
      token: text(200, { description: 'Token of the verification e-mail.' }),
    }),
    responses: { 200: RegisterResponse },
    async handle({ body, request, reply }, { auth }) {
      const { account, tokens } = await verifyEmail(auth, body.token.trim())
      const fields = tokens ? tokenResponse({ request, reply }, auth, tokens) : noTokens
      return { ...fields, message: 'E-mail address verified', user: userInfo(account) }
    },
  }),
  route('POST /auth/resend-verification', {
    operationId: 'resendVerification',
    permission: 'public',
    bucket: 'login',
    summary: 'Resend the verification e-mail',
    description: 'The response does not reveal whether such an account exists.',
    body: body('ResendVerificationRequest', { email: Email }),
    responses: { 200: Message },
    handle({ body }, { auth, log }) {
      const email = checkEmail(body.email)
      // In the background, so that the response time does not depend on the account.
      resendVerification(auth, email).catch(err => log.warn({ err }, 'verification not sent'))
      return { message: 'If the account is not verified yet, an e-mail was sent' }
    },
  }),
]

const page = bytes('text/html')
// A query beyond its limits is refused as everywhere.
const errorPage = Type.Unsafe<string>({ ...ErrorBody, mediaTypes: ['text/html'] })
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // The URL contains the token.
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
}

export const session = [
  ...signIns,
  route('GET /auth/verify-email', {
    operationId: 'getVerificationPage',
    atRoot: true,
    permission: 'public',
    bucket: 'login',
    summary: 'Web page that verifies an e-mail address',
    description:
      'The link in the verification e-mail. Verifying takes a click on a button, because mail filters open links too.',
    query: record({
      token: maybe(text(200, { description: 'Token of the verification e-mail.' })),
      confirm: maybe(oneOf(['yes'], { description: 'Sent by the button.' })),
    }),
    responses: { 200: page, 400: errorPage },
    async handle({ query: { token = '', confirm } }, { auth }) {
      if (confirm === undefined) return respond(200, html(confirmation(token)), headers)
      try {
        await verifyEmail(auth, token.trim())
      } catch (error) {
        if (!(error instanceof Failure) || error.status !== 400) throw error
        return respond(400, html(`<p>${escapeHtml(error.message)}.</p>`), headers)
      }
      const message = 'The e-mail address is verified. You can sign in now.'
      return respond(200, html(`<p>${message}</p>`), headers)
    },
  }),
]

const confirmation = (token: string) => `<p>Verify your e-mail address.</p>
<form method="get">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<button name="confirm" value="yes">Verify</button>
</form>`

const html = (content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stackroom</title>
<style>body { max-width: 30rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif }</style>
</head>
<body>
<h1>Stackroom</h1>
${content}
</body>
</html>
`

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (value: string) => value.replace(/[&<>"]/g, character => entities[character]!)
