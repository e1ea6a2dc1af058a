import { SignJWT } from 'jose'
import t from 'tap'
import { accessTokens, rotateKeys } from '../../lib/auth/token.ts'
import { Unauthorized } from '../../lib/errors.ts'
import { newId } from '../../lib/id.ts'
import { database } from '../kit/db.ts'

const account = { id: newId(), username: 'ana', role: 'reader' }
const sessionId = newId()

t.test('a token says whose it is, in this process and in others that start together', async t => {
  const { sql } = await database(t)
  const [a, b] = [accessTokens(sql, { minutes: 60 }), accessTokens(sql, { minutes: 60 })]
  const [one, two] = await Promise.all([a.sign(account, sessionId), b.sign(account, sessionId)])
  t.equal(one.expiresIn, 3600)
  t.match(await b.verify(one.token), { accountId: account.id, sessionId })
  t.match(await a.verify(two.token), { accountId: account.id, sessionId })
  const [header, payload] = one.token
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
})

t.test('what is changed, unsigned, of others, or over is refused', async t => {
  const { sql } = await database(t)
  const tokens = accessTokens(sql, { minutes: 60 })
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
  const signed = (claims: Record<string, unknown>, secret = key!.secret, kid = key!.kid) =>
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
    'unknown key': await signed({}, key!.secret, newId()),
    'other issuer': await signed({ iss: 'elsewhere' }),
    'no session': await signed({ sid: undefined }),
    'odd session': await signed({ sid: "' or true" }),
    'no end': await signed({ exp: undefined }),
    over: await signed({ exp: Math.floor(Date.now() / 1000) - 60 }),
  }
  for (const [name, token] of Object.entries(bad))
    await t.rejects(tokens.verify(token), Unauthorized, name)
})

t.test(
  'after a rotation new tokens are signed anew and old ones stay good, unless the keys got about',
  async t => {
    const { sql } = await database(t)
    const [a, b] = [accessTokens(sql, { minutes: 60 }), accessTokens(sql, { minutes: 60 })]
    const kid = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid
    const { token: first } = await a.sign(account, sessionId)
    await b.verify(first)
    await rotateKeys(sql)
    a.forget()
    const { token: second } = await a.sign(account, sessionId)
    t.not(kid(second), kid(first))
    t.match(await a.verify(first), { sessionId })
    await new Promise(resolve => setTimeout(resolve, 1100))
    t.match(await b.verify(second), { sessionId }, 'a process that was told nothing looks again')
    await rotateKeys(sql, { distrust: true })
    a.forget()
    await t.rejects(a.verify(first), Unauthorized)
    await t.rejects(a.verify(second), Unauthorized)
  },
)
