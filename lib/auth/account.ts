// Accounts: making, changing and removing them, so that an administrator always remains.

import { Conflict, Invalid, NotFound } from '../errors.ts'
import { newId } from '../id.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
import type { Account, Identities } from './identify.ts'
import { hashPassword } from './password.ts'
import { type Permission, parsePermissions, type Role } from './permission.ts'

/** What may be said of an account; what is left out stays. */
export type AccountChanges = {
  username?: string | undefined
  email?: string | null | undefined
  password?: string | undefined
  role?: Role | undefined
  isActive?: boolean | undefined
  emailVerified?: boolean | undefined
  /** Beyond those of the role, in any spelling. */
  permissions?: readonly string[] | undefined
  /** Null means all. */
  libraryIds?: readonly string[] | null | undefined
  /** Highest age rating in years; null means all. */
  ageLimit?: number | null | undefined
  showsUnrated?: boolean | undefined
}
export type NewAccount = AccountChanges & { username: string }

type Columns = Partial<{
  username: string
  email: string | null
  password_hash: string
  role: Role
  is_active: boolean
  email_verified: boolean
  permissions: Permission[]
  all_libraries: boolean
  age_limit: number | null
  shows_unrated: boolean
}>

/** Before a transaction: checks what is said and hashes the password. Throws Invalid. */
export async function readyAccount(said: AccountChanges): Promise<Columns> {
  const columns: Columns = {
    ...(said.username !== undefined && { username: checkUsername(said.username) }),
    ...(said.email !== undefined && { email: said.email === null ? null : checkEmail(said.email) }),
    ...(said.permissions !== undefined && { permissions: parsePermissions(said.permissions) }),
    ...(said.role !== undefined && { role: said.role }),
    ...(said.isActive !== undefined && { is_active: said.isActive }),
    ...(said.emailVerified !== undefined && { email_verified: said.emailVerified }),
    ...(said.libraryIds !== undefined && { all_libraries: said.libraryIds === null }),
    ...(said.ageLimit !== undefined && { age_limit: said.ageLimit }),
    ...(said.showsUnrated !== undefined && { shows_unrated: said.showsUnrated }),
  }
  if (said.password !== undefined) columns.password_hash = await hashPassword(said.password)
  return columns
}

/** Writes what `readyAccount` made ready. Throws Invalid when the name or the address is taken. */
export async function insertAccount(tx: Transaction, columns: Columns): Promise<Account> {
  const [account] = await tx<Account[]>`
    insert into account ${tx({ id: newId(), ...columns } as Record<string, unknown>)}
    returning id, username, coalesce(email, '') as email, role,
      email_verified as "emailVerified", permissions`.catch(explain)
  return account!
}

/** A new account. Throws Invalid as `readyAccount` and `insertAccount` do. */
export async function createAccount(sql: Sql, said: NewAccount): Promise<Account> {
  const columns = await readyAccount(said)
  return sql.begin(async tx => {
    const account = await insertAccount(tx, columns)
    await setLibraries(tx, account.id, said.libraryIds)
    return account
  })
}

type Changing = { id: string; keepSession?: string | null }

/**
 * Changes an account. A new password or deactivation ends its sessions, except `keepSession`. Throws
 * NotFound, Invalid, and Conflict when no administrator would be left.
 */
export async function changeAccount(
  { sql, identities }: { sql: Sql; identities: Pick<Identities, 'drop'> },
  { id, keepSession = null }: Changing,
  said: AccountChanges,
): Promise<void> {
  const columns = await readyAccount(said)
  await sql.begin(async tx => {
    if ((said.role ?? 'admin') !== 'admin' || said.isActive === false) await keepAnAdmin(tx, id)
    const [found] = await tx`
      update account set ${tx({ ...columns, updated_at: new Date() } as Record<string, unknown>)}
      where id = ${id} returning id`.catch(explain)
    if (!found) throw new NotFound('User not found')
    await setLibraries(tx, id, said.libraryIds)
    if (said.email !== undefined || said.isActive === false)
      await tx`delete from email_verification where account_id = ${id}`
    if (said.password !== undefined || said.isActive === false)
      await endSessions(tx, { accountId: id, except: keepSession })
  })
  identities.drop(id)
}

/** Removes an account and all that is its own. Throws NotFound, and Conflict for the last administrator. */
export async function removeAccount(
  { sql, identities }: { sql: Sql; identities: Pick<Identities, 'drop'> },
  id: string,
): Promise<void> {
  await sql.begin(async tx => {
    await keepAnAdmin(tx, id)
    const [found] = await tx`delete from account where id = ${id} returning id`
    if (!found) throw new NotFound('User not found')
  })
  identities.drop(id)
}

/** Ends the sessions of an account, except one. */
export async function endSessions(
  tx: Sql | Transaction,
  { accountId, except }: { accountId: string; except: string | null },
): Promise<void> {
  await tx`
    update session set revoked_at = now()
    where account_id = ${accountId} and revoked_at is null
      and id is distinct from ${except}::uuid`
}

/** The name as it is stored. Throws Invalid. */
export function checkUsername(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new Invalid('The user name is empty')
  if (name.length > 100) throw new Invalid('The user name is longer than 100 characters')
  // A colon would end the name in a Basic header.
  if (/[\p{C}:]/u.test(name))
    throw new Invalid('The user name must not have colons or control characters')
  return name
}

/** The address as it is stored: one, without a name, quotes or comments. Throws Invalid. */
export function checkEmail(text: string): string {
  const address = text.normalize('NFC').trim()
  if (
    address.length > 254 ||
    !/^[^\s@"(),:;<>[\]\\\p{C}]+@[^\s@"(),:;<>[\]\\\p{C}]+$/u.test(address)
  )
    throw new Invalid('This is not an e-mail address')
  return address
}

// Locked in one order, so that of two who go at the same time the second sees what the first did.
async function keepAnAdmin(tx: Transaction, leaving: string): Promise<void> {
  const admins = await tx<{ id: string }[]>`
    select id from account where role = 'admin' and is_active
    order by id for no key update`
  if (admins.length === 1 && admins[0]!.id === leaving)
    throw new Conflict('The last administrator must remain')
}

async function setLibraries(
  tx: Transaction,
  accountId: string,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === undefined) return
  const wanted = [...(ids ?? [])]
  await tx`
    delete from account_library
    where account_id = ${accountId} and library_id <> all (${wanted}::uuid[])`
  await tx`
    insert into account_library (account_id, library_id)
    select ${accountId}, id from unnest(${wanted}::uuid[]) as w (id)
    on conflict do nothing`.catch(explain)
}

const complaints: Record<string, string> = {
  account_username_unique: 'The user name or the e-mail address is taken',
  account_email_unique: 'The user name or the e-mail address is taken',
  account_username_no_address:
    'A user name with an @ must be the e-mail address of the same account',
  account_library_library_id_fkey: 'There is no such library',
}

function explain(error: unknown): never {
  const complaint = complaints[(error as { constraint_name?: string }).constraint_name ?? '']
  throw complaint ? new Invalid(complaint, { cause: error }) : error
}
