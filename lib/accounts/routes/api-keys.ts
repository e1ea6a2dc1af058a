// API keys: the caller's own and, for user managers, those of other users.
import { Conflict, Forbidden, Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  body,
  component,
  list,
  maybe,
  nullable,
  patchBody,
  record,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { paged, pagedResponse, pageQuery } from '../../http/pagination.ts'
import { ApiKeyId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import { generateKey } from '../api-key.ts'
import type { Identity } from '../identify.ts'
import { requireManageable } from '../manageable.ts'
import { type Permission, parsePermissions, permissionNames } from '../permission.ts'
import { findRoleAndPermissions } from '../user-record.ts'
import { Permission as PermissionName, PermissionNames } from './account-schema.ts'

const maxKeysPerAccount = 100
const othersNote = '403 for the keys of an account with more permissions than the caller.'

const KeyPrefix = Type.String({ description: 'The public part of the key.' })
const fields = {
  id: uuid(),
  userId: uuid(),
  name: Type.String(),
  key_prefix: KeyPrefix,
  keyPrefix: KeyPrefix,
  permissions: list(PermissionName),
  isActive: Type.Boolean(),
  expiresAt: nullable(timestamp()),
  lastUsedAt: nullable(timestamp({ description: 'Precise to a minute.' })),
  created_at: timestamp(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}
const ApiKey = component('ApiKey', fields)
export type ApiKey = Static<typeof ApiKey>
const NewApiKey = component('NewApiKey', {
  ...fields,
  key: Type.String({ description: 'The full key; returned only once.' }),
})
const Name = text(200, { minLength: 1, description: 'Display name of the key.' })
const ExpiresAt = nullable(timestamp({ description: 'Null for a key that does not expire.' }))

export const apiKeys = [
  route('GET /api-keys', {
    operationId: 'listApiKeys',
    permission: 'ApiKeysRead',
    summary: 'List own API keys',
    description: 'Newest first, without the secret parts.',
    query: record(pageQuery),
    responses: { 200: paged(ApiKey) },
    handle: (input, { sql }) =>
      pagedResponse(input, async ({ offset, pageSize }) => {
        const keys = await keysOf(sql, input.identity)
        return { data: keys.slice(offset, offset + pageSize), total: keys.length }
      }),
  }),
  route('POST /api-keys', {
    operationId: 'createApiKey',
    permission: 'ApiKeysWrite',
    summary: 'Create an API key',
    description:
      'The only response that contains the full key. Without `permissions` the key gets all permissions of the caller; others cannot be granted (403). A key never has more permissions than its owner has at the time of a request.',
    body: body('ApiKeyCreate', {
      name: Name,
      permissions: maybe(PermissionNames),
      expiresAt: maybe(ExpiresAt),
    }),
    responses: { 201: NewApiKey },
    async handle({ body, identity, reply }, { sql }) {
      reply.header('cache-control', 'no-store')
      return await createKey(sql, identity, body)
    },
  }),
  route('GET /api-keys/{id}', {
    operationId: 'getApiKey',
    permission: 'ApiKeysRead',
    summary: 'Get an API key',
    description: `Keys of other users also require UsersRead. ${othersNote}`,
    params: ApiKeyId,
    responses: { 200: ApiKey },
    handle: ({ params, identity }, { sql }) =>
      findManageableKey(sql, identity, { ...params, required: 'UsersRead' }),
  }),
  route('PUT /api-keys/{id}', {
    operationId: 'updateApiKey',
    aliases: [{ method: 'PATCH', operationId: 'patchApiKey' }],
    permission: 'ApiKeysWrite',
    summary: 'Update an API key',
    description: `Absent fields are unchanged. Only a caller who has all permissions of a key can reactivate it or extend its expiry (403 otherwise). Keys of other users also require UsersWrite. ${othersNote}`,
    params: ApiKeyId,
    body: patchBody(
      'ApiKeyUpdate',
      {
        name: maybe(Name),
        permissions: maybe(PermissionNames),
        isActive: maybe(Type.Boolean()),
        expiresAt: maybe(ExpiresAt),
      },
      NewApiKey,
    ),
    responses: { 200: ApiKey },
    async handle({ params, body, identity }, { sql, identities }) {
      const { name, isActive } = body
      const permissions = body.permissions && grantablePermissions(identity, body.permissions)
      const expiresAt = parseExpiry(body.expiresAt)
      const changes = {
        ...(name !== undefined && { name }),
        ...(permissions && { permissions }),
        ...(isActive !== undefined && { is_active: isActive }),
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
        updated_at: new Date(),
      }
      const userId = await sql.begin(async tx => {
        // Locked, so that the permissions checked are the ones the key gets back.
        await tx`select from api_key where id = ${params.id} for no key update`
        const key = await findManageableKey(tx, identity, { ...params, required: 'UsersWrite' })
        if (prolongs(key, { isActive, expiresAt }))
          requireOwnPermissions(identity, permissions ?? key.permissions)
        await tx`update api_key set ${tx(changes as Record<string, unknown>)} where id = ${params.id}`
        return key.userId
      })
      identities.invalidate(userId)
      return findKey(sql, params.id)
    },
  }),
  route('DELETE /api-keys/{id}', {
    operationId: 'deleteApiKey',
    permission: 'ApiKeysDelete',
    summary: 'Revoke an API key',
    description: `The key becomes invalid immediately. Keys of other users also require UsersDelete. ${othersNote}`,
    params: ApiKeyId,
    responses: { 204: null },
    async handle({ params, identity }, { sql, identities }) {
      const { userId } = await findManageableKey(sql, identity, {
        ...params,
        required: 'UsersDelete',
      })
      await sql`delete from api_key where id = ${params.id}`
      identities.invalidate(userId)
    },
  }),
]

type KeyRequest = {
  name: string
  permissions?: readonly string[] | undefined
  expiresAt?: Date | string | null | undefined
}

/** Creates a key for the caller; only its response has the full key. Throws Forbidden, Invalid, Conflict for too many keys. */
export async function createKey(
  sql: Sql,
  identity: Identity,
  { name, ...requested }: KeyRequest,
): Promise<Static<typeof NewApiKey>> {
  const permissions = grantablePermissions(identity, requested.permissions)
  const { key, prefix, digest, koreaderDigest } = generateKey()
  const id = newId()
  const { id: accountId } = identity.account
  const expiresAt = parseExpiry(requested.expiresAt) ?? null
  const [created] = await sql.begin(async tx => {
    // Locked, so that concurrent requests count one after the other.
    await tx`select from account where id = ${accountId} for no key update`
    return await tx`
      insert into api_key (id, account_id, name, prefix, secret_sha256, koreader_sha256,
        permissions, expires_at)
      select ${id}, ${accountId}, ${name}, ${prefix}, ${digest}, ${koreaderDigest},
        ${permissions}::text[], ${expiresAt}::timestamptz
      where (select count(*) from api_key where account_id = ${accountId}) < ${maxKeysPerAccount}
      returning id`
  })
  if (!created)
    throw new Conflict(`The limit of an account is ${maxKeysPerAccount} API keys`, {
      limit: maxKeysPerAccount,
    })
  return { ...(await findKey(sql, id)), key }
}

/** All keys of the caller, newest first. */
export const keysOf = (sql: Sql, { account }: Identity): Promise<ApiKey[]> =>
  sql<ApiKey[]>`
    select ${columns(sql)} from api_key k where k.account_id = ${account.id}
    order by k.created_at desc, k.id desc`

/** Throws Forbidden for another user's key without the permission, or if the caller may not manage that user. */
async function findManageableKey(
  sql: Queryable,
  identity: Identity,
  { id, required }: { id: string; required: Permission },
): Promise<ApiKey> {
  const key = await findKey(sql, id)
  if (key.userId === identity.account.id) return key
  if (!identity.permissions.has(required))
    throw new Forbidden(`Missing required permission: ${required}`)
  requireManageable(identity, await findRoleAndPermissions(sql, key.userId))
  return key
}

type Validity = { isActive: boolean | undefined; expiresAt: Date | null | undefined }

/** Whether a change makes an invalid key valid or extends its validity. */
function prolongs(key: ApiKey, { isActive, expiresAt }: Validity): boolean {
  if (isActive === true && !key.isActive) return true
  if (expiresAt === undefined || key.expiresAt === null) return false
  return expiresAt === null || expiresAt > new Date(key.expiresAt)
}

/** Throws Forbidden for a key with permissions that the caller lacks: a key must not restore a stronger one. */
function requireOwnPermissions({ permissions }: Identity, ofKey: readonly string[]) {
  const missing = permissionNames.find(name => ofKey.includes(name) && !permissions.has(name))
  if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
}

async function findKey(sql: Queryable, id: string): Promise<ApiKey> {
  const [key] = await sql<ApiKey[]>`select ${columns(sql)} from api_key k where k.id = ${id}`
  if (!key) throw new NotFound('API key not found')
  return key
}

function columns(sql: Queryable) {
  return sql`
    k.id, k.account_id as "userId", k.name, k.prefix as key_prefix, k.prefix as "keyPrefix",
    k.permissions, k.is_active as "isActive", k.expires_at as "expiresAt",
    k.last_used_at as "lastUsedAt", k.created_at, k.created_at as "createdAt",
    k.updated_at as "updatedAt"`
}

/** The requested permissions, or all of the caller's. Throws Forbidden for one that the caller lacks. */
function grantablePermissions({ permissions }: Identity, requested: readonly string[] | undefined) {
  if (requested === undefined) return permissionNames.filter(name => permissions.has(name))
  const parsed = parsePermissions(requested)
  const missing = parsed.find(name => !permissions.has(name))
  if (missing) throw new Forbidden(`Missing required permission: ${missing}`)
  return parsed
}

function parseExpiry(value: Date | string | null | undefined): Date | null | undefined {
  if (value === undefined || value === null) return value
  const time = new Date(value)
  if (!(time.getTime() > Date.now())) throw new Invalid('expiresAt must be in the future')
  return time
}
