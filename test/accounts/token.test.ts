// Access tokens: signature, verification, key rotation.
import { SignJWT } from 'jose'
import t from 'tap'
import { createAccessTokens, rotateSigningKeys } from '../../lib/accounts/token.ts'
import { Unauthorized } from '../../lib/base/errors.ts'
import { newId } from '../../lib/base/id.ts'
import { signingKeyPlace } from '../../lib/store/secret/secrets.ts'
import { createDatabase } from '../kit/db.ts'
import { testSecrets } from './kit.ts'

const account = { id: newId(), username: 'ana', role: 'reader' }
const sessionId = newId()

t.test(
  'a token identifies its account and session in all processes that start concurrently',
  async t => {
    const { sql } = await createDatabase(t)
    const secrets = testSecrets(t)
    const [a, b] = [
      createAccessTokens(sql, secrets, { minutes: 60 }),
      createAccessTokens(sql, secrets, { minutes: 60 }),
    ]
    const [first, second] = await Promise.all([
      a.sign(account, sessionId),
      b.sign(account, sessionId),
    ])
    t.equal(first.expiresIn, 3600)
    t.match(await b.verify(first.token), { accountId: account.id, sessionId })
    t.match(await a.verify(second.token), { accountId: account.id, sessionId })
    const [header, payload] = first.token
      .split('.')
      .slice(0, 2)
      .map(part => JSON.parse(Buffer.from(part, 'base64url').toString()))
    t.match(header, { alg: 'HS256', kid: String })
    t.match(payload, {
      sub: account.id,
      sid: sessionId,
      username: 'ana',
      role: 'reader',
      iss: 'stackroom',
    })
  },
)

t.test('modified, unsigned, foreign and expired tokens are rejected', async t => {
  const { sql } = await createDatabase(t)
  const secrets = testSecrets(t)
  const tokens = createAccessTokens(sql, secrets, { minutes: 60 })
  const { token } = await tokens.sign(account, sessionId)
  const [header, , signature] = token.split('.')
  const other = Buffer.from(
    JSON.stringify({ sub: newId(), sid: sessionId, iss: 'stackroom', exp: 9e9 }),
  )
  const [
    {
      value: [key],
    },
  ] = await sql<[{ value: { kid: string; secret: string }[] }]>`
    select value from setting where key = 'jwt_keys'`
  const plain = secrets.open(key!.secret, signingKeyPlace(key!.kid))!
  const signed = (claims: Record<string, unknown>, secret = plain, kid = key!.kid) =>
    new SignJWT({ sid: sessionId, sub: account.id, iss: 'stackroom', exp: 9e9, ...claims })
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.from(secret, 'base64url'))
  const none = `${Buffer.from(JSON.stringify({ alg: 'none', kid: key!.kid })).toString('base64url')}.${other.toString('base64url')}.`
  t.match(await tokens.verify(await signed({})), { sessionId })
  const bad = {
    empty: '',
    words: 'a.b.c',
    changed: `${header}.${other.toString('base64url')}.${signature}`,
    none,
    'another secret': await signed({}, Buffer.alloc(32).toString('base64url')),
    'unknown key': await signed({}, plain, newId()),
    'other issuer': await signed({ iss: 'elsewhere' }),
    'no session': await signed({ sid: undefined }),
    'odd session': await signed({ sid: "' or true" }),
    'no expiry': await signed({ exp: undefined }),
    expired: await signed({ exp: Math.floor(Date.now() / 1000) - 60 }),
  }
  for (const [name, token] of Object.entries(bad))
    await t.rejects(tokens.verify(token), Unauthorized, name)
})

t.test(
  'after a rotation new tokens use the new key; old ones stay valid unless `distrust` is set',
  async t => {
    const { sql } = await createDatabase(t)
    const secrets = testSecrets(t)
    const [a, b] = [
      createAccessTokens(sql, secrets, { minutes: 60 }),
      createAccessTokens(sql, secrets, { minutes: 60 }),
    ]
    const kid = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid
    const { token: first } = await a.sign(account, sessionId)
    await b.verify(first)
    await rotateSigningKeys(sql, secrets)
    a.reload()
    const { token: second } = await a.sign(account, sessionId)
    t.not(kid(second), kid(first))
    t.match(await a.verify(first), { sessionId })
    await new Promise(resolve => setTimeout(resolve, 1100))
    t.match(
      await b.verify(second),
      { sessionId },
      'a process without notification reads the keys again',
    )
    await rotateSigningKeys(sql, secrets, { distrust: true })
    a.reload()
    await t.rejects(a.verify(first), Unauthorized)
    await t.rejects(a.verify(second), Unauthorized)
  },
)
