import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import t, { type Test } from 'tap'
import { changeAccount } from '../../lib/auth/account.ts'
import { passwordCounters } from '../../lib/auth/password.ts'
import { register, resendVerification, verifyEmail } from '../../lib/auth/registration.ts'
import { signIn, sweep } from '../../lib/auth/session.ts'
import { Forbidden, Invalid, Unauthorized } from '../../lib/errors.ts'
import { bearer, open, password, person, who } from './kit.ts'

const ana = { username: 'ana', email: 'ana@example.org', password }

/** A mail server; what it takes, with the recipients of the envelope. */
async function mailServer(t: Test, { refuses = false } = {}) {
  const letters: { to: string[]; user: string | undefined; text: string }[] = []
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
        letters.push({ to: envelope.rcptTo.map(r => r.address), user: user as string, text })
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
  return { letters, flags }
}

async function openDoor(t: Test, flags: Record<string, unknown> = {}) {
  const { auth } = await open(t, flags)
  await auth.sql`insert into setting (key, value) values ('auth.registration_enabled', 'true')`
  return auth
}
const tokenIn = (text: string) => /token=(\w+)/.exec(text)?.[1] ?? ''

t.test('nobody registers unless the administrator allows it', async t => {
  const { auth } = await open(t)
  await t.rejects(register(auth, ana), Forbidden)
  await auth.sql`insert into setting (key, value) values ('auth.registration_enabled', 'false')`
  await t.rejects(register(auth, ana), Forbidden)
})

t.test('without confirmation a new reader is signed in at once', async t => {
  const auth = await openDoor(t)
  const { account, tokens, isMailed } = await register(auth, ana)
  t.match(account, { username: 'ana', role: 'reader', emailVerified: false })
  t.ok(await who(auth, bearer(tokens!.accessToken)))
  t.equal(isMailed, null)
  for (const bad of [
    ana,
    { ...ana, username: 'b' },
    { ...ana, email: 'b@x.org' },
    { ...ana, email: 'b' },
    { ...ana, username: ' ' },
  ])
    await t.rejects(register(auth, bad), Invalid)
  await t.rejects(register(auth, { username: 'b', email: 'b@x.org', password: '1234567' }), Invalid)
})

t.test('with confirmation the account sleeps until the mailed token wakes it', async t => {
  const { letters, flags } = await mailServer(t)
  const auth = await openDoor(t, flags)
  const { tokens, isMailed } = await register(auth, ana)
  t.equal(tokens, null)
  t.equal(isMailed, true)
  await t.rejects(signIn(auth, { name: 'ana', password }), { message: 'Account is inactive' })
  const [letter] = letters
  t.same(letter?.to, ['ana@example.org'])
  t.equal(letter?.user, 'stackroom')
  t.match(letter?.text, /From: Books <books@example.org>/)
  t.match(letter?.text, /https:\/\/books.example.org\/auth\/verify-email\?token=/)
  const token = tokenIn(letter!.text)
  t.match(token, /^[0-9a-f]{64}$/)
  await t.rejects(verifyEmail(auth, token.replace(/.$/, 'x')), Invalid)
  const { accessToken, account } = await verifyEmail(auth, token)
  t.equal(account.emailVerified, true)
  t.ok(await who(auth, bearer(accessToken)))
  t.ok(await signIn(auth, { name: 'ana', password }))
  await t.rejects(verifyEmail(auth, token), Invalid, 'once only')
})

t.test(
  'with confirmation an address that is known gets the same answer, and its owner a letter',
  async t => {
    const { letters, flags } = await mailServer(t)
    const auth = await openDoor(t, flags)
    await person(auth.sql, { username: 'owner', email: 'ana@example.org' })
    const before = passwordCounters.hashed
    const known = await register(auth, ana)
    t.equal(passwordCounters.hashed, before + 1, 'at the same cost')
    const unknown = await register(auth, { ...ana, username: 'bea', email: 'bea@example.org' })
    const { id: _a, username: _b, email, ...rest } = known.account
    const { id: _c, username: _d, email: _e, ...same } = unknown.account
    t.equal(email, 'ana@example.org')
    t.same(rest, same)
    t.same({ ...known, account: null }, { ...unknown, account: null })
    t.match(letters[0], { to: ['ana@example.org'], text: /Nothing was changed/ })
    t.notMatch(letters[0]?.text, /token/)
    await t.rejects(
      register(auth, { ...ana, email: 'c@example.org' }),
      Invalid,
      'the name is taken either way',
    )
    await t.rejects(register(auth, { ...ana, username: 'bea', email: 'c@example.org' }), Invalid)
    await t.rejects(signIn(auth, { name: 'ana', password }), Unauthorized)
  },
)

