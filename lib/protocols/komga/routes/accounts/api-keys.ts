// The caller's API keys, and when accounts last signed in, for the Komga-compatible API.
import type { Identity } from '../../../../accounts/identify.ts'
import { requireManageable } from '../../../../accounts/manageable.ts'
import { type ApiKey, createKey, keysOf } from '../../../../accounts/routes/api-keys.ts'
import { listSignIns, type SignIn } from '../../../../accounts/sign-in-history.ts'
import { findRoleAndPermissions, findUser } from '../../../../accounts/user-record.ts'
import { Forbidden, NotFound } from '../../../../base/errors.ts'
import {
  component,
  list,
  maybe,
  name,
  nullable,
  record,
  type Static,
  Type,
  uuid,
} from '../../../../base/schema.ts'
import { UserId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import type { Queryable } from '../../../../store/postgres/db.ts'
import { texts, time, times, utcSeconds } from '../../values.ts'
import { pageOf, pageQuery, pageRequest, sortKeys, sortQuery, springPage } from '../http/paging.ts'

const ApiKeyDto = component('ApiKeyDto', {
  ...texts('id', 'userId', 'key', 'comment'),
  ...times('createdDate', 'lastModifiedDate'),
})
const optional = () => nullable(Type.String())
const AuthenticationActivityDto = component('AuthenticationActivityDto', {
  ...{ userId: optional(), email: optional(), apiKeyId: optional(), apiKeyComment: optional() },
  ...{ ip: optional(), userAgent: optional() },
  success: Type.Boolean(),
  error: optional(),
  dateTime: time(),
  source: optional(),
})
type Activity = Static<typeof AuthenticationActivityDto>
const KeyId = record({ keyId: uuid({ description: 'API key id.' }) })

export const apiKeys = [
  route('GET /api/v2/users/me/api-keys', {
    operationId: 'getApiKeysForCurrentUser',
    atRoot: true,
    permission: 'ApiKeysRead',
    summary: 'List own API keys',
    responses: { 200: list(ApiKeyDto) },
    handle: async ({ identity }, { sql }) =>
      (await keysOf(sql, identity)).map(key => keyDto(key, `${key.keyPrefix}${'*'.repeat(6)}`)),
  }),
  route('POST /api/v2/users/me/api-keys', {
    operationId: 'createApiKeyForCurrentUser',
    atRoot: true,
    permission: 'ApiKeysWrite',
    summary: 'Create an API key with the permissions of the caller',
    body: record({ comment: name(200) }),
    responses: { 200: ApiKeyDto },
    async handle({ identity, body, reply }, { sql }) {
      const { key, ...created } = await createKey(sql, identity, { name: body.comment })
      reply.header('cache-control', 'no-store')
      return keyDto(created, key)
    },
  }),
  route('DELETE /api/v2/users/me/api-keys/{keyId}', {
    operationId: 'deleteApiKeyByKeyId',
    atRoot: true,
    permission: 'ApiKeysDelete',
    summary: 'Revoke an API key',
    params: KeyId,
    responses: { 204: null },
    async handle({ identity, params }, { sql, identities }) {
      const { id } = identity.account
      const [deleted] = await sql`
        delete from api_key where id = ${params.keyId} and account_id = ${id} returning id`
      if (!deleted) throw new NotFound('API key not found')
      identities.invalidate(id)
    },
  }),
  activityRoute('getAuthenticationActivityForCurrentUser', '/api/v2/users/me', 'auth'),
  activityRoute('getAuthenticationActivity', '/api/v2/users', 'SystemAdmin'),
  route('GET /api/v2/users/{id}/authentication-activity/latest', {
    operationId: 'getLatestAuthenticationActivityByUserId',
    atRoot: true,
    permission: 'auth',
    summary: 'Get when a user or an API key was last used',
    params: UserId,
    query: record({ apikey_id: maybe(uuid()) }),
    responses: { 200: AuthenticationActivityDto },
    async handle({ params: { id }, query, identity }, { sql }) {
      await requireReadable(sql, identity, id)
      const user = await findUser(sql, id)
      const key = query.apikey_id === undefined ? null : await keyUse(sql, id, query.apikey_id)
      const usedAt = query.apikey_id === undefined ? user.lastLoginAt : key?.usedAt
      if (!usedAt) throw new NotFound('No activity is recorded')
      return {
        ...unknown,
        ...{ userId: id, email: user.email, success: true },
        dateTime: utcSeconds(new Date(usedAt)),
        ...(key
          ? { source: 'ApiKey', apiKeyId: query.apikey_id!, apiKeyComment: key.comment }
          : { source: 'Password' }),
      } satisfies Activity
    },
  }),
]

const unknown = {
  ...{ apiKeyId: null, apiKeyComment: null },
  ...{ ip: null, userAgent: null, error: null },
}

/** For the caller or, for administrators, everyone. */
function activityRoute(operationId: string, path: string, permission: 'auth' | 'SystemAdmin') {
  return route(`GET ${path}/authentication-activity`, {
    operationId,
    atRoot: true,
    permission,
    cost: 'record',
    summary: 'List sign-ins with stored sessions, most recent first',
    description:
      'Excludes rejected sign-ins. An API key signs in when an app starts a session with it.',
    query: record({ ...pageQuery, ...sortQuery }),
    responses: { 200: pageOf(AuthenticationActivityDto) },
    async handle({ query, identity }, { sql }) {
      const request = pageRequest(query)
      const { offset, size: limit, isUnpaged } = request
      const sort = sortKeys(query.sort).find(({ property }) => property === 'dateTime')
      const { signIns, total } = await listSignIns(sql, {
        accountId: permission === 'auth' ? identity.account.id : null,
        isDescending: sort?.isDescending ?? true,
        ...(isUnpaged ? { offset: 0, limit: maxSignIns } : { offset, limit }),
      })
      return springPage({ request, isSorted: true, content: signIns.map(activityOf), total })
    },
  })
}

const maxSignIns = 10_000

const activityOf = ({ accountId, login, address, at, key }: SignIn): Activity => ({
  ...unknown,
  ...{ userId: accountId, email: login, ip: address, success: true, dateTime: utcSeconds(at) },
  ...(key
    ? { source: 'ApiKey', apiKeyId: key.id, apiKeyComment: key.name }
    : { source: 'Password' }),
})

const keyDto = (
  { id, userId, name: comment, createdAt, updatedAt }: Omit<ApiKey, 'key'>,
  key: string,
) => ({
  ...{ id, userId, key, comment },
  createdDate: utcSeconds(new Date(createdAt)),
  lastModifiedDate: utcSeconds(new Date(updatedAt)),
})

/** Throws Forbidden, NotFound. */
async function requireReadable(sql: Queryable, identity: Identity, id: string): Promise<void> {
  if (id === identity.account.id) return
  if (!identity.permissions.has('UsersRead'))
    throw new Forbidden('Missing required permission: UsersRead')
  requireManageable(identity, await findRoleAndPermissions(sql, id))
}

async function keyUse(sql: Queryable, accountId: string, id: string) {
  const [row] = await sql<{ usedAt: Date | null; comment: string }[]>`
    select last_used_at as "usedAt", name as comment from api_key
    where id = ${id} and account_id = ${accountId}`
  return row ?? null
}
