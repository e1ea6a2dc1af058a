// Sessions: sign-in, refresh token rotation and reuse detection, sign-out, clean-up.
import { hash } from 'argon2'
import t, { type Test } from 'tap'
import { changeAccount } from '../../lib/accounts/account.ts'
import type { Auth } from '../../lib/accounts/auth.ts'
import { passwordCounters } from '../../lib/accounts/password.ts'
import { deleteExpired, refresh, signIn, signOut } from '../../lib/accounts/session.ts'
import { Unauthorized } from '../../lib/base/errors.ts'
import { bearer, createTestAccount, identify, openProcess, openTestAuth, password } from './kit.ts'

const signInAna = (auth: Auth) => signIn(auth, { name: 'ana', password })
/** Moves all times of the tokens 11 seconds into the past. */
const ageTokens = (auth: Auth) => auth.sql`
  update refresh_token
  set created_at = created_at - interval '11 s', used_at = used_at - interval '11 s'`
async function assertEnded(
  t: Test,
  auth: Auth,
  { accessToken, refreshToken }: { accessToken: string; refreshToken: string },
) {
  await t.rejects(identify(auth, bearer(accessToken)), Unauthorized)
  await t.rejects(refresh(auth, refreshToken), Unauthorized)
}

t.test(
  'sign-in by name or address in any case; failures have the same message and cost',
  async t => {
    const { auth } = await openTestAuth(t)
    await createTestAccount(auth.sql, { username: 'Ána', email: 'ana@example.org' })
    await createTestAccount(auth.sql, { username: 'off', isActive: false })
    for (const name of ['ána', 'ANA@EXAMPLE.ORG', ' A\u0301na ']) {
      const { account, expiresIn, accessToken } = await signIn(auth, { name, password })
      t.match(account, {
        username: 'Ána',
        email: 'ana@example.org',
        role: 'reader',
        permissions: [],
      })
      t.equal(expiresIn, 3600)
      t.ok(await identify(auth, bearer(accessToken)))
    }
    const messages = new Set<string>()
    for (const [name, attempt] of [
      ['ána', 'wrong password'],
      ['unknown', password],
      ['off', 'wrong password'],
      ['', ''],
      ['a\0', password],
    ] as const) {
      const before = passwordCounters.verified
      const error: Error = await signIn(auth, { name, password: attempt }).then(
        () => t.fail(),
        e => e,
      )
      t.ok(error instanceof Unauthorized)
      messages.add(error.message)
      t.equal(passwordCounters.verified, before + 1, name)
    }
    t.equal(messages.size, 1)
    await t.rejects(signIn(auth, { name: 'off', password }), { message: 'Account is inactive' })
    const [row] =
      await auth.sql`select last_login_at as at from account where email = 'ana@example.org'`
    t.ok(row?.at)
  },
)

t.test('a hash with outdated parameters is replaced at the next sign-in', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const old = await hash(password, { memoryCost: 8192, timeCost: 2, parallelism: 1 })
  await auth.sql`update account set password_hash = ${old}`
  await signInAna(auth)
  const [row] = await auth.sql`select password_hash as hash from account`
  t.match(row?.hash, /m=32768,t=2,p=1/)
  t.ok(await signInAna(auth))
})

t.test('a refresh token is valid once; the session continues with its successor', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  let tokens = await signInAna(auth)
  const seen = new Set([tokens.refreshToken])
  for (let i = 0; i < 3; i++) {
    tokens = await refresh(auth, tokens.refreshToken)
    seen.add(tokens.refreshToken)
    t.equal(tokens.account.username, 'ana')
    t.ok(await identify(auth, bearer(tokens.accessToken)))
  }
  t.equal(seen.size, 4)
  t.equal((await auth.sql`select from session`).length, 1)
  await t.rejects(refresh(auth, 'never given'), Unauthorized)
})

t.test('reuse of a refresh token ends its session', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const stolen = await signInAna(auth)
  const other = await signInAna(auth)
  const second = await refresh(auth, stolen.refreshToken)
  await ageTokens(auth)
  await t.rejects(refresh(auth, stolen.refreshToken), Unauthorized)
  await assertEnded(t, auth, second)
  t.ok(await identify(auth, bearer(other.accessToken)), 'other sessions continue')
  t.match(auth.lines.join(''), /refresh token reused/)
})

t.test('tabs that refresh with the same token within ten seconds each continue', async t => {
  const { auth, url } = await openTestAuth(t)
  const other = await openProcess(t, url)
  await createTestAccount(auth.sql, { username: 'ana' })
  const { refreshToken } = await signInAna(auth)
  const tabs = await Promise.all([
    ...[auth, other, auth].map(process => refresh(process, refreshToken)),
    refresh(other, refreshToken),
  ])
  t.equal(new Set(tabs.map(tab => tab.refreshToken)).size, 4)
  for (let round = 0; round < 3; round++) {
    await ageTokens(auth)
    for (const [i, tab] of tabs.entries()) {
      tabs[i] = await refresh(auth, tab.refreshToken)
      t.ok(await identify(auth, bearer(tabs[i].accessToken)))
    }
  }
  t.equal((await auth.sql`select from session where revoked_at is null`).length, 1)
})

