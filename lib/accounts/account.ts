// Account management: create, change, delete; at least one active administrator always remains.

import { Conflict, Invalid, NotFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Queryable, Sql, Transaction } from '../store/postgres/db.ts'
import type { Account, IdentityResolver } from './identify.ts'
import { hashPassword } from './password.ts'
import { type Permission, parsePermissions, type Role } from './permission.ts'

/** Changeable properties of an account; undefined ones are unchanged. */
export type AccountChanges = {
  username?: string | undefined
  email?: string | null | undefined
  password?: string | undefined
  role?: Role | undefined
  isActive?: boolean | undefined
  emailVerified?: boolean | undefined
  /** Permissions beyond the role's, in any accepted notation. */
  permissions?: readonly string[] | undefined
  /** Accessible libraries; null means all. */
  libraryIds?: readonly string[] | null | undefined
  /** Maximum age rating in years; null means no limit. */
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

/** Validates the changes and hashes the password, to be done before a transaction. Throws Invalid. */
export async function toAccountColumns(changes: AccountChanges): Promise<Columns> {
  const columns: Columns = {
    ...(changes.username !== undefined && { username: checkUsername(changes.username) }),
    ...(changes.email !== undefined && {
      email: changes.email === null ? null : checkEmail(changes.email),
    }),
    ...(changes.permissions !== undefined && {
      permissions: parsePermissions(changes.permissions),
    }),
    ...(changes.role !== undefined && { role: changes.role }),
    ...(changes.isActive !== undefined && { is_active: changes.isActive }),
    ...(changes.emailVerified !== undefined && { email_verified: changes.emailVerified }),
    ...(changes.libraryIds !== undefined && { all_libraries: changes.libraryIds === null }),
    ...(changes.ageLimit !== undefined && { age_limit: changes.ageLimit }),
    ...(changes.showsUnrated !== undefined && { shows_unrated: changes.showsUnrated }),
  }
  if (changes.password !== undefined) columns.password_hash = await hashPassword(changes.password)
  return columns
}

/** Inserts an account. Throws Invalid; Conflict when the user name or e-mail address is taken. */
export async function insertAccount(tx: Transaction, columns: Columns): Promise<Account> {
  const [account] = await tx<Account[]>`
    insert into account ${tx({ id: newId(), ...columns } as Record<string, unknown>)}
    returning id, username, coalesce(email, '') as email, role,
      email_verified as "emailVerified", permissions`.catch(rethrowConstraint)
  return account!
}

/** Creates an account. Throws Invalid as `toAccountColumns` and `insertAccount` do. */
export async function createAccount(sql: Sql, newAccount: NewAccount): Promise<Account> {
  const columns = await toAccountColumns(newAccount)
  return sql.begin(async tx => {
    const account = await insertAccount(tx, columns)
    await setLibraries(tx, account.id, newAccount.libraryIds)
    return account
  })
}

type AccountTarget = { id: string; exceptSessionId?: string | null }

/**
 * Changes an account. A new password or deactivation ends its sessions, except `exceptSessionId`. Throws
 * NotFound, Invalid, and Conflict when no active administrator would remain.
 */
export async function changeAccount(
  { sql, identities }: { sql: Sql; identities: Pick<IdentityResolver, 'invalidate'> },
  { id, exceptSessionId: keepSession = null }: AccountTarget,
  changes: AccountChanges,
): Promise<void> {
  const columns = await toAccountColumns(changes)
  await sql.begin(async tx => {
    if ((changes.role ?? 'admin') !== 'admin' || changes.isActive === false)
      await requireRemainingAdmin(tx, id)
    const [row] = await tx`
      update account set ${tx({ ...columns, updated_at: new Date() } as Record<string, unknown>)}
      where id = ${id} returning id`.catch(rethrowConstraint)
    if (!row) throw new NotFound('User not found')
    await setLibraries(tx, id, changes.libraryIds)
    if (changes.email !== undefined || changes.isActive === false)
      await tx`delete from email_verification where account_id = ${id}`
    if (changes.password !== undefined || changes.isActive === false)
      await endSessions(tx, { accountId: id, except: keepSession })
  })
  identities.invalidate(id)
}

/** Deletes an account and its data. Throws NotFound, and Conflict for the last administrator. */
export async function deleteAccount(
  { sql, identities }: { sql: Sql; identities: Pick<IdentityResolver, 'invalidate'> },
  id: string,
): Promise<void> {
  await sql.begin(async tx => {
    await requireRemainingAdmin(tx, id)
    const [row] = await tx`delete from account where id = ${id} returning id`
    if (!row) throw new NotFound('User not found')
  })
  identities.invalidate(id)
}

/** Ends the sessions of an account, optionally except one. */
export async function endSessions(
  tx: Queryable,
  { accountId, except }: { accountId: string; except: string | null },
): Promise<void> {
  await tx`
    update session set revoked_at = now()
    where account_id = ${accountId} and revoked_at is null
      and id is distinct from ${except}::uuid`
}

export const maxUsernameLength = 100
// The control and format characters, spelled out because some clients' regular expressions do not know `\p{C}`.
const controls =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff'
const hasControls = (text: string) => /\p{C}/u.test(text)
/** Not blank, without control characters and without colons: in HTTP Basic a colon ends the user name. */
export const usernamePattern = `^[^${controls}:]*[^${controls}\\s:][^${controls}:]*$`
const addressPart = `[^\\s@"(),:;<>[\\]\\\\${controls}]+`
/** Display names, quotes and comments are not accepted. */
export const emailPattern = `^ *${addressPart}@${addressPart} *$`

/** Returns the normalized user name. Throws Invalid. */
export function checkUsername(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new Invalid('The user name must not be empty', { reason: 'name_empty' })
  if ([...name].length > maxUsernameLength)
    throw new Invalid(`The user name must not be longer than ${maxUsernameLength} characters`, {
      reason: 'user_name_invalid',
    })
  if (hasControls(text) || !new RegExp(usernamePattern, 'u').test(text))
    throw new Invalid('The user name must not contain colons or control characters', {
      reason: 'user_name_invalid',
    })
  return name
}

/** Returns the normalized e-mail address. Throws Invalid. */
export function checkEmail(text: string): string {
  const address = text.normalize('NFC').trim()
  const isValid = [...address].length <= 254 && new RegExp(emailPattern, 'u').test(text)
  if (!isValid || hasControls(text))
    throw new Invalid('Not a valid e-mail address', { reason: 'email_invalid' })
  return address
}

// Locks all administrators in id order, so that concurrent changes see each other's result.
async function requireRemainingAdmin(tx: Transaction, accountId: string): Promise<void> {
  const admins = await tx<{ id: string }[]>`
    select id from account where role = 'admin' and is_active
    order by id for no key update`
  if (admins.length === 1 && admins[0]!.id === accountId)
    throw new Conflict('The last active administrator cannot be removed', {
      reason: 'last_administrator',
    })
}

async function setLibraries(
  tx: Transaction,
  accountId: string,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === undefined) return
  const libraryIds = [...(ids ?? [])]
  await tx`
    delete from account_library
    where account_id = ${accountId} and library_id <> all (${libraryIds}::uuid[])`
  await tx`
    insert into account_library (account_id, library_id)
    select ${accountId}, id from unnest(${libraryIds}::uuid[]) as w (id)
    on conflict do nothing`.catch(rethrowConstraint)
}

const taken = 'The user name or e-mail address is already in use'
const constraintMessages: Record<string, string> = {
  account_username_unique: taken,
  account_email_unique: taken,
  account_username_no_address:
    'A user name that contains @ must be the e-mail address of the account',
  account_library_library_id_fkey: 'Library not found',
}

function rethrowConstraint(error: unknown): never {
  const message = constraintMessages[(error as { constraint_name?: string }).constraint_name ?? '']
  if (!message) throw error
  throw message === taken
    ? new Conflict(message, { reason: 'name_taken' })
    : new Invalid(message, { cause: error })
}
