import { hash } from 'argon2'
import t, { type Test } from 'tap'
import { changeAccount } from '../../lib/auth/account.ts'
import type { Auth } from '../../lib/auth/auth.ts'
import { passwordCounters } from '../../lib/auth/password.ts'
import { refresh, signIn, signOut, sweep } from '../../lib/auth/session.ts'
import { Unauthorized } from '../../lib/errors.ts'
import { bearer, open, openProcess, password, person, who } from './kit.ts'

const signedIn = (auth: Auth) => signIn(auth, { name: 'ana', password })
/** Moves everything that happened to the tokens into the past. */
const later = (auth: Auth) => auth.sql`
  update refresh_token set created_at = created_at - interval '11 s', used_at = used_at - interval '11 s',
    voided_at = voided_at - interval '11 s'`
async function isOver(
  t: Test,
  auth: Auth,
  { accessToken, refreshToken }: { accessToken: string; refreshToken: string },
) {
  await t.rejects(who(auth, bearer(accessToken)), Unauthorized)
  await t.rejects(refresh(auth, refreshToken), Unauthorized)
}

t.test(
  'sign in by name or address in any case; all else is refused alike, at the same cost',
  async t => {
    const { auth } = await open(t)
    await person(auth.sql, { username: 'Ána', email: 'ana@example.org' })
    await person(auth.sql, { username: 'off', isActive: false })
    for (const name of ['ána', 'ANA@EXAMPLE.ORG', ' A\u0301na ']) {
      const { account, expiresIn, accessToken } = await signIn(auth, { name, password })
      t.match(account, {
        username: 'Ána',
        email: 'ana@example.org',
        role: 'reader',
        permissions: [],
      })
      t.equal(expiresIn, 3600)
      t.ok(await who(auth, bearer(accessToken)))
    }
    const refusals = new Set<string>()
    for (const [name, given] of [
      ['ána', 'wrong password'],
      ['nobody', password],
      ['off', 'wrong password'],
      ['', ''],
      ['a\0', password],
    ] as const) {
      const before = passwordCounters.verified
      const error: Error = await signIn(auth, { name, password: given }).then(
        () => t.fail(),
        e => e,
      )
      t.ok(error instanceof Unauthorized)
      refusals.add(error.message)
      t.equal(passwordCounters.verified, before + 1, name)
    }
    t.equal(refusals.size, 1)
    await t.rejects(signIn(auth, { name: 'off', password }), { message: 'Account is inactive' })
    const [row] =
      await auth.sql`select last_login_at as at from account where email = 'ana@example.org'`
    t.ok(row?.at)
  },
)

t.test('a hash of weaker times is replaced at the next sign-in', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const old = await hash(password, { memoryCost: 8192, timeCost: 2, parallelism: 1 })
  await auth.sql`update account set password_hash = ${old}`
  await signedIn(auth)
  const [row] = await auth.sql`select password_hash as hash from account`
  t.match(row?.hash, /m=32768,p=1,t=2/)
  t.ok(await signedIn(auth))
})

t.test('a refresh token is good once; the session goes on with the next', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  let tokens = await signedIn(auth)
  const seen = new Set([tokens.refreshToken])
  for (let i = 0; i < 3; i++) {
    tokens = await refresh(auth, tokens.refreshToken)
    seen.add(tokens.refreshToken)
    t.equal(tokens.account.username, 'ana')
    t.ok(await who(auth, bearer(tokens.accessToken)))
  }
  t.equal(seen.size, 4)
  t.equal((await auth.sql`select from session`).length, 1)
  await t.rejects(refresh(auth, 'never given'), Unauthorized)
})

t.test('a used refresh token shown again ends the session of thief and victim', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const stolen = await signedIn(auth)
  const other = await signedIn(auth)
  const second = await refresh(auth, stolen.refreshToken)
  await later(auth)
  await t.rejects(refresh(auth, stolen.refreshToken), Unauthorized)
  await isOver(t, auth, second)
  t.ok(await who(auth, bearer(other.accessToken)), 'other sessions live')
  t.match(auth.lines.join(''), /a used refresh token was shown again/)
})

t.test('who lost the answer may ask again in a while, not once the answer was used', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const first = await signedIn(auth)
  const lost = await refresh(auth, first.refreshToken)
  const again = await refresh(auth, first.refreshToken)
  const third = await refresh(auth, first.refreshToken)
  t.equal(
    (await auth.sql`select from refresh_token where used_at is null and voided_at is null`).length,
    1,
  )
  const next = await refresh(auth, third.refreshToken)
  t.ok(next.refreshToken)
  await t.rejects(refresh(auth, first.refreshToken), Unauthorized, 'its answer was used')
  await isOver(t, auth, next)
  for (const { refreshToken } of [lost, again])
    await t.rejects(refresh(auth, refreshToken), Unauthorized)
})

