// Initial setup: creation of the first administrator, and the one-time token that authorizes it.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import { Conflict, Forbidden } from '../base/errors.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { insertAccount, toAccountColumns } from './account.ts'
import type { Auth } from './auth.ts'
import { isCrossOrigin } from './credential.ts'
import { hashSecret } from './secret.ts'
import { issueTokens, type SignedIn, startSession } from './session.ts'

type FirstAdministrator = { username: string; email: string; password: string }
type SetupOrigin = {
  headers: IncomingHttpHeaders
  /** The socket's address; proxy headers are ignored. */
  address: string
  setupToken: string | undefined
}

const setupLockKey = 0x5e70_0001

/** Whether the setup is pending, for the first page of a client. */
export async function setupStatus(
  sql: Sql,
): Promise<{ setupRequired: boolean; hasUsers: boolean }> {
  const [row] = await sql<{ setupRequired: boolean; hasUsers: boolean }[]>`
    select not exists (select from account where role = 'admin') as "setupRequired",
      exists (select from account) as "hasUsers"`
  return row!
}

/**
 * Creates the first administrator and signs in. Throws Forbidden without the setup token, unless the
 * request comes from this machine; Conflict once an administrator exists; Invalid.
 */
export async function initialize(
  auth: Auth,
  administrator: FirstAdministrator,
  origin: SetupOrigin,
): Promise<SignedIn> {
  const { sql } = auth
  // Before the expensive password hash.
  if (!(await setupStatus(sql)).setupRequired)
    throw new Conflict(alreadySetUp, { reason: 'setup_done' })
  await authorizeSetup(sql, origin)
  const columns = await toAccountColumns(administrator)
  const { account, session } = await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${setupLockKey})`
    const [admin] = await tx`select from account where role = 'admin' limit 1`
    if (admin) throw new Conflict(alreadySetUp, { reason: 'setup_done' })
    const account = await insertAccount(tx, { ...columns, role: 'admin' })
    await deleteSetupToken(tx)
    return { account, session: await startSession(tx, auth, account.id) }
  })
  auth.log.info({ accountId: account.id }, 'first administrator created')
  return { ...(await issueTokens(auth, account, session)), account }
}

const alreadySetUp = 'The server is already set up'

async function authorizeSetup(sql: Sql, { headers, address, setupToken }: SetupOrigin) {
  if (setupToken !== undefined) {
    if (await isSetupToken(sql, setupToken)) return
    throw new Forbidden(`The setup token is not valid; ${whereTokenGoes}`)
  }
  if (isLoopback(address) && !wasForwarded(headers) && isSameHostRequest(headers)) return
  throw new Forbidden(`Setup from another machine requires the setup token; ${whereTokenGoes}`)
}

const whereTokenGoes =
  '`stackroom serve` prints it when it starts; send it in the header X-Setup-Token, or as setupToken in the body'

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '')
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

// Requests through a proxy on this machine all come from a local socket.
function wasForwarded(headers: IncomingHttpHeaders): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(name => name in headers)
}

// Excludes cross-origin pages and DNS rebinding (a foreign name that resolves to this machine).
function isSameHostRequest(headers: IncomingHttpHeaders): boolean {
  if (isCrossOrigin(headers)) return false
  const url = `http://${headers.host ?? ''}`
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === 'localhost' || isLoopback(hostname.replace(/[[\]]/g, ''))
}

/** Creates a token that replaces any earlier one; null once an administrator exists. Only its hash is stored. */
export async function createSetupToken(sql: Sql): Promise<string | null> {
  const [admin] = await sql`select 1 from account where role = 'admin' limit 1`
  if (admin) return null
  const token = randomBytes(24).toString('base64url')
  await sql`
    insert into setting (key, value)
    values ('setup_token', ${sql.json({ sha256: hashSecret(token).toString('hex') })})
    on conflict (key) do update set value = excluded.value, updated_at = now()`
  return token
}

/** Whether this is the most recent token. */
export async function isSetupToken(sql: Sql, token: string): Promise<boolean> {
  const [row] = await sql<{ sha256: string }[]>`
    select value ->> 'sha256' as sha256 from setting where key = 'setup_token'`
  return row !== undefined && timingSafeEqual(Buffer.from(row.sha256, 'hex'), hashSecret(token))
}

export async function deleteSetupToken(tx: Transaction): Promise<void> {
  await tx`delete from setting where key = 'setup_token'`
}
