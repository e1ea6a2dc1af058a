// Self-registration of accounts and confirmation of e-mail addresses.
import { randomBytes } from 'node:crypto'
import { Forbidden, Invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { fetchSetting } from '../store/setting/setting.ts'
import { checkEmail, checkUsername, insertAccount, toAccountColumns } from './account.ts'
import type { Auth } from './auth.ts'
import type { Account } from './identify.ts'
import { hashSecret } from './secret.ts'
import { issueTokens, startSession, type Tokens } from './session.ts'

type RegistrationRequest = { username: string; email: string; password: string }
/** `tokens` is null until the address is confirmed; `isMailed` is whether the confirmation mail was sent. */
export type RegistrationResult = {
  account: Account
  tokens: Tokens | null
  isMailed: boolean | null
}

/** Whether self-registration is enabled (setting `auth.registration_enabled`). */
export function isRegistrationOpen(sql: Sql): Promise<boolean> {
  return fetchSetting(sql, 'auth.registration_enabled')
}

/**
 * Registers a reader and signs in, unless addresses must be confirmed. In that case an address that
 * already has an account gets the same response, and its owner a mail. Throws Forbidden when registration
 * is disabled, Invalid when a value is not acceptable or in use.
 */
export async function register(
  auth: Auth,
  request: RegistrationRequest,
): Promise<RegistrationResult> {
  if (!(await isRegistrationOpen(auth.sql))) throw new Forbidden('Registration is disabled')
  // Checked before anything depends on which names and addresses are in use.
  requireOwnAddress(request)
  const columns = await toAccountColumns(request)
  if (auth.settings.email_confirmation_required) return registerUnconfirmed(auth, request, columns)
  const { account, session } = await auth.sql.begin(async tx => {
    const account = await insertAccount(tx, { ...columns, role: 'reader', email_verified: false })
    return { account, session: await startSession(tx, auth, account.id) }
  })
  return { account, tokens: await issueTokens(auth, account, session), isMailed: null }
}

/** Throws Invalid for a name that contains @ unless it is the address, as the database would. */
function requireOwnAddress({ username, email }: Pick<RegistrationRequest, 'username' | 'email'>) {
  const [name, address] = [checkUsername(username), checkEmail(email)]
  if (name.includes('@') && name.toLowerCase() !== address.toLowerCase())
    throw new Invalid('A user name that contains @ must be the e-mail address of the account')
}

async function registerUnconfirmed(
  auth: Auth,
  { username }: RegistrationRequest,
  columns: Awaited<ReturnType<typeof toAccountColumns>>,
): Promise<RegistrationResult> {
  const email = columns.email!
  const isAddress = columns.username!.includes('@')
  const { account, token } = await auth.sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtextextended(lower(${email}), 0))`
    const [existing] = await tx`select from account where lower(email) = lower(${email})`
    const account = await insertAccount(tx, {
      ...columns,
      // An account without address reserves the name, as registration with an unknown address would. A name
      // that is the address has nothing to reserve; a random one stands for it, so that the cost is equal.
      ...(existing && { email: null }),
      ...(existing && isAddress && { username: `registration-${newId()}` }),
      role: 'reader',
      is_active: false,
      email_verified: false,
    })
    const token = await createVerificationToken(tx, auth, { id: account.id })
    if (existing && isAddress) await tx`delete from account where id = ${account.id}`
    return { account: { ...account, username: columns.username! }, token: existing ? null : token }
  })
  const message = token
    ? confirmationMessage(auth, { username, token, purpose: 'registration' })
    : addressInUse(username)
  const isMailed = (await auth.mail?.send({ to: email, ...message })) ?? false
  return { account: { ...account, email }, tokens: null, isMailed }
}

/**
 * Confirms the e-mail address of a token. Only the first token of a registration signs in: later ones may have been
 * sent to a mistyped address of an account that is in use. Throws Invalid for an unknown or expired token.
 */
export async function verifyEmail(
  auth: Auth,
  token: string,
): Promise<Pick<RegistrationResult, 'account' | 'tokens'>> {
  const { account, session } = await auth.sql.begin(async tx => {
    // An account and its registration token are created in one transaction, so at the same time.
    const [used] = await tx<{ accountId: string; email: string | null; isFirst: boolean }[]>`
      delete from email_verification v using account a
      where v.sha256 = ${hashSecret(token)} and v.expires_at > now() and a.id = v.account_id
      returning v.account_id as "accountId", v.email,
        v.email is null and not a.is_active and v.created_at = a.created_at as "isFirst"`
    if (!used) throw new Invalid(unknownToken)
    // Deactivation deletes the tokens, so an account with a token is only unconfirmed.
    const [account] = await tx<Account[]>`
      update account set email = coalesce(${used.email}, email), email_verified = true,
        is_active = true, updated_at = now(),
        last_login_at = case when ${used.isFirst} then now() else last_login_at end
      where id = ${used.accountId}
      returning id, username, coalesce(email, '') as email, role,
        email_verified as "emailVerified", permissions`.catch(rethrowTaken)
    await tx`delete from email_verification where account_id = ${used.accountId}`
    const session = used.isFirst ? await startSession(tx, auth, used.accountId) : null
    return { account: account!, session }
  })
  auth.identities.invalidate(account.id)
  return { account, tokens: session && (await issueTokens(auth, account, session)) }
}

const unknownToken = 'The token is unknown or has expired'

// Another account has received the address since the token was sent.
function rethrowTaken(error: unknown): never {
  const { constraint_name } = error as { constraint_name?: string }
  throw constraint_name?.startsWith('account_') ? new Invalid(unknownToken) : error
}

/**
 * Sends a confirmation to the new address of an account, which keeps its old one until then. If another
 * account has the new address, its owner receives a mail instead; the response and its timing are the same.
 * Throws Invalid.
 */
export async function requestEmailChange(
  auth: Auth,
  { id, username }: Pick<Account, 'id' | 'username'>,
  email: string,
): Promise<void> {
  requireOwnAddress({ username, email })
  const address = checkEmail(email)
  const { token, isTaken } = await auth.sql.begin(async tx => {
    await tx`select from account where id = ${id} for no key update`
    const [existing] = await tx`select from account where lower(email) = lower(${address})`
    await tx`delete from email_verification where account_id = ${id}`
    const token = await createVerificationToken(tx, auth, { id, email: address })
    return { token, isTaken: existing !== undefined }
  })
  const message = isTaken
    ? addressInUse(username)
    : confirmationMessage(auth, { username, token, purpose: 'change' })
  auth.mail?.sendLater({ to: address, ...message })
}

/**
 * Sends the confirmation again to an unconfirmed account, at most once a minute. The mail is sent in the
 * background, so that the response does not reveal whether such an account exists.
 */
export async function resendVerification(auth: Auth, email: string): Promise<void> {
  const address = checkEmail(email)
  const recipient = await auth.sql.begin(async tx => {
    const [account] = await tx<
      { id: string; username: string; email: string; isActive: boolean }[]
    >`
      select id, username, email, is_active as "isActive" from account a
      where lower(email) = lower(${address}) and not email_verified
        -- Deactivation deletes the tokens: an inactive account without one is deactivated, not unconfirmed.
        and (is_active or exists (select from email_verification v where v.account_id = a.id))
        and not exists (
          select from email_verification v
          where v.account_id = a.id and v.created_at > now() - interval '1 minute')
      for no key update of a`
    if (!account) return null
    await tx`delete from email_verification where account_id = ${account.id}`
    return { ...account, token: await createVerificationToken(tx, auth, { id: account.id }) }
  })
  if (!recipient) return
  const purpose = recipient.isActive ? 'address' : 'registration'
  const message = confirmationMessage(auth, { ...recipient, purpose })
  auth.mail?.sendLater({ to: recipient.email, ...message })
}

/** By purpose: what the address was used for, and what happens without a confirmation. */
const purposes = {
  registration: [
    'This e-mail address was used to register a Stackroom account.',
    'unconfirmed accounts are deleted.',
  ],
  change: [
    'This e-mail address was entered as the new address of your Stackroom account. Confirming it does not sign you in.',
    'the account keeps its current address.',
  ],
  address: [
    'This is the e-mail address of a Stackroom account, but has not been confirmed yet. Confirming it does not sign you in.',
    'the address stays unconfirmed.',
  ],
} as const

function confirmationMessage(
  { mail }: Auth,
  { username, token, purpose }: { username: string; token: string; purpose: keyof typeof purposes },
) {
  const link = mail?.link(`/auth/verify-email?token=${token}`)
  const instruction = link
    ? `Open this link to confirm it:\n\n${link}\n`
    : `Confirm it with this code:\n\n${token}\n`
  const [reason, otherwise] = purposes[purpose]
  return {
    subject: 'Confirm your e-mail address',
    text: `Hello ${username},\n\n${reason}\n${instruction}\nIf this was not you, ignore this mail: ${otherwise}\n`,
  }
}

function addressInUse(username: string) {
  return {
    subject: 'You already have an account',
    text: `Someone, perhaps you, tried to use this e-mail address for an account named ${username}.\nThe address already belongs to an account, which you can use to sign in. Nothing was changed.\n`,
  }
}

/** `email`: the new address; without one, that of the account. */
async function createVerificationToken(
  tx: Transaction,
  { mail }: Auth,
  { id, email }: { id: string; email?: string },
) {
  const token = randomBytes(32).toString('hex')
  const hours = mail?.verificationHours ?? 24
  await tx`
    insert into email_verification (sha256, account_id, email, expires_at)
    values (${hashSecret(token)}, ${id}, ${email ?? null}, now() + make_interval(hours => ${hours}))`
  return token
}
