// `stackroom user`: accounts, passwords, roles, key rotation.
import { once } from 'node:events'
import t from 'tap'
import { verifyPassword } from '../../lib/accounts/password.ts'
import { commandLine } from '../kit/command.ts'

t.test('an administrator is created and restored from the command line', async t => {
  const { sql, stackroom } = await commandLine(t)
  const created = await stackroom([
    'user',
    'add',
    'root',
    '--email',
    'root@example.org',
    '--generate',
  ])
  t.match(created, { code: 0, stderr: '', stdout: /^Password: (\S{20})\nCreated admin root\n$/ })
  const account = async () =>
    (
      await sql<{ role: string; hash: string; isActive: boolean }[]>`
      select role, password_hash as hash, is_active as "isActive" from account where username = 'root'`
    )[0]!
  const password = /Password: (\S+)/.exec(created.stdout)![1]!
  t.ok(await verifyPassword((await account()).hash, password))
  const second = await stackroom(['user', 'add', 'ana', '--generate'])
  t.match(second, { code: 0, stdout: /Created reader ana/ }, 'later accounts are readers')
  t.match(await stackroom(['user', 'add', 'ROOT', '--generate']), {
    code: 2,
    stdout: /^$/,
    stderr: /already in use/,
  })
  await sql`update account set role = 'reader', is_active = false`
  t.match(await stackroom(['user', 'role', 'root@example.org', 'admin']), { code: 0 })
  t.match(await account(), { role: 'admin', isActive: true })
  t.match(await stackroom(['user', 'role', 'root', 'reader']), {
    code: 2,
    stderr: /last active administrator/,
  })
  t.match(await stackroom(['user', 'role', 'root', 'unknown']), {
    code: 2,
    stderr: /must be one of/,
  })
  t.match(await stackroom(['user', 'role', 'unknown', 'admin']), {
    code: 2,
    stderr: /No account named unknown/,
  })
})

t.test('the password is read from standard input; keys are rotated', async t => {
  const { sql, start, stackroom } = await commandLine(t)
  await stackroom(['user', 'add', 'root', '--generate'])
  const child = start(['user', 'password', 'root'])
  t.equal(child.stdin, null, 'without standard input the password is empty')
  let message = ''
  child.stderr.on('data', chunk => {
    message += chunk
  })
  const [code] = await once(child, 'close')
  t.equal(code, 2)
  t.match(message, /--generate/)
  const before = await sql`select value from setting where key = 'jwt_keys'`
  t.match(await stackroom(['user', 'rotate-keys']), { code: 0 })
  const [row] = await sql`select jsonb_array_length(value) as n from setting where key = 'jwt_keys'`
  t.equal(row?.n, 2)
  t.same(before, [])
  t.match(await stackroom(['user', 'rotate-keys', '--distrust']), { code: 0 })
  const [distrusted] =
    await sql`select jsonb_array_length(value) as n from setting where key = 'jwt_keys'`
  t.equal(distrusted?.n, 1)
})
