// Identity of a request: account, permissions, viewer. Uncached database look-ups by session, key and name.
import type { Sql } from '../store/postgres/db.ts'
import { missingToManage } from './manageable.ts'
import {
  effectivePermissions,
  impersonationPermission,
  type Permission,
  permissionNames,
  type Role,
  readingOnly,
} from './permission.ts'
import { hashSecret } from './secret.ts'
import type { Viewer } from './viewer.ts'

/** An account as its owner sees it. */
export type Account = {
  id: string
  username: string
  email: string
  role: Role
  emailVerified: boolean
  /** Permissions beyond the role's. */
  permissions: readonly string[]
}

export type Identity = {
  account: Account
  /** The account's permissions, restricted to the API key's. */
  permissions: ReadonlySet<Permission>
  viewer: Viewer
  sessionId: string | null
  keyId: string | null
  /** The administrator to whom the account is shown; null for the account itself. */
  actorId: string | null
  credentialKind: CredentialKind
  /** Digest of the stored password hash that matched the HTTP Basic password. */
  passwordDigest?: Buffer
}
export type CredentialKind = 'token' | 'cookie' | 'key' | 'basic'

/** An identity and when it expires, in ms since 1970. */
export type ResolvedIdentity = { identity: Identity; until: number }

type Row = Account & {
  allLibraries: boolean
  hasAllLibraries: boolean
  ageLimit: number | null
  showsUnrated: boolean
  libraries: string[]
  allowedTags: string[]
  deniedTags: string[]
}
type Source = {
  credentialKind: CredentialKind
  sessionId?: string
  keyId?: string
  keyPermissions?: readonly string[]
}

type Session = { accountId: string; sessionId: string; credentialKind: CredentialKind }

/** The identity of an access token; null when its session has ended or its account is inactive. */
export async function findIdentityBySession(
  sql: Sql,
  { accountId, sessionId, credentialKind }: Session,
): Promise<ResolvedIdentity | null> {
  const [row] = await sql<(Row & { ends: Date })[]>`
    select ${columns(sql)}, n.expires_at as ends
    from account a join session n on n.account_id = a.id
    where n.id = ${sessionId} and a.id = ${accountId} and a.is_active
      and n.revoked_at is null and n.expires_at > now()`
  if (!row) return null
  return { identity: toIdentity(row, { credentialKind, sessionId }), until: row.ends.getTime() }
}

/** The administrator; the session is the administrator's. */
type Impersonation = Session & { actorId: string }

/**
 * The identity of an account as shown to an administrator: it can only read. Null when the administrator's
 * session has ended, the account is inactive, or the administrator may not (or no longer) manage it.
 */
export async function findImpersonatedIdentity(
  sql: Sql,
  { accountId, actorId, sessionId, credentialKind }: Impersonation,
): Promise<ResolvedIdentity | null> {
  const actor = await findIdentityBySession(sql, { accountId: actorId, sessionId, credentialKind })
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from account a where a.id = ${accountId} and a.is_active`
  if (!actor || !row) return null
  if (!actor.identity.permissions.has(impersonationPermission)) return null
  const known = row.permissions.filter(name => permissionNames.some(known => known === name))
  if (missingToManage(actor.identity, { role: row.role, permissions: known }) !== null) return null
  const identity = toIdentity(row, { credentialKind })
  const permissions = readingOnly(identity.permissions)
  return { identity: { ...identity, permissions, actorId }, until: actor.until }
}

/** The identity of an app's session by the digest of its secret; null when it or its credential has ended. */
export async function findIdentityByClientSession(
  sql: Sql,
  digest: Buffer,
): Promise<(ResolvedIdentity & { usedAt: Date }) | null> {
  type Found = Row & {
    sessionId: string
    keyId: string | null
    keyPermissions: string[] | null
    ends: Date
    usedAt: Date
  }
  const [row] = await sql<Found[]>`
    select ${columns(sql)}, n.id as "sessionId", k.id as "keyId", k.permissions as "keyPermissions",
      least(c.expires_at, n.expires_at, k.expires_at) as ends, c.used_at as "usedAt"
    from client_session c
    join session n on n.id = c.session_id
    join account a on a.id = n.account_id
    left join api_key k on k.id = c.api_key_id
    where c.sha256 = ${digest} and c.expires_at > now() and a.is_active
      and n.revoked_at is null and n.expires_at > now()
      and (c.api_key_id is null
        or (k.is_active and (k.expires_at is null or k.expires_at > now())))`
  if (!row) return null
  const { sessionId, keyId, keyPermissions, ends, usedAt } = row
  const key = keyId === null ? {} : { keyId, keyPermissions: keyPermissions! }
  const identity = toIdentity(row, { credentialKind: 'cookie', sessionId, ...key })
  return { identity, until: ends.getTime(), usedAt }
}

/** The identity of a valid API key by its public prefix, with the digest of its secret. */
export async function findIdentityByKey(
  sql: Sql,
  prefix: string,
): Promise<(ResolvedIdentity & { secret: Buffer }) | null> {
  const [row] = await sql<KeyRow[]>`${selectKey(sql)} and k.prefix = ${prefix}`
  return row ? { ...ofKey(row), secret: row.secret } : null
}

type KeyRow = Row & { keyId: string; keyPermissions: string[]; secret: Buffer; ends: Date | null }

function selectKey(sql: Sql) {
  return sql`
    select ${columns(sql)}, k.id as "keyId", k.permissions as "keyPermissions",
      k.secret_sha256 as secret, k.expires_at as ends
    from account a join api_key k on k.account_id = a.id
    where k.is_active and a.is_active and (k.expires_at is null or k.expires_at > now())`
}

function ofKey(row: KeyRow): ResolvedIdentity {
  const { keyId, keyPermissions, ends } = row
  const identity = toIdentity(row, { credentialKind: 'key', keyId, keyPermissions })
  return { identity, until: ends?.getTime() ?? Number.POSITIVE_INFINITY }
}

/** The identity of a valid API key by its digest for KOReader sync, if the name matches the key's account. */
export async function findIdentityByKoreaderKey(
  sql: Sql,
  name: string,
  digest: Buffer,
): Promise<ResolvedIdentity | null> {
  const [row] = await sql<KeyRow[]>`${selectKey(sql)} and k.koreader_sha256 = ${digest}`
  if (!row) return null
  const isOwner = [row.username, row.email].some(
    known => known.toLowerCase() === normalizedName(name).toLowerCase(),
  )
  return isOwner ? ofKey(row) : null
}

/** The viewer of an account; null if it is inactive. */
export async function viewerOf(sql: Sql, accountId: string): Promise<Viewer | null> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from account a where a.id = ${accountId} and a.is_active`
  return row ? toIdentity(row, { credentialKind: 'token' }).viewer : null
}

