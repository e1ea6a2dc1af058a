// Self-registration, e-mail confirmation, clean-up of unconfirmed accounts.
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import t, { type Test } from 'tap'
import { changeAccount } from '../../lib/accounts/account.ts'
import { changeOwnEmail } from '../../lib/accounts/own-account.ts'
import { passwordCounters } from '../../lib/accounts/password.ts'
import { register, resendVerification, verifyEmail } from '../../lib/accounts/registration.ts'
import { deleteExpired, signIn } from '../../lib/accounts/session.ts'
import { Conflict, type Failure, Forbidden, Invalid, Unauthorized } from '../../lib/base/errors.ts'
import { bearer, createTestAccount, identify, openTestAuth, password } from './kit.ts'

const ana = { username: 'ana', email: 'ana@example.org', password }

/** A mail server that records messages with the recipients of the envelope. */
async function mailServer(t: Test, { refuses = false } = {}) {
  const messages: { to: string[]; user: string | undefined; text: string }[] = []
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'postman' ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, { envelope, user }, done) {
      let text = ''
      stream.on('data', chunk => (text += chunk))
      stream.on('end', () => {
        if (refuses) return done(new Error('mailbox full'))
        text = text.replaceAll('=\r\n', '').replaceAll('=3D', '=')
        messages.push({ to: envelope.rcptTo.map(r => r.address), user: user as string, text })
        done()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  const { port } = server.server.address() as { port: number }
  const flags = {
    'auth.email_confirmation_required': true,
    'email.host': '127.0.0.1',
    'email.port': port,
    'email.username': 'stackroom',
    'email.password': 'postman',
    'email.from': 'Books <books@example.org>',
    'email.verification_url_base': 'https://books.example.org/',
  }
  return { messages, flags }
}

async function openWithRegistration(t: Test, flags: Record<string, unknown> = {}) {
  const { auth } = await openTestAuth(t, flags)
  await auth.sql`insert into setting (key, value) values ('auth.registration_enabled', 'true')`
  return auth
}
const tokenIn = (text: string) => /token=(\w+)/.exec(text)?.[1] ?? ''

t.test('registration is disabled by default', async t => {
  const { auth } = await openTestAuth(t)
  await t.rejects(register(auth, ana), Forbidden)
  await auth.sql`insert into setting (key, value) values ('auth.registration_enabled', 'false')`
  await t.rejects(register(auth, ana), Forbidden)
})

t.test('without confirmation a new reader is signed in immediately', async t => {
  const auth = await openWithRegistration(t)
  const { account, tokens, isMailed } = await register(auth, ana)
  t.match(account, { username: 'ana', role: 'reader', emailVerified: false })
  t.ok(await identify(auth, bearer(tokens!.accessToken)))
  t.equal(isMailed, null)
  for (const taken of [ana, { ...ana, username: 'b' }, { ...ana, email: 'b@x.org' }])
    await t.rejects(register(auth, taken), Conflict)
  for (const bad of [
    { ...ana, email: 'b' },
    { ...ana, username: ' ' },
  ])
    await t.rejects(register(auth, bad), Invalid)
  await t.rejects(register(auth, { username: 'b', email: 'b@x.org', password: '1234567' }), Invalid)
})

t.test('with confirmation the account is inactive until its mailed token is used', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  const { tokens, isMailed } = await register(auth, ana)
  t.equal(tokens, null)
  t.equal(isMailed, true)
  await t.rejects(signIn(auth, { name: 'ana', password }), { message: 'Account is inactive' })
  const [message] = messages
  t.same(message?.to, ['ana@example.org'])
  t.equal(message?.user, 'stackroom')
  t.match(message?.text, /From: Books <books@example.org>/)
  t.match(message?.text, /https:\/\/books.example.org\/auth\/verify-email\?token=/)
  const token = tokenIn(message!.text)
  t.match(token, /^[0-9a-f]{64}$/)
  await t.rejects(verifyEmail(auth, token.replace(/.$/, 'x')), Invalid)
  const { tokens: confirmed, account } = await verifyEmail(auth, token)
  t.equal(account.emailVerified, true)
  t.ok(await identify(auth, bearer(confirmed!.accessToken)))
  t.ok(await signIn(auth, { name: 'ana', password }))
  await t.rejects(verifyEmail(auth, token), Invalid, 'a token is valid once')
})

t.test(
  'with confirmation an address in use gets the same response, and its owner a mail',
  async t => {
    const { messages, flags } = await mailServer(t)
    const auth = await openWithRegistration(t, flags)
    await createTestAccount(auth.sql, { username: 'owner', email: 'ana@example.org' })
    const before = passwordCounters.hashed
    const inUse = await register(auth, ana)
    t.equal(passwordCounters.hashed, before + 1, 'at the same cost')
    const unused = await register(auth, { ...ana, username: 'bea', email: 'bea@example.org' })
    const { id: _a, username: _b, email, ...rest } = inUse.account
    const { id: _c, username: _d, email: _e, ...same } = unused.account
    t.equal(email, 'ana@example.org')
    t.same(rest, same)
    t.same({ ...inUse, account: null }, { ...unused, account: null })
    t.match(messages[0], { to: ['ana@example.org'], text: /Nothing was changed/ })
    t.notMatch(messages[0]?.text, /token/)
    await t.rejects(
      register(auth, { ...ana, email: 'c@example.org' }),
      Conflict,
      'the name is in use in both cases',
    )
    await t.rejects(register(auth, { ...ana, username: 'bea', email: 'c@example.org' }), Conflict)
    await t.rejects(signIn(auth, { name: 'ana', password }), Unauthorized)
  },
)

t.test('with confirmation no response depends on whether an address has an account', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  await createTestAccount(auth.sql, { username: 'Known@Example.org', email: 'known@example.org' })
  await createTestAccount(auth.sql, { username: 'owner', email: 'other@example.org' })
  const outcome = async (username: string, email: string) =>
    await register(auth, { username, email, password }).then(
      ({ account: { id, ...account }, ...result }) => ({ ...result, account }),
      (error: Failure) => ({ status: error.status, message: error.message }),
    )
  let names = 0
  const cases: ((email: string) => [string, string])[] = [
    email => [email, email],
    email => [email.toUpperCase(), email],
    email => [` ${email} `, email],
    email => [`name${(names += 1)}`, email],
    email => [email, 'third@example.org'],
    email => ['third@example.org', email],
    email => ['no:name', email],
  ]
  for (const known of ['KNOWN@example.org', 'other@example.org'])
    for (const [i, form] of cases.entries()) {
      const unknown = `new${names}${i}@example.org`
      const [a, b] = [await outcome(...form(known)), await outcome(...form(unknown))]
      const text = (result: object, address: string) =>
        JSON.stringify(result)
          .replaceAll(new RegExp(address, 'gi'), 'address')
          .replaceAll(/name\d+/g, 'name')
      t.equal(text(a, known), text(b, unknown), `${form(known)} and ${form(unknown)}`)
    }
  t.notOk(
    messages.some(({ to, text }) => /known|other/i.test(to[0]!) && /token=/.test(text)),
    'no token for an address that has an account',
  )
  t.equal((await auth.sql`select from account where username like 'registration-%'`).length, 0)
})

