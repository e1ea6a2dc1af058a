// `stackroom user`: accounts, passwords, roles, key rotation.
import { once } from 'node:events'
import t from 'tap'
import { verifyPassword } from '../../lib/accounts/password.ts'
import { insertAccount, insertApiKey } from '../kit/accounts.ts'
import { commandLine, hasScript } from '../kit/command.ts'

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

t.test('accounts are listed, shown and deleted', async t => {
  const { sql, stackroom, startOnTerminal } = await commandLine(t)
  t.match(await stackroom(['user', 'list']), { code: 0, stdout: /There are no accounts/ })
  await stackroom(['user', 'add', 'root', '--email', 'root@example.org', '--generate'])
  await stackroom(['user', 'add', '猫', '--generate'])
  const [ana] = await sql<{ id: string }[]>`select id from account where username = '猫'`
  const [comics] = await sql<{ id: string }[]>`
    insert into library (id, name, root) values (gen_random_uuid(), 'Comics', '/srv/comics'), (gen_random_uuid(), 'Hidden', '/srv/hidden')
    returning id`
  await sql`update account set all_libraries = false, age_limit = 12, is_active = false where id = ${ana!.id}`
  await sql`insert into account_library (account_id, library_id) values (${ana!.id}, ${comics!.id})`
  await insertApiKey(sql, ana!.id, ['BooksRead'])
  await sql`
    insert into session (id, account_id, expires_at, revoked_at) values
      (gen_random_uuid(), ${ana!.id}, now() + interval '1 day', null),
      (gen_random_uuid(), ${ana!.id}, now() + interval '1 day', now()),
      (gen_random_uuid(), ${ana!.id}, now() - interval '1 day', null)`

  const table = await stackroom(['user', 'list'])
  t.match(table, { code: 0, stderr: '' })
  t.match(table.stdout, /^name +role +state +e-mail +created +last sign-in\n/)
  t.match(
    table.stdout,
    /\nroot +admin +active +root@example.org +\d{4}-\d\d-\d\d \d\d:\d\d +never\n/,
  )
  t.match(table.stdout, /\n猫 +reader +deactivated /)
  const list = JSON.parse((await stackroom(['user', 'list', '--json'])).stdout)
  t.match(
    list.find(({ username }: { username: string }) => username === 'root'),
    { role: 'admin', libraryIds: null },
  )

  const shown = await stackroom(['user', 'show', '猫'])
  t.match(
    shown.stdout,
    /e-mail +none\n.*sessions +1\nAPI keys +1\nlibraries +Comics\nage limit +12, unrated/s,
  )
  t.match(
    (await stackroom(['user', 'show', 'ROOT@example.org'])).stdout,
    /libraries +all \(Comics, Hidden\)/,
  )
  t.match(JSON.parse((await stackroom(['user', 'show', '猫', '--json'])).stdout), {
    username: '猫',
    isActive: false,
    sessions: 1,
    apiKeys: 1,
    libraries: [{ id: comics!.id, name: 'Comics' }],
  })
  t.match(await stackroom(['user', 'show', 'unknown']), {
    code: 2,
    stderr: /No account named unknown/,
  })

  t.match(await stackroom(['user', 'delete', '猫']), { code: 2, stderr: /--yes/ })
  if (hasScript) {
    const answering = async (answer: string) => {
      const child = startOnTerminal(['user', 'delete', '猫'])
      let output = ''
      child.stdout.on('data', chunk => {
        const isNew = !output.includes('[y/N]')
        output += chunk
        if (isNew && output.includes('[y/N]')) child.stdin.write(`${answer}\n`)
      })
      const [code] = await once(child, 'close')
      return { code, output }
    }
    t.match(await answering('n'), { code: 2, output: /Not confirmed; nothing was deleted/ })
    t.match(await answering('y'), {
      code: 0,
      output: /Delete the account 猫 .*Deleted the account 猫/s,
    })
    await insertAccount(sql, 'reader', { username: '猫' })
  }
  t.match(await stackroom(['user', 'delete', '猫', '--yes']), {
    code: 0,
    stdout: 'Deleted the account 猫\n',
  })
  t.match(await stackroom(['user', 'delete', 'root', '--yes']), {
    code: 2,
    stderr: /last active administrator/,
  })
  t.equal((await sql`select from account where username = 'root'`).length, 1)
})
