// Web page behind the link of a verification e-mail.

import { Failure } from '../../base/errors.ts'
import { bytes, ErrorBody, maybe, oneOf, record, Type, text } from '../../base/schema.ts'
import { respond, route } from '../../http/route.ts'
import { verifyEmail } from '../registration.ts'

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

export const verificationPage = [
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
