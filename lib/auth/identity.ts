// Who is behind a request, and the statements that find out. Nothing here is remembered; identify.ts does that.

import type { Sql } from '../postgres/db.ts'
import { effective, type Permission, type Role } from './permission.ts'
import type { Viewer } from './viewer.ts'

/** An account as it is shown to itself. */
export type Account = {
  id: string
  username: string
  email: string
  role: Role
  emailVerified: boolean
  /** Beyond those of the role. */
  permissions: readonly string[]
}

export type Identity = {
  account: Account
  /** What this request may do: those of the account, within those of the key. */
  permissions: ReadonlySet<Permission>
  viewer: Viewer
  sessionId: string | null
  keyId: string | null
  means: Means
}
export type Means = 'token' | 'cookie' | 'key' | 'basic'

/** An identity and until when it may be believed at most, in ms since 1970. */
export type Found = { identity: Identity; until: number }

type Row = Account & {
  allLibraries: boolean
  hasAllLibraries: boolean
  ageLimit: number | null
  showsUnrated: boolean
  libraries: string[]
  allowedTags: string[]
  deniedTags: string[]
}
type Ways = { means: Means; sessionId?: string; keyId?: string; ofKey?: readonly string[] }

/** The identity of an access token, while its session lasts and its account is active. */
export async function identityOfSession(
  sql: Sql,
  { accountId, sessionId, means }: { accountId: string; sessionId: string; means: Means },
): Promise<Found | null> {
  const [row] = await sql<(Row & { ends: Date })[]>`
    select ${columns(sql)}, n.expires_at as ends
    from account a join session n on n.account_id = a.id
    where n.id = ${sessionId} and a.id = ${accountId} and a.is_active
      and n.revoked_at is null and n.expires_at > now()`
  if (!row) return null
  return { identity: identityOf(row, { means, sessionId }), until: row.ends.getTime() }
}

/** A live key by its public part, with the digest that its secret must have. */
export async function identityOfKey(
  sql: Sql,
  prefix: string,
): Promise<(Found & { secret: Buffer }) | null> {
  type KeyRow = Row & { keyId: string; ofKey: string[]; secret: Buffer; ends: Date | null }
  const [row] = await sql<KeyRow[]>`
    select ${columns(sql)}, k.id as "keyId", k.permissions as "ofKey", k.secret_sha256 as secret,
      k.expires_at as ends
    from account a join api_key k on k.account_id = a.id
    where k.prefix = ${prefix} and k.is_active and a.is_active
      and (k.expires_at is null or k.expires_at > now())`
  if (!row) return null
  const identity = identityOf(row, { means: 'key', keyId: row.keyId, ofKey: row.ofKey })
  return { identity, until: row.ends?.getTime() ?? Number.POSITIVE_INFINITY, secret: row.secret }
}

/** The account meant by a user name or an e-mail address, with what its password must fit; active or not. */
export async function identityOfName(
  sql: Sql,
  name: string,
): Promise<{ identity: Identity; passwordHash: string; isActive: boolean } | null> {
  // No account has such a name, and the database takes no text with it.
  if (name.includes('\0')) return null
  const folded = name.normalize('NFC').trim()
  const [row] = await sql<(Row & { passwordHash: string; isActive: boolean })[]>`
    select ${columns(sql)}, a.password_hash as "passwordHash", a.is_active as "isActive"
    from account a
    where lower(a.username) = lower(${folded}) or lower(a.email) = lower(${folded})`
  if (!row) return null
  const { passwordHash, isActive } = row
  return { identity: identityOf(row, { means: 'basic' }), passwordHash, isActive }
}

function columns(sql: Sql) {
  return sql`
    a.id, a.username, coalesce(a.email, '') as email, a.role, a.permissions,
    a.email_verified as "emailVerified",
    -- While a library is being removed everyone sees only those that stay.
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

function identityOf(row: Row, { means, sessionId, keyId, ofKey }: Ways): Identity {
  const { id, username, email, role, emailVerified, permissions } = row
  return {
    account: { id, username, email, role, emailVerified, permissions },
    permissions: effective(role, permissions, ofKey ?? null),
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
    means,
  }
}