t.test(
  'a mail server that fails leaves the account, and another letter may be asked for',
  async t => {
    const { flags } = await mailServer(t, { refuses: true })
    const auth = await openDoor(t, flags)
    t.equal((await register(auth, ana)).isMailed, false)
    t.equal((await auth.sql`select from account where username = 'ana'`).length, 1)
    t.match(auth.lines.join(''), /mail not sent/)
    t.notMatch(auth.lines.join(''), /postman/)
  },
)

t.test(
  'a confirmation is sent again on request; strangers learn nothing from the answer',
  async t => {
    const { letters, flags } = await mailServer(t)
    const auth = await openDoor(t, flags)
    await person(auth.sql, { username: 'verified' })
    await register(auth, ana)
    const first = tokenIn(letters[0]!.text)
    const arrived = async (n: number) => {
      for (let left = 1000; left > 0 && letters.length < n; left--) await sleep(20)
      return letters.length
    }
    for (const email of ['nobody@example.org', 'verified@example.org', 'ana@example.org'])
      t.equal(await resendVerification(auth, email), undefined)
    await sleep(100)
    t.equal(letters.length, 1, 'not twice in a minute')
    await auth.sql`update email_verification set created_at = now() - interval '2 minutes'`
    await resendVerification(auth, 'ANA@example.org')
    t.equal(await arrived(2), 2)
    await t.rejects(verifyEmail(auth, first), Invalid, 'the older token is void')
    const { id } = (await verifyEmail(auth, tokenIn(letters[1]!.text))).account
    t.ok(id)
    await t.rejects(resendVerification(auth, 'no address'), Invalid)
  },
)

t.test('tokens run out, and an account that was put off is not woken by one', async t => {
  const { letters, flags } = await mailServer(t)
  const auth = await openDoor(t, flags)
  const { account } = await register(auth, ana)
  await auth.sql`update email_verification set expires_at = now() - interval '1 s'`
  await t.rejects(verifyEmail(auth, tokenIn(letters[0]!.text)), Invalid)
  await auth.sql`update email_verification set expires_at = now() + interval '1 h'`
  await changeAccount(auth, { id: account.id }, { isActive: false })
  await t.rejects(verifyEmail(auth, tokenIn(letters[0]!.text)), Invalid)
})

t.test('an account that was deactivated cannot wake itself by asking for a letter', async t => {
  const { letters, flags } = await mailServer(t)
  const auth = await openDoor(t, flags)
  const unsure = { emailVerified: false }
  const { id } = await person(auth.sql, { username: 'unsure', ...unsure })
  await changeAccount(auth, { id }, { isActive: false })
  await person(auth.sql, { username: 'later', isActive: false, ...unsure })
  await register(auth, ana)
  await auth.sql`update account set created_at = now() - interval '8 days' where username = 'later'`
  await auth.sql`
    update email_verification set created_at = now() - interval '2 days',
      expires_at = now() - interval '1 day'`
  await sweep(auth)
  for (const name of ['unsure', 'later', 'ana'])
    await resendVerification(auth, `${name}@example.org`)
  for (let left = 1000; left > 0 && letters.length < 2; left--) await sleep(20)
  t.same(
    letters.map(letter => letter.to[0]),
    ['ana@example.org', 'ana@example.org'],
    'only who registered waits, also after a letter that ran out',
  )
  t.equal((await auth.sql`select from email_verification`).length, 1)
  t.equal((await auth.sql`select from account where username = 'later'`).length, 1, 'and stays')
  await auth.sql`update account set created_at = now() - interval '8 days'`
  await sweep(auth)
  const left = await auth.sql<{ username: string }[]>`select username from account order by 1`
  t.same(
    left.map(row => row.username),
    ['later', 'unsure'],
    'who never confirmed goes',
  )
})
