// stackroom user: accounts from the command line, for whoever cannot sign in.
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Command, Option } from 'commander'
import { changeAccount, createAccount } from '../lib/auth/account.ts'
import { identityOfName } from '../lib/auth/identity.ts'
import { checkPassword } from '../lib/auth/password.ts'
import { type Role, roles } from '../lib/auth/permission.ts'
import { rotateKeys } from '../lib/auth/token.ts'
import { Invalid, NotFound } from '../lib/errors.ts'
import type { Sql } from '../lib/postgres/db.ts'
import { type CommonFlags, commonOptions, withStackroom } from './context.ts'

type AddFlags = CommonFlags & { email?: string; role: Role; generate?: true }

export function userCommand(): Command {
  return new Command('user')
    .description('make accounts, give them new passwords and roles')
    .addCommand(
      commonOptions(new Command('add'))
        .description('make an account; the password is asked for, or read from standard input')
        .argument('<name>')
        .option('--email <address>')
        .addOption(new Option('--role <role>').choices([...roles]).default('admin'))
        .option('--generate', 'make up the password and print it')
        .action(add),
    )
    .addCommand(
      commonOptions(new Command('password'))
        .description('give an account a new password, which ends its sessions')
        .argument('<name>', 'user name or e-mail address')
        .option('--generate', 'make up the password and print it')
        .action(renew),
    )
    .addCommand(
      commonOptions(new Command('role'))
        .description('give an account another role, and let it in if it was shut out')
        .argument('<name>', 'user name or e-mail address')
        .argument('<role>', roles.join(', '))
        .action(promote),
    )
    .addCommand(
      commonOptions(new Command('rotate-keys'))
        .description('sign access tokens with a new key')
        .option('--distrust', 'and refuse those of earlier keys at once')
        .action(rotate),
    )
}

async function add(name: string, { email, role, generate, ...flags }: AddFlags): Promise<void> {
  const password = await newPassword(generate)
  await withSql(flags, async sql => {
    await createAccount(sql, { username: name, email: email ?? null, role, password })
    // As after the set-up by the API: nobody needs the token any more.
    if (role === 'admin') await sql`delete from setting where key = 'setup_token'`
  })
  say(`${role} ${name} made`)
}

async function renew(name: string, { generate, ...flags }: CommonFlags & { generate?: true }) {
  const password = await newPassword(generate)
  await withSql(flags, async sql => {
    await changeAccount(here(sql), { id: await find(sql, name) }, { password })
  })
  say(`${name} has a new password`)
}

async function promote(name: string, role: string, flags: CommonFlags): Promise<void> {
  const known = roles.find(one => one === role)
  if (!known) throw new Invalid(`The role must be one of ${roles.join(', ')}`)
  await withSql(flags, async sql => {
    await changeAccount(here(sql), { id: await find(sql, name) }, { role: known, isActive: true })
  })
  say(`${name} is ${role} now`)
}

async function rotate({ distrust = false, ...flags }: CommonFlags & { distrust?: boolean }) {
  await withSql(flags, sql => rotateKeys(sql, { distrust }))
  say('access tokens are signed with a new key')
}

const withSql = (flags: CommonFlags, work: (sql: Sql) => Promise<void>) =>
  withStackroom(flags, { quiet: true }, ({ sql }) => work(sql))

// The database tells the processes that serve.
const here = (sql: Sql) => ({ sql, identities: { drop() {} } })

async function find(sql: Sql, name: string): Promise<string> {
  const found = await identityOfName(sql, name)
  if (!found) throw new NotFound(`There is no account ${name}`)
  return found.identity.account.id
}

async function newPassword(generate = false): Promise<string> {
  if (generate) {
    const password = randomBytes(15).toString('base64url')
    say(`Password: ${password}`)
    return password
  }
  const password = await readLine()
  checkPassword(password)
  return password
}

// A terminal does not show what is typed.
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

function say(text: string) {
  process.stdout.write(`${text}\n`)
}
