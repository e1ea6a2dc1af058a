// The first administrator, made once.
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import { Conflict, Forbidden } from '../errors.ts'
import type { Sql } from '../postgres/db.ts'
import { insertAccount, readyAccount } from './account.ts'
import type { Auth } from './auth.ts'
import { comesFromElsewhere } from './credential.ts'
import { type SignedIn, startSession, tokensOf } from './session.ts'
import { isSetupToken, withdrawSetupToken } from './setup-token.ts'

type First = { username: string; email: string; password: string }
type Origin = {
  headers: IncomingHttpHeaders
  /** Of the socket, whatever proxies say. */
  address: string
  setupToken: string | undefined
}

const lock = 0x5e70_0001

/** What a client asks before it shows its first page. */
export async function setupStatus(
  sql: Sql,
): Promise<{ setupRequired: boolean; hasUsers: boolean }> {
  const [row] = await sql<{ setupRequired: boolean; hasUsers: boolean }[]>`
    select not exists (select from account where role = 'admin') as "setupRequired",
      exists (select from account) as "hasUsers"`
  return row!
}

/**
 * Makes the first administrator and signs in. Throws Forbidden without the setup token, unless the
 * request was made on this machine itself; Conflict once there is an administrator; Invalid.
 */
export async function initialize(auth: Auth, first: First, origin: Origin): Promise<SignedIn> {
  const { sql } = auth
  // Before the password costs anything.
  if (!(await setupStatus(sql)).setupRequired) throw new Conflict(done)
  await mayInitialize(sql, origin)
  const columns = await readyAccount(first)
  const { account, session } = await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${lock})`
    const [admin] = await tx`select from account where role = 'admin' limit 1`
    if (admin) throw new Conflict(done)
    const account = await insertAccount(tx, { ...columns, role: 'admin' })
    await withdrawSetupToken(tx)
    return { account, session: await startSession(tx, auth, account.id) }
  })
  auth.log.info({ accountId: account.id }, 'first administrator made')
  return { ...(await tokensOf(auth, account, session)), account }
}

const done = 'The server is set up already'

async function mayInitialize(sql: Sql, { headers, address, setupToken }: Origin): Promise<void> {
  if (setupToken !== undefined) {
    if (await isSetupToken(sql, setupToken)) return
    throw new Forbidden('The setup token is not valid')
  }
  if (isLoopback(address) && !wasForwarded(headers) && asksForThisMachine(headers)) return
  throw new Forbidden(
    'The setup token is needed: the server printed it when it started; send it as X-Setup-Token or setupToken',
  )
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '')
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

// Through a proxy on this machine everybody's socket is local.
function wasForwarded(headers: IncomingHttpHeaders): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(name => name in headers)
}

// A page of another site, or one whose name was made to point here, is not the operator.
function asksForThisMachine(headers: IncomingHttpHeaders): boolean {
  if (comesFromElsewhere(headers)) return false
  const url = `http://${headers.host ?? ''}`
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === 'localhost' || isLoopback(hostname.replace(/[[\]]/g, ''))
}