t.test('the lost answer found by someone else ends the session too', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const first = await signedIn(auth)
  const lost = await refresh(auth, first.refreshToken)
  const again = await refresh(auth, first.refreshToken)
  await t.rejects(refresh(auth, lost.refreshToken), Unauthorized)
  await isOver(t, auth, again)
})

t.test('two who show one token at once leave one that goes on', async t => {
  const { auth, url } = await open(t)
  const other = await openProcess(t, url)
  await person(auth.sql, { username: 'ana' })
  const { refreshToken } = await signedIn(auth)
  await Promise.all([refresh(auth, refreshToken), refresh(other, refreshToken)])
  const live = await auth.sql`select from refresh_token where used_at is null and voided_at is null`
  t.equal(live.length, 1)
})

t.test(
  'after signing out the access token is useless at once, elsewhere within moments',
  async t => {
    const { auth, url } = await open(t)
    const other = await openProcess(t, url)
    const ana = await person(auth.sql, { username: 'ana' })
    const bea = await person(auth.sql, { username: 'bea' })
    const one = await signedIn(auth)
    const two = await signedIn(auth)
    const hers = await signIn(auth, { name: 'bea', password })
    for (const process of [auth, other]) t.ok(await who(process, bearer(one.accessToken)))
    const identity = await who(auth, bearer(one.accessToken))
    await signOut(auth, ana.id, { sessionId: identity!.sessionId, refreshToken: hers.refreshToken })
    await isOver(t, auth, one)
    for (let left = 500; left > 0; left--) {
      if (
        await who(other, bearer(one.accessToken)).then(
          () => false,
          () => true,
        )
      )
        break
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    await t.rejects(who(other, bearer(one.accessToken)), Unauthorized)
    t.ok(await who(auth, bearer(two.accessToken)))
    t.ok(await who(auth, bearer(hers.accessToken)), 'nobody signs another out')
    await signOut(auth, ana.id, { sessionId: null, refreshToken: two.refreshToken })
    await isOver(t, auth, two)
    await signOut(auth, bea.id, { sessionId: null })
    t.ok(await who(auth, bearer(hers.accessToken)))
  },
)

t.test('a new password ends the other sessions, deactivation all of them', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const [mine, elsewhere] = [await signedIn(auth), await signedIn(auth)]
  const { sessionId } = (await who(auth, bearer(mine.accessToken)))!
  await changeAccount(
    auth,
    { id: ana.id, keepSession: sessionId },
    { password: 'another password' },
  )
  t.ok(await who(auth, bearer(mine.accessToken)))
  await isOver(t, auth, elsewhere)
  await t.rejects(signedIn(auth), Unauthorized)
  await changeAccount(auth, { id: ana.id }, { isActive: false })
  await isOver(t, auth, mine)
})

t.test('a session cannot be begun with a password that is being changed', async t => {
  const { auth } = await open(t)
  const ana = await person(auth.sql, { username: 'ana' })
  const ends = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => signedIn(auth)),
    changeAccount(auth, { id: ana.id }, { password: 'another password' }),
  ])
  t.equal(ends.at(-1)!.status, 'fulfilled')
  t.equal((await auth.sql`select from session where revoked_at is null`).length, 0)
})

t.test('what has ended is swept away; what may still be shown stays', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const asleep = { isActive: false, emailVerified: false }
  const never = await person(auth.sql, { username: 'never', ...asleep })
  await auth.sql`
    insert into email_verification (sha256, account_id, expires_at)
    values ('\\x00', ${never.id}, now() - interval '7 days')`
  await person(auth.sql, { username: 'off', isActive: false })
  await auth.sql`update account set created_at = now() - interval '8 days'`
  await signedIn(auth)
  await auth.sql`update session set expires_at = now() - interval '1 s'`
  const { refreshToken } = await signedIn(auth)
  const next = await refresh(auth, refreshToken)
  await sweep(auth)
  t.equal((await auth.sql`select from session`).length, 1)
  t.equal((await auth.sql`select from refresh_token`).length, 2)
  const names = await auth.sql<{ username: string }[]>`select username from account order by 1`
  t.same(
    names.map(a => a.username),
    ['ana', 'off'],
  )
  t.ok(await refresh(auth, next.refreshToken))
})

t.test('a session that nobody used for long is over', async t => {
  const { auth } = await open(t)
  await person(auth.sql, { username: 'ana' })
  const tokens = await signedIn(auth)
  await auth.sql`update session set expires_at = now() - interval '1 s'`
  await isOver(t, auth, tokens)
})