/** The account with a user name or e-mail address, active or not, and its password hash. */
export async function findIdentityByName(
  sql: Sql,
  name: string,
): Promise<{ identity: Identity; passwordHash: string; isActive: boolean } | null> {
  // PostgreSQL rejects U+0000 in text.
  if (name.includes('\0')) return null
  const normalized = normalizedName(name)
  const [row] = await sql<(Row & { passwordHash: string; isActive: boolean })[]>`
    select ${columns(sql)}, a.password_hash as "passwordHash", a.is_active as "isActive"
    from account a
    where lower(a.username) = lower(${normalized}) or lower(a.email) = lower(${normalized})`
  if (!row) return null
  const { passwordHash, isActive } = row
  const passwordDigest = hashSecret(passwordHash)
  const identity = { ...toIdentity(row, { credentialKind: 'basic' }), passwordDigest }
  return { identity, passwordHash, isActive }
}

/** A user name or address in the form in which it is compared, ignoring case. */
export function normalizedName(name: string): string {
  return name.normalize('NFC').trim()
}

function columns(sql: Sql) {
  return sql`
    a.id, a.username, coalesce(a.email, '') as email, a.role, a.permissions,
    a.email_verified as "emailVerified",
    -- While a library is being deleted, accounts are restricted to the remaining ones.
    a.all_libraries and not exists (select from library where deleting_at is not null)
      as "allLibraries",
    a.all_libraries as "hasAllLibraries",
    a.age_limit as "ageLimit", a.shows_unrated as "showsUnrated",
    array(
      select l.id from library l
      where l.deleting_at is null and (a.all_libraries or exists (
        select from account_library x where x.account_id = a.id and x.library_id = l.id))
    ) as libraries,
    array(select t.tag_id from account_sharing_tag t
      where t.account_id = a.id and t.mode = 'allow') as "allowedTags",
    array(select t.tag_id from account_sharing_tag t
      where t.account_id = a.id and t.mode = 'deny') as "deniedTags"`
}

function toIdentity(
  row: Row,
  { credentialKind, sessionId, keyId, keyPermissions }: Source,
): Identity {
  const { id, username, email, role, emailVerified, permissions } = row
  return {
    account: { id, username, email, role, emailVerified, permissions },
    permissions: effectivePermissions(role, permissions, keyPermissions ?? null),
    viewer: {
      accountId: id,
      libraries: row.allLibraries ? null : row.libraries,
      hasAllLibraries: row.hasAllLibraries,
      allowedTags: row.allowedTags,
      deniedTags: row.deniedTags,
      ageLimit: row.ageLimit,
      showsUnrated: row.showsUnrated,
    },
    sessionId: sessionId ?? null,
    keyId: keyId ?? null,
    actorId: null,
    credentialKind,
  }
}
