// User records of the API: schema, list with filter, single user.

import { NotFound } from '../base/errors.ts'
import {
  component,
  list,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../base/schema.ts'
import type { Queryable, Sql } from '../store/postgres/db.ts'
import { type Permission, type Role, roles } from './permission.ts'
import { type AccessMode, listSharingRules, SharingRule } from './sharing-rule.ts'
import type { Viewer } from './viewer.ts'

const fields = {
  id: uuid(),
  username: Type.String(),
  email: Type.String({ description: 'Empty if there is none.' }),
  role: oneOf(roles),
  permissions: list(Type.String(), { description: "Permissions beyond the role's." }),
  isActive: Type.Boolean(),
  emailVerified: Type.Boolean(),
  libraryIds: nullable(list(uuid(), { description: 'Accessible libraries; null means all.' })),
  ageLimit: nullable(
    Type.Integer({ description: 'Maximum age rating in years; null means no limit.' }),
  ),
  showsUnrated: Type.Boolean({
    description: 'Whether an account with an age limit has access to series without an age rating.',
  }),
  lastLoginAt: nullable(timestamp()),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

export const User = component('User', fields)
export type User = Static<typeof User>
export const UserDetail = component('UserDetail', { ...fields, sharingTags: list(SharingRule) })
export type UserDetail = Static<typeof UserDetail>

export type UserFilter = {
  role?: Role | undefined
  /** Name of a sharing tag for which the account has a rule. */
  sharingTag?: string | undefined
  sharingTagMode?: AccessMode | undefined
}
type Page = { offset: number; pageSize: number }

/** A page of accounts sorted by user name, and the total number. */
export async function listUsers(
  sql: Sql,
  { role, sharingTag, sharingTagMode }: UserFilter,
  { offset, pageSize }: Page,
): Promise<{ data: User[]; total: number }> {
  const matches = sql`
    ${role === undefined ? sql`true` : sql`a.role = ${role}`}
    and ${
      sharingTag === undefined && sharingTagMode === undefined
        ? sql`true`
        : sql`exists (
            select from account_sharing_tag r join sharing_tag t on t.id = r.tag_id
            where r.account_id = a.id
              and (${sharingTag ?? null}::text is null or lower(t.name) = lower(${sharingTag ?? null}))
              and (${sharingTagMode ?? null}::text is null or r.mode = ${sharingTagMode ?? null}))`
    }`
  const [counts, data] = await Promise.all([
    sql<{ total: number }[]>`select count(*) as total from account a where ${matches}`,
    sql<User[]>`
      select ${columns(sql)} from account a where ${matches}
      order by lower(a.username), a.id
      limit ${pageSize} offset ${offset}`,
  ])
  return { data, total: counts[0]!.total }
}

/** One account with its sharing tag rules. Throws NotFound. */
export async function findUser(sql: Sql, id: string): Promise<UserDetail> {
  const [[user], sharingTags] = await Promise.all([
    sql<User[]>`select ${columns(sql)} from account a where a.id = ${id}`,
    listSharingRules(sql, id),
  ])
  if (!user) throw new NotFound('User not found')
  return { ...user, sharingTags }
}

/** How many sessions have not ended, and how many API keys there are. */
export async function countCredentials(
  sql: Sql,
  accountId: string,
): Promise<{ sessions: number; apiKeys: number }> {
  const [counts] = await sql<{ sessions: number; apiKeys: number }[]>`
    select (
        select count(*)::integer from session
        where account_id = ${accountId} and revoked_at is null and expires_at > now()) as sessions,
      (select count(*)::integer from api_key where account_id = ${accountId}) as "apiKeys"`
  return counts!
}

/** The account without the libraries that are hidden from a caller who is not an administrator. */
export function shownTo<U extends Pick<User, 'libraryIds'>>(
  { permissions, viewer }: { permissions: ReadonlySet<Permission>; viewer: Viewer },
  user: U,
): U {
  const { libraries } = viewer
  if (libraries === null || user.libraryIds === null || permissions.has('SystemAdmin')) return user
  return { ...user, libraryIds: user.libraryIds.filter(id => libraries.includes(id)) }
}

/** Role and permissions of an account, to decide who may manage it. Throws NotFound. */
export async function findRoleAndPermissions(
  sql: Queryable,
  id: string,
): Promise<{ role: Role; permissions: Permission[] }> {
  const [row] = await sql<{ role: Role; permissions: Permission[] }[]>`
    select role, permissions from account where id = ${id}`
  if (!row) throw new NotFound('User not found')
  return row
}

function columns(sql: Sql) {
  return sql`
    a.id, a.username, coalesce(a.email, '') as email, a.role, a.permissions,
    a.is_active as "isActive", a.email_verified as "emailVerified",
    case when not a.all_libraries then
      array(select l.library_id from account_library l where l.account_id = a.id order by 1)
    end as "libraryIds",
    a.age_limit as "ageLimit", a.shows_unrated as "showsUnrated",
    a.last_login_at as "lastLoginAt", a.created_at as "createdAt", a.updated_at as "updatedAt"`
}