t.test('with confirmation a new address replaces the old one when it is confirmed', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  await createTestAccount(auth.sql, { username: 'owner', email: 'other@example.org' })
  const { id } = await createTestAccount(auth.sql, { username: 'ana' })
  const identity = async () =>
    (await identify(auth, bearer((await signIn(auth, { name: 'ana', password })).accessToken)))!
  const state = () =>
    auth.sql`select email, email_verified, updated_at from account where id = ${id}`
  const before = await state()
  const mails = async (count: number) => {
    for (let attempts = 6000; attempts > 0 && messages.length < count; attempts--) await sleep(20)
    return messages.at(-1)!.text
  }
  t.equal(await changeOwnEmail(auth, await identity(), 'OTHER@example.org'), undefined)
  t.match(await mails(1), /already belongs to an account/)
  t.same(await state(), before)
  t.equal(await changeOwnEmail(auth, await identity(), 'new@example.org'), undefined)
  const token = tokenIn(await mails(2))
  t.same(await state(), before, 'the response is the same, and the old address is valid')
  t.match(
    messages[1]!.text,
    /as the new address of your Stackroom account. Confirming it does not sign you in/,
  )
  t.match(await verifyEmail(auth, token), { account: { email: 'new@example.org' }, tokens: null })
  await changeOwnEmail(auth, await identity(), 'late@example.org')
  const late = tokenIn(await mails(3))
  await createTestAccount(auth.sql, { username: 'late', email: 'late@example.org' })
  await t.rejects(verifyEmail(auth, late), Invalid, 'taken since')
})