t.test('reuse of the token of any tab after the grace period ends all of them', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const first = await signInAna(auth)
  const one = await refresh(auth, first.refreshToken)
  const two = await refresh(auth, first.refreshToken)
  await ageTokens(auth)
  const next = await refresh(auth, one.refreshToken)
  await ageTokens(auth)
  await t.rejects(refresh(auth, one.refreshToken), Unauthorized)
  for (const tab of [two, next]) await assertEnded(t, auth, tab)
})

t.test('within the grace period a used successor shows that its response was not lost', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const first = await signInAna(auth)
  const second = await refresh(auth, first.refreshToken)
  const third = await refresh(auth, second.refreshToken)
  await t.rejects(refresh(auth, first.refreshToken), Unauthorized)
  await assertEnded(t, auth, third)
})

t.test(
  'after sign-out the access token is rejected, in other processes after the notification',
  async t => {
    const { auth, url } = await openTestAuth(t)
    const other = await openProcess(t, url)
    const ana = await createTestAccount(auth.sql, { username: 'ana' })
    const bea = await createTestAccount(auth.sql, { username: 'bea' })
    const one = await signInAna(auth)
    const two = await signInAna(auth)
    const otherAccount = await signIn(auth, { name: 'bea', password })
    for (const process of [auth, other]) t.ok(await identify(process, bearer(one.accessToken)))
    const identity = await identify(auth, bearer(one.accessToken))
    await signOut(auth, ana.id, {
      sessionId: identity!.sessionId,
      refreshToken: otherAccount.refreshToken,
    })
    await assertEnded(t, auth, one)
    for (let attempts = 6_000; attempts > 0; attempts--) {
      if (
        await identify(other, bearer(one.accessToken)).then(
          () => false,
          () => true,
        )
      )
        break
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    await t.rejects(identify(other, bearer(one.accessToken)), Unauthorized)
    t.ok(await identify(auth, bearer(two.accessToken)))
    t.ok(await identify(auth, bearer(otherAccount.accessToken)), 'accounts cannot sign out others')
    await signOut(auth, ana.id, { sessionId: null, refreshToken: two.refreshToken })
    await assertEnded(t, auth, two)
    await signOut(auth, bea.id, { sessionId: null })
    t.ok(await identify(auth, bearer(otherAccount.accessToken)))
  },
)

t.test('a new password ends the other sessions, deactivation all', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const [current, other] = [await signInAna(auth), await signInAna(auth)]
  const { sessionId } = (await identify(auth, bearer(current.accessToken)))!
  await changeAccount(
    auth,
    { id: ana.id, exceptSessionId: sessionId },
    { password: 'another password' },
  )
  t.ok(await identify(auth, bearer(current.accessToken)))
  await assertEnded(t, auth, other)
  await t.rejects(signInAna(auth), Unauthorized)
  await changeAccount(auth, { id: ana.id }, { isActive: false })
  await assertEnded(t, auth, current)
})

t.test('no session can be started with a password that is being changed', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana' })
  const results = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => signInAna(auth)),
    changeAccount(auth, { id: ana.id }, { password: 'another password' }),
  ])
  t.equal(results.at(-1)!.status, 'fulfilled')
  t.equal((await auth.sql`select from session where revoked_at is null`).length, 0)
})

t.test(
  'expired sessions, tokens and accounts are deleted; used tokens within their lifetime are retained',
  async t => {
    const { auth } = await openTestAuth(t)
    await createTestAccount(auth.sql, { username: 'ana' })
    const unconfirmed = { isActive: false, emailVerified: false }
    const never = await createTestAccount(auth.sql, { username: 'never', ...unconfirmed })
    await auth.sql`
    insert into email_verification (sha256, account_id, expires_at)
    values ('\\x00', ${never.id}, now() - interval '7 days')`
    await createTestAccount(auth.sql, { username: 'off', isActive: false })
    await auth.sql`update account set created_at = now() - interval '8 days'`
    await signInAna(auth)
    await auth.sql`update session set expires_at = now() - interval '1 s'`
    const { refreshToken } = await signInAna(auth)
    const next = await refresh(auth, refreshToken)
    await deleteExpired(auth)
    t.equal((await auth.sql`select from session`).length, 1)
    t.equal((await auth.sql`select from refresh_token`).length, 2)
    const names = await auth.sql<{ username: string }[]>`select username from account order by 1`
    t.same(
      names.map(a => a.username),
      ['ana', 'off'],
    )
    t.ok(await refresh(auth, next.refreshToken))
  },
)

t.test('an unused session expires', async t => {
  const { auth } = await openTestAuth(t)
  await createTestAccount(auth.sql, { username: 'ana' })
  const tokens = await signInAna(auth)
  await auth.sql`update session set expires_at = now() - interval '1 s'`
  await assertEnded(t, auth, tokens)
})
