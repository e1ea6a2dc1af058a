// Accounts that people make for themselves, and the confirmation of their e-mail address.
import { createHash, randomBytes } from 'node:crypto'
import { Forbidden, Invalid } from '../errors.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
import { storedSetting } from '../setting/setting.ts'
import { checkEmail, insertAccount, readyAccount } from './account.ts'
import type { Auth } from './auth.ts'
import type { Account } from './identify.ts'
import { type SignedIn, startSession, type Tokens, tokensOf } from './session.ts'

type Applicant = { username: string; email: string; password: string }
/** Without tokens while the address is not confirmed; `isMailed` says whether the letter left. */
export type Registered = { account: Account; tokens: Tokens | null; isMailed: boolean | null }

/** Whether strangers may make accounts: a setting of the administrator, off until it is put on. */
export function isRegistrationOpen(sql: Sql): Promise<boolean> {
  return storedSetting(sql, 'auth.registration_enabled')
}

/**
 * A new reader, signed in unless addresses must be confirmed. Where they must, an address that has an
 * account gets the same answer, and its owner a letter. Throws Forbidden when registration is off,
 * Invalid when something said is no good or taken.
 */
export async function register(auth: Auth, applicant: Applicant): Promise<Registered> {
  if (!(await isRegistrationOpen(auth.sql))) throw new Forbidden('Registration is disabled')
  const columns = await readyAccount(applicant)
  if (auth.settings.email_confirmation_required) return apply(auth, applicant, columns)
  const { account, session } = await auth.sql.begin(async tx => {
    const account = await insertAccount(tx, { ...columns, role: 'reader', email_verified: false })
    return { account, session: await startSession(tx, auth, account.id) }
  })
  return { account, tokens: await tokensOf(auth, account, session), isMailed: null }
}

async function apply(
  auth: Auth,
  { username }: Applicant,
  columns: Awaited<ReturnType<typeof readyAccount>>,
): Promise<Registered> {
  const email = columns.email!
  const hours = auth.mail?.hours ?? 24
  const { account, token } = await auth.sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtextextended(lower(${email}), 0))`
    const [known] = await tx`select from account where lower(email) = lower(${email})`
    // Without the address: the name is taken from now on, as it would be for a stranger's address.
    const account = await insertAccount(tx, {
      ...columns,
      email: known ? null : email,
      role: 'reader',
      is_active: false,
      email_verified: false,
    })
    return { account, token: known ? null : await makeToken(tx, { accountId: account.id, hours }) }
  })
  const letter = token
    ? confirmationLetter(auth, { username, token })
    : {
        subject: 'You have an account already',
        text: `Someone, perhaps you, tried to register with this e-mail address as ${username}.\nThe address belongs to an account already: sign in with it. Nothing was changed.\n`,
      }
  const isMailed = (await auth.mail?.send({ to: email, ...letter })) ?? false
  return { account: { ...account, email }, tokens: null, isMailed }
}

/** Confirms the address that a token was mailed to and signs in. Throws Invalid for an unknown or old token. */
export async function verifyEmail(auth: Auth, token: string): Promise<SignedIn> {
  const { account, session } = await auth.sql.begin(async tx => {
    const [used] = await tx<{ accountId: string }[]>`
      delete from email_verification where sha256 = ${digestOf(token)} and expires_at > now()
      returning account_id as "accountId"`
    if (!used) throw new Invalid('The token is unknown or has expired')
    // Deactivating takes the tokens away, so an account that has one only waits for this.
    const [account] = await tx<Account[]>`
      update account set email_verified = true, is_active = true, last_login_at = now(),
        updated_at = now()
      where id = ${used.accountId}
      returning id, username, coalesce(email, '') as email, role,
        email_verified as "emailVerified", permissions`
    await tx`delete from email_verification where account_id = ${used.accountId}`
    return { account: account!, session: await startSession(tx, auth, used.accountId) }
  })
  auth.identities.drop(account.id)
  return { ...(await tokensOf(auth, account, session)), account }
}

/**
 * Sends the confirmation again, at most once a minute, to an account that waits for it. Whether there is
 * one is told to nobody: the letter leaves after the answer.
 */
export async function resendVerification(auth: Auth, email: string): Promise<void> {
  const address = checkEmail(email)
  const hours = auth.mail?.hours ?? 24
  const found = await auth.sql.begin(async tx => {
    const [account] = await tx<{ id: string; username: string; email: string }[]>`
      select id, username, email from account a
      where lower(email) = lower(${address}) and not email_verified
        -- Deactivating takes the letters away: what has none and is not active is barred.
        and (is_active or exists (select from email_verification v where v.account_id = a.id))
        and not exists (
          select from email_verification v
          where v.account_id = a.id and v.created_at > now() - interval '1 minute')
      for no key update of a`
    if (!account) return null
    await tx`delete from email_verification where account_id = ${account.id}`
    return { ...account, token: await makeToken(tx, { accountId: account.id, hours }) }
  })
  if (found) auth.mail?.sendLater({ to: found.email, ...confirmationLetter(auth, found) })
}

function confirmationLetter(
  { mail }: Auth,
  { username, token }: { username: string; token: string },
) {
  const link = mail?.link(`/auth/verify-email?token=${token}`)
  const how = link
    ? `Open this address to confirm it:\n\n${link}\n`
    : `Confirm it with this code:\n\n${token}\n`
  return {
    subject: 'Confirm your e-mail address',
    text: `Hello ${username},\n\nthis e-mail address was given for an account of Stackroom.\n${how}\nIf it was not you, do nothing: without confirmation nothing happens.\n`,
  }
}

async function makeToken(
  tx: Transaction,
  { accountId, hours }: { accountId: string; hours: number },
): Promise<string> {
  const token = randomBytes(32).toString('hex')
  await tx`
    insert into email_verification (sha256, account_id, expires_at)
    values (${digestOf(token)}, ${accountId}, now() + make_interval(hours => ${hours}))`
  return token
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
