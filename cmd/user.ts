// `stackroom user`: command-line account management, for administrators who cannot sign in.
import { randomBytes } from 'node:crypto'
import { Command, Option } from 'commander'
import { changeAccount, createAccount, deleteAccount } from '../lib/accounts/account.ts'
import { checkPassword } from '../lib/accounts/password.ts'
import { type Role, roles } from '../lib/accounts/permission.ts'
import { rotateSigningKeys } from '../lib/accounts/token.ts'
import { Invalid } from '../lib/base/errors.ts'
import type { Sql } from '../lib/store/postgres/db.ts'
import { openSecrets } from '../lib/store/secret/secrets.ts'
import { type CommonFlags, commonOptions, withContext } from './context.ts'
import { readPassword, requireConfirmation } from './terminal/prompt.ts'
import { findAccount, usersText, userText } from './user/show.ts'

type AddFlags = CommonFlags & { email?: string; role?: Role; generate?: true }
type ShowFlags = CommonFlags & { json?: boolean }

export function userCommand(): Command {
  return new Command('user')
    .description('manage user accounts')
    .addCommand(
      commonOptions(new Command('list'))
        .description('list the accounts')
        .option('--json', 'print a JSON array')
        .action(list),
    )
    .addCommand(
      commonOptions(new Command('show'))
        .description('print an account with its sessions, API keys and libraries')
        .argument('<name>', 'user name or e-mail address')
        .option('--json', 'print one JSON object')
        .action(show),
    )
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
      commonOptions(new Command('delete'))
        .description('delete an account with its reading progress, API keys and preferences')
        .argument('<name>', 'user name or e-mail address')
        .option('--yes', 'do not ask for confirmation')
        .action(remove),
    )
    .addCommand(
      commonOptions(new Command('rotate-keys'))
        .description('rotate the key that signs access tokens')
        .option('--distrust', 'also reject tokens signed with earlier keys')
        .action(rotateKeys),
    )
}

async function list({ json = false, ...flags }: ShowFlags): Promise<void> {
  process.stdout.write(await withDatabase(flags, sql => usersText(sql, json)))
}

async function show(name: string, { json = false, ...flags }: ShowFlags): Promise<void> {
  process.stdout.write(await withDatabase(flags, sql => userText(sql, name, json)))
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
    await changeAccount(accountStore(sql), (await findAccount(sql, name)).account, { password })
  })
  if (generate) print(`Password: ${password}`)
  print(`Changed the password of ${name}`)
}

async function changeRole(name: string, role: string, flags: CommonFlags): Promise<void> {
  const newRole = roles.find(name => name === role)
  if (!newRole) throw new Invalid(`The role must be one of ${roles.join(', ')}`)
  await withDatabase(flags, async sql => {
    await changeAccount(accountStore(sql), (await findAccount(sql, name)).account, {
      role: newRole,
      isActive: true,
    })
  })
  print(`Changed the role of ${name} to ${role}`)
}

async function remove(name: string, { yes, ...flags }: CommonFlags & { yes?: true }) {
  const username = await withDatabase(flags, async sql => {
    const { account } = await findAccount(sql, name)
    await requireConfirmation(
      `Delete the account ${account.username} with its reading progress, API keys and preferences?`,
      { yes },
    )
    await deleteAccount(accountStore(sql), account.id)
    return account.username
  })
  print(`Deleted the account ${username}`)
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

/** A generated password is printed once it has been stored. */
async function newPassword(generate = false): Promise<string> {
  if (generate) return randomBytes(15).toString('base64url')
  const password = await readPassword()
  if (password === '' && !process.stdin.isTTY)
    throw new Invalid('Standard input contains no password; use --generate to generate one')
  checkPassword(password)
  return password
}

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
