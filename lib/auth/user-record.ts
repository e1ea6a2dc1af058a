// An account as it is shown to those who manage accounts, and to its owner.

import { NotFound } from '../errors.ts'
import type { Sql } from '../postgres/db.ts'
import { list, nullable, oneOf, record, type Static, Type, timestamp, uuid } from '../schema.ts'
import { type Permission, type Role, roles } from './permission.ts'
import { rulesOf, SharingRule } from './sharing-rule.ts'

const fields = {
  id: uuid(),
  username: Type.String(),
  email: Type.String({ description: 'Empty when there is none.' }),
  role: oneOf(roles),
  permissions: list(Type.String(), { description: 'Beyond those of the role.' }),
  isActive: Type.Boolean(),
  emailVerified: Type.Boolean(),
  libraryIds: nullable(
    list(uuid(), { description: 'The libraries that are seen; null means all.' }),
  ),
  ageLimit: nullable(
    Type.Integer({ description: 'Highest age rating that is seen, in years; null means all.' }),
  ),
  showsUnrated: Type.Boolean({
    description: 'Whether an account with a limit sees what has no age rating.',
  }),
  lastLoginAt: nullable(timestamp()),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

export const User = record(fields, { component: 'User' })
export type User = Static<typeof User>
export const UserDetail = record(
  { ...fields, sharingTags: list(SharingRule) },
  { component: 'UserDetail' },
)
export type UserDetail = Static<typeof UserDetail>

export type UserSearch = {
  role?: Role | undefined
  /** Name of a sharing tag that the account has a rule about. */
  sharingTag?: string | undefined
  sharingTagMode?: 'allow' | 'deny' | undefined
}
type Page = { offset: number; pageSize: number }

/** A page of accounts by user name, and how many there are. */
export async function listUsers(
  sql: Sql,
  { role, sharingTag, sharingTagMode }: UserSearch,
  { offset, pageSize }: Page,
): Promise<{ data: User[]; total: number }> {
  const isWanted = sql`
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
  const [counted, data] = await Promise.all([
    sql<{ total: number }[]>`select count(*) as total from account a where ${isWanted}`,
    sql<User[]>`
      select ${columns(sql)} from account a where ${isWanted}
      order by lower(a.username), a.id
      limit ${pageSize} offset ${offset}`,
  ])
  return { data, total: counted[0]!.total }
}

/** One account with its rules. Throws NotFound. */
export async function findUser(sql: Sql, id: string): Promise<UserDetail> {
  const [[user], sharingTags] = await Promise.all([
    sql<User[]>`select ${columns(sql)} from account a where a.id = ${id}`,
    rulesOf(sql, id),
  ])
  if (!user) throw new NotFound('User not found')
  return { ...user, sharingTags }
}

/** What decides who may manage an account. Throws NotFound. */
export async function standingOf(
  sql: Sql,
  id: string,
): Promise<{ role: Role; permissions: Permission[] }> {
  const [found] = await sql<{ role: Role; permissions: Permission[] }[]>`
    select role, permissions from account where id = ${id}`
  if (!found) throw new NotFound('User not found')
  return found
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
