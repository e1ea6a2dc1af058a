// `stackroom user`: command-line account management, for administrators who cannot sign in.
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Command, Option } from 'commander'
import { changeAccount, createAccount } from '../lib/accounts/account.ts'
import { findIdentityByName } from '../lib/accounts/identity.ts'
import { checkPassword } from '../lib/accounts/password.ts'
import { type Role, roles } from '../lib/accounts/permission.ts'
import { rotateSigningKeys } from '../lib/accounts/token.ts'
import { Invalid, NotFound } from '../lib/base/errors.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { type CommonFlags, commonOptions, withContext } from './context.ts'

type AddFlags = CommonFlags & { email?: string; role?: Role; generate?: true }

export function userCommand(): Command {
  return new Command('user')
    .description('manage user accounts')
    .addCommand(
      commonOptions(new Command('add'))
        .description('create an account; prompts for the password, or reads it from standard input')
        .argument('<name>')
        .option('--email <address>', 'e-mail address')
        .addOption(
          new Option(
            '--role <role>',
            'role of the account (default: admin for the first account, otherwise reader)',
          ).choices([...roles]),
        )
        .option('--generate', 'generate a password and print it')
        .action(add),
    )
    .addCommand(
      commonOptions(new Command('password'))
        .description('set a new password and end all sessions of the account')
        .argument('<name>', 'user name or e-mail address')
        .option('--generate', 'generate a password and print it')
        .action(changePassword),
    )
    .addCommand(
      commonOptions(new Command('role'))
        .description('change the role of an account; also reactivates a deactivated account')
        .argument('<name>', 'user name or e-mail address')
        .argument('<role>', roles.join(', '))
        .action(changeRole),
    )
    .addCommand(
      commonOptions(new Command('rotate-keys'))
        .description('rotate the key that signs access tokens')
        .option('--distrust', 'also reject tokens signed with earlier keys')
        .action(rotateKeys),
    )
}

async function add(
  name: string,
  { email, role: chosen, generate, ...flags }: AddFlags,
): Promise<void> {
  const password = await newPassword(generate)
  const created = await withDatabase(flags, async sql => {
    const role = chosen ?? (await firstOrReader(sql))
    await createAccount(sql, { username: name, email: email ?? null, role, password })
    // As after setup through the API: once there is an administrator, the setup token is useless.
    if (role === 'admin') await sql`delete from setting where key = 'setup_token'`
    return role
  })
  if (generate) print(`Password: ${password}`)
  print(`Created ${created} ${name}`)
}

/** As in the browser, the first account is the administrator. */
async function firstOrReader(sql: Sql): Promise<Role> {
  const [account] = await sql`select from account limit 1`
  return account ? 'reader' : 'admin'
}

async function changePassword(
  name: string,
  { generate, ...flags }: CommonFlags & { generate?: true },
) {
  const password = await newPassword(generate)
  await withDatabase(flags, async sql => {
    await changeAccount(accountStore(sql), { id: await findAccountId(sql, name) }, { password })
  })
  if (generate) print(`Password: ${password}`)
  print(`Changed the password of ${name}`)
}

async function changeRole(name: string, role: string, flags: CommonFlags): Promise<void> {
  const newRole = roles.find(name => name === role)
  if (!newRole) throw new Invalid(`The role must be one of ${roles.join(', ')}`)
  await withDatabase(flags, async sql => {
    await changeAccount(
      accountStore(sql),
      { id: await findAccountId(sql, name) },
      { role: newRole, isActive: true },
    )
  })
  print(`Changed the role of ${name} to ${role}`)
}

async function rotateKeys({ distrust = false, ...flags }: CommonFlags & { distrust?: boolean }) {
  await withContext(flags, { quiet: true }, ({ sql, config }) =>
    rotateSigningKeys(sql, openSecrets(config), { distrust }),
  )
  print('Access tokens are now signed with a new key')
}

const withDatabase = <T>(flags: CommonFlags, work: (sql: Sql) => Promise<T>) =>
  withContext(flags, { quiet: true, dataDirectory: 'unused' }, ({ sql }) => work(sql))

// Serving processes are notified by the database (trigger on `account`).
const accountStore = (sql: Sql) => ({ sql, identities: { invalidate() {} } })

async function findAccountId(sql: Sql, name: string): Promise<string> {
  const account = await findIdentityByName(sql, name)
  if (!account) throw new NotFound(`No account named ${name}`)
  return account.identity.account.id
}

/** A generated password is printed once it has been stored. */
async function newPassword(generate = false): Promise<string> {
  if (generate) return randomBytes(15).toString('base64url')
  const password = await readLine()
  if (password === '' && !process.stdin.isTTY)
    throw new Invalid('Standard input contains no password; use --generate to generate one')
  checkPassword(password)
  return password
}

// Typed characters are not echoed on a terminal.
function readLine(): Promise<string> {
  const terminal = process.stdin.isTTY === true
  if (terminal) process.stderr.write('Password: ')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: silent, terminal })
  return new Promise(resolve => {
    let line = ''
    reader.once('line', text => {
      line = text
      reader.close()
    })
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => {
      if (terminal) process.stderr.write('\n')
      resolve(line)
    })
  })
}

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
