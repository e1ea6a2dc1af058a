// Account management: constraints, last administrator, libraries.
import t from 'tap'
import {
  changeAccount,
  checkEmail,
  checkUsername,
  createAccount,
  deleteAccount,
} from '../../lib/accounts/account.ts'
import { Conflict, Invalid, NotFound } from '../../lib/base/errors.ts'
import { newId } from '../../lib/base/id.ts'
import { createTestAccount, openTestAuth, password } from './kit.ts'

t.test('the last administrator cannot be demoted, deactivated or deleted', async t => {
  const { auth } = await openTestAuth(t)
  const ana = await createTestAccount(auth.sql, { username: 'ana', role: 'admin' })
  const off = await createTestAccount(auth.sql, { username: 'off', role: 'admin', isActive: false })
  await t.rejects(changeAccount(auth, { id: ana.id }, { role: 'reader' }), Conflict)
  await t.rejects(changeAccount(auth, { id: ana.id }, { isActive: false }), Conflict)
  await t.rejects(deleteAccount(auth, ana.id), Conflict)
  await changeAccount(auth, { id: ana.id }, { role: 'admin', isActive: true, username: 'anna' })
  await changeAccount(auth, { id: off.id }, { isActive: true })
  await changeAccount(auth, { id: ana.id }, { role: 'maintainer' })
  await t.rejects(deleteAccount(auth, off.id), Conflict)
  await deleteAccount(auth, ana.id)
  await t.rejects(deleteAccount(auth, ana.id), NotFound)
  await t.rejects(changeAccount(auth, { id: ana.id }, {}), NotFound)
})

t.test('of two administrators who remove each other concurrently one remains', async t => {
  const { auth } = await openTestAuth(t)
  for (let round = 0; round < 8; round++) {
    const [a, b] = await Promise.all([
      createTestAccount(auth.sql, { username: `a${round}`, role: 'admin' }),
      createTestAccount(auth.sql, { username: `b${round}`, role: 'admin' }),
    ])
    const removals = [
      () => changeAccount(auth, { id: a.id }, { role: 'reader' }),
      () =>
        round % 2
          ? deleteAccount(auth, b.id)
          : changeAccount(auth, { id: b.id }, { isActive: false }),
    ]
    const results = await Promise.allSettled(
      (round % 3 ? removals : removals.reverse()).map(remove => remove()),
    )
    t.equal(results.filter(result => result.status === 'fulfilled').length, 1)
    const failure = results.find(result => result.status === 'rejected')
    t.ok(failure?.reason instanceof Conflict)
    t.equal((await auth.sql`select from account where role = 'admin' and is_active`).length, 1)
    await auth.sql`delete from account`
  }
})

t.test(
  'names and addresses are unique regardless of case, and no name is the address of another account',
  async t => {
    const { auth } = await openTestAuth(t)
    await createTestAccount(auth.sql, { username: 'ana', email: 'ana@example.org' })
    for (const [account, error] of [
      [{ username: 'ANA', email: 'x@example.org' }, Conflict],
      [{ username: 'x', email: 'Ana@Example.org' }, Conflict],
      [{ username: 'ana@example.org', email: 'x@example.org' }, Invalid],
      [{ username: 'x@example.org' }, Invalid],
    ] as const)
      await t.rejects(createAccount(auth.sql, { password, ...account }), error)
    t.ok(await createAccount(auth.sql, { username: 'b@x.org', email: 'B@x.org', password }))
  },
)

t.test('invalid names and addresses are rejected', async t => {
  for (const bad of ['', ' ', 'a:b', 'a\nb', 'a\0b', 'x'.repeat(101)])
    t.throws(() => checkUsername(bad), Invalid)
  t.equal(checkUsername('  Zoë 日本 '), 'Zoë 日本')
  for (const bad of [
    '',
    'a',
    '@',
    'a@',
    '@b',
    'a@b, c@d',
    'a b@c',
    'A <a@b>',
    'a@b\r\nBcc: c@d',
    'a@b@c',
    `${'x'.repeat(250)}@b.org`,
  ])
    t.throws(() => checkEmail(bad), Invalid, bad)
  t.equal(checkEmail(' ana+books@例え.jp '), 'ana+books@例え.jp')
})

t.test('an account can be restricted to some libraries and unrestricted again', async t => {
  const { auth } = await openTestAuth(t)
  const libraries = [newId(), newId(), newId()].sort()
  for (const [i, id] of libraries.entries())
    await auth.sql`insert into library (id, name, root) values (${id}, ${`L${i}`}, ${Buffer.from(`/l${i}`)})`
  const ana = await createTestAccount(auth.sql, {
    username: 'ana',
    libraryIds: libraries.slice(0, 2),
  })
  const accessible = async () =>
    (await auth.sql`select library_id as id from account_library order by 1`).map(row => row.id)
  t.same(await accessible(), libraries.slice(0, 2))
  await changeAccount(
    auth,
    { id: ana.id },
    { libraryIds: [libraries[2]!, libraries[1]!, libraries[1]!] },
  )
  t.same(await accessible(), libraries.slice(1))
  await t.rejects(changeAccount(auth, { id: ana.id }, { libraryIds: [newId()] }), Invalid)
  t.same(await accessible(), libraries.slice(1), 'nothing is changed')
  await changeAccount(auth, { id: ana.id }, { libraryIds: null })
  t.same(await accessible(), [])
  const [row] = await auth.sql`select all_libraries as "all" from account`
  t.equal(row?.all, true)
})