t.test(
  'after a failure of the mail server the account exists, and the mail can be requested again',
  async t => {
    const { flags } = await mailServer(t, { refuses: true })
    const auth = await openWithRegistration(t, flags)
    t.equal((await register(auth, ana)).isMailed, false)
    t.equal((await auth.sql`select from account where username = 'ana'`).length, 1)
    t.match(auth.lines.join(''), /mail not sent/)
    t.notMatch(auth.lines.join(''), /postman/)
  },
)

t.test('a confirmation is sent again on request; the response reveals nothing', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  await createTestAccount(auth.sql, { username: 'verified' })
  await register(auth, ana)
  const first = tokenIn(messages[0]!.text)
  const arrived = async (n: number) => {
    for (let attempts = 6000; attempts > 0 && messages.length < n; attempts--) await sleep(20)
    return messages.length
  }
  for (const email of ['unknown@example.org', 'verified@example.org', 'ana@example.org'])
    t.equal(await resendVerification(auth, email), undefined)
  await sleep(100)
  t.equal(messages.length, 1, 'at most once a minute')
  await auth.sql`update email_verification set created_at = now() - interval '2 minutes'`
  await resendVerification(auth, 'ANA@example.org')
  t.equal(await arrived(2), 2)
  await t.rejects(verifyEmail(auth, first), Invalid, 'the older token is invalid')
  t.match(
    await verifyEmail(auth, tokenIn(messages[1]!.text)),
    { account: { username: 'ana', emailVerified: true }, tokens: null },
    'does not sign in',
  )
  const unsure = { username: 'unsure', emailVerified: false }
  const { id } = await createTestAccount(auth.sql, { ...unsure, role: 'admin' })
  await resendVerification(auth, 'unsure@example.org')
  t.equal(await arrived(3), 3)
  t.match(messages[2]!.text, /not been confirmed yet. Confirming it does not sign you in/)
  t.equal((await verifyEmail(auth, tokenIn(messages[2]!.text))).tokens, null)
  t.same(await auth.sql`select from session where account_id = ${id}`, [])
  await t.rejects(resendVerification(auth, 'no address'), Invalid)
})

t.test('tokens expire, and cannot activate a deactivated account', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  const { account } = await register(auth, ana)
  await auth.sql`update email_verification set expires_at = now() - interval '1 s'`
  await t.rejects(verifyEmail(auth, tokenIn(messages[0]!.text)), Invalid)
  await auth.sql`update email_verification set expires_at = now() + interval '1 h'`
  await changeAccount(auth, { id: account.id }, { isActive: false })
  await t.rejects(verifyEmail(auth, tokenIn(messages[0]!.text)), Invalid)
})

t.test('a deactivated account cannot reactivate itself with a new confirmation', async t => {
  const { messages, flags } = await mailServer(t)
  const auth = await openWithRegistration(t, flags)
  const unsure = { emailVerified: false }
  const { id } = await createTestAccount(auth.sql, { username: 'unsure', ...unsure })
  await changeAccount(auth, { id }, { isActive: false })
  await createTestAccount(auth.sql, { username: 'later', isActive: false, ...unsure })
  await register(auth, ana)
  await auth.sql`update account set created_at = now() - interval '8 days' where username = 'later'`
  await auth.sql`
    update email_verification set created_at = now() - interval '2 days',
      expires_at = now() - interval '1 day'`
  await deleteExpired(auth)
  for (const name of ['unsure', 'later', 'ana'])
    await resendVerification(auth, `${name}@example.org`)
  for (let attempts = 6000; attempts > 0 && messages.length < 2; attempts--) await sleep(20)
  t.same(
    messages.map(message => message.to[0]),
    ['ana@example.org', 'ana@example.org'],
    'only registered accounts, even after their token expired',
  )
  t.equal((await auth.sql`select from email_verification`).length, 1)
  t.equal(
    (await auth.sql`select from account where username = 'later'`).length,
    1,
    'is not deleted',
  )
  await auth.sql`update account set created_at = now() - interval '8 days'`
  await deleteExpired(auth)
  const remaining = await auth.sql<{ username: string }[]>`select username from account order by 1`
  t.same(
    remaining.map(row => row.username),
    ['later', 'unsure'],
    'unconfirmed accounts are deleted',
  )
})
