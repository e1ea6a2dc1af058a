// API keys: of the caller, and of others for those who manage accounts.
import { newKey } from '../../auth/api-key.ts'
import type { Identity } from '../../auth/identify.ts'
import { type Permission, parsePermissions, permissionNames } from '../../auth/permission.ts'
import { Conflict, Forbidden, Invalid, NotFound } from '../../errors.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import { newId } from '../../id.ts'
import type { Sql } from '../../postgres/db.ts'
import {
  body,
  change,
  Id,
  maybe,
  nullable,
  record,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../schema.ts'
import { Permissions, SomePermissions } from './signed-in.ts'

const mostOfOne = 500

const Public = Type.String({ description: 'The part of the key that is no secret.' })
const fields = {
  id: uuid(),
  userId: uuid(),
  name: Type.String(),
  key_prefix: Public,
  keyPrefix: Public,
  permissions: Permissions,
  isActive: Type.Boolean(),
  expiresAt: nullable(timestamp()),
  lastUsedAt: nullable(timestamp({ description: 'To the minute.' })),
  created_at: timestamp(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}
const ApiKey = record(fields, { component: 'ApiKey' })
type ApiKey = Static<typeof ApiKey>
const NewApiKey = record(
  { ...fields, key: Type.String({ description: 'The whole key; never shown again.' }) },
  { component: 'NewApiKey' },
)
const Name = text(200, { minLength: 1 })
const Expiry = nullable(timestamp({ description: 'Null never expires.' }))

export const apiKeys = [
  route({
    method: 'GET',
    path: '/api-keys',
    permission: 'ApiKeysRead',
    summary: 'List own API keys',
    description: 'Newest first; without the secrets.',
    query: record(pageQuery),
    responses: { 200: paged(ApiKey) },
    async handle({ query, identity, request, reply }, { sql }) {
      const page = paging(query)
      const { id } = identity.account
      const [[counted], data] = await Promise.all([
        sql<{ total: number }[]>`select count(*) as total from api_key where account_id = ${id}`,
        sql<ApiKey[]>`
          select ${columns(sql)} from api_key k where k.account_id = ${id}
          order by k.created_at desc, k.id desc
          limit ${page.pageSize} offset ${page.offset}`,
      ])
      return pageOf({ request, reply, query }, { data, total: counted!.total, paging: page })
    },
  }),
  route({
    method: 'POST',
    path: '/api-keys',
    permission: 'ApiKeysWrite',
    summary: 'Create an API key',
    description:
      'The only answer with the whole key. Without permissions it gets all that the caller has; what the ' +
      'caller lacks cannot be given (403). A key never does more than its owner may at the time.',
    body: body({ name: Name, permissions: maybe(SomePermissions), expiresAt: maybe(Expiry) }),
    responses: { 201: NewApiKey },
    async handle({ body, identity, reply }, { sql }) {
      const granted = grantable(identity, body.permissions)
      const { key, prefix, digest } = newKey()
      const id = newId()
      const { id: owner } = identity.account
      const [made] = await sql`
        insert into api_key (id, account_id, name, prefix, secret_sha256, permissions, expires_at)
        select ${id}, ${owner}, ${body.name}, ${prefix}, ${digest}, ${granted}::text[],
          ${expiry(body.expiresAt) ?? null}::timestamptz
        where (select count(*) from api_key where account_id = ${owner}) < ${mostOfOne}
        returning id`
      if (!made) throw new Conflict(`An account can have ${mostOfOne} keys`)
      reply.header('cache-control', 'no-store')
      return { ...(await findKey(sql, id)), key }
    },
  }),
  route({
    method: 'GET',
    path: '/api-keys/{id}',
    permission: 'ApiKeysRead',
    summary: 'API key details',
    description: 'Keys of others need UsersRead as well.',
    params: Id,
    responses: { 200: ApiKey },
    handle: ({ params, identity }, { sql }) =>
      keyFor(sql, identity, { ...params, need: 'UsersRead' }),
  }),
  route({
    method: 'PUT',
    path: '/api-keys/{id}',
    also: [{ method: 'PATCH' }],
    permission: 'ApiKeysWrite',
    summary: 'Update an API key',
    description: 'What is left out stays. Keys of others need UsersWrite as well.',
    params: Id,
    body: change(
      {
        name: maybe(Name),
        permissions: maybe(SomePermissions),
        isActive: maybe(Type.Boolean()),
        expiresAt: maybe(Expiry),
      },
      NewApiKey,
    ),
    responses: { 200: ApiKey },
    async handle({ params, body, identity }, { sql, identities }) {
      const { userId } = await keyFor(sql, identity, { ...params, need: 'UsersWrite' })
      const { name, isActive } = body
      const changes = {
        ...(name !== undefined && { name }),
        ...(body.permissions && { permissions: grantable(identity, body.permissions) }),
        ...(isActive !== undefined && { is_active: isActive }),
        ...(body.expiresAt !== undefined && { expires_at: expiry(body.expiresAt) ?? null }),
        updated_at: new Date(),
      }
      await sql`update api_key set ${sql(changes as Record<string, unknown>)} where id = ${params.id}`
      identities.drop(userId)
      return findKey(sql, params.id)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api-keys/{id}',
    permission: 'ApiKeysDelete',
    summary: 'Revoke an API key',
    description: 'It is useless at once. Keys of others need UsersDelete as well.',
    params: Id,
    responses: { 204: null },
    async handle({ params, identity }, { sql, identities }) {
      const { userId } = await keyFor(sql, identity, { ...params, need: 'UsersDelete' })
      await sql`delete from api_key where id = ${params.id}`
      identities.drop(userId)
      return answer(204)
    },
  }),
]

async function keyFor(
  sql: Sql,
  { account, permissions }: Identity,
  { id, need }: { id: string; need: Permission },
): Promise<ApiKey> {
  const key = await findKey(sql, id)
  if (key.userId !== account.id && !permissions.has(need))
    throw new Forbidden(`Missing required permission: ${need}`)
  return key
}

async function findKey(sql: Sql, id: string): Promise<ApiKey> {
  const [key] = await sql<ApiKey[]>`select ${columns(sql)} from api_key k where k.id = ${id}`
  if (!key) throw new NotFound('API key not found')
  return key
}

function columns(sql: Sql) {
  return sql`
    k.id, k.account_id as "userId", k.name, k.prefix as key_prefix, k.prefix as "keyPrefix",
    k.permissions, k.is_active as "isActive", k.expires_at as "expiresAt",
    k.last_used_at as "lastUsedAt", k.created_at, k.created_at as "createdAt",
    k.updated_at as "updatedAt"`
}

function grantable({ permissions }: Identity, asked: readonly string[] | undefined): Permission[] {
  if (asked === undefined) return permissionNames.filter(name => permissions.has(name))
  const meant = parsePermissions(asked)
  const lacking = meant.find(name => !permissions.has(name))
  if (lacking) throw new Forbidden(`Missing required permission: ${lacking}`)
  return meant
}

function expiry(at: Date | string | null | undefined): Date | null | undefined {
  if (at === undefined || at === null) return at
  const time = new Date(at)
  if (!(time.getTime() > Date.now())) throw new Invalid('The key would have expired already')
  return time
}
