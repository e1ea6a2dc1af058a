// Client settings, which have no meaning to the server: global ones, and those of each user.
import type { Identity } from '../../../../accounts/identify.ts'
import { Invalid, Unauthorized } from '../../../../base/errors.ts'
import { list, maybe, record, Type, text } from '../../../../base/schema.ts'
import { route } from '../../../../http/route.ts'
import type { Sql } from '../../../../store/postgres/db.ts'
import { identifyCaller } from '../session/authenticate.ts'

const key = '^[a-z](?:[a-z0-9_-]*[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)*$'
const limits = { keyCharacters: 255, valueCharacters: 20_000, keys: 200 }

type Setting = { value: string; allowUnauthorized?: boolean | null }
const Settings = Type.Unsafe<Record<string, Setting>>({
  type: 'object',
  additionalProperties: record({ value: Type.String(), allowUnauthorized: maybe(Type.Boolean()) }),
})
const changeOf = (notes: object) =>
  Type.Unsafe<Record<string, Setting>>({
    type: 'object',
    maxProperties: limits.keys,
    propertyNames: { pattern: key, maxLength: limits.keyCharacters },
    additionalProperties: record({ value: text(limits.valueCharacters), ...notes }),
  })
const Keys = list(text(limits.keyCharacters), { maxItems: limits.keys })

const scopes = [
  {
    ...{ name: 'global', Name: 'Global', permission: 'SystemAdmin' as 'auth' | 'SystemAdmin' },
    ...{ whose: 'global client settings', notes: { allowUnauthorized: Type.Boolean() } },
    ownerOf: (_identity: Identity) => null as string | null,
  },
  {
    ...{ name: 'user', Name: 'User', permission: 'auth' as const, notes: {} },
    whose: 'client settings of the caller',
    ownerOf: ({ account }: Identity) => account.id,
  },
]

export const clientSettings = [
  route('GET /client-settings/global/list', {
    operationId: 'getGlobalSettings',
    permission: 'public',
    summary: 'Get the global client settings; without signing in, only public ones',
    responses: { 200: Settings },
    async handle({ request }, deps) {
      // Accepts only passwords that another request has verified, because guesses here would not be counted.
      const found = await identifyCaller(request, deps, { beforePassword: refuse }).catch(
        () => null,
      )
      return await listSettings(deps.sql, null, { publicOnly: found === null })
    },
  }),
  route('GET /client-settings/user/list', {
    operationId: 'getUserSettings',
    permission: 'ProgressRead',
    cost: 'record',
    summary: 'Get the client settings of the caller',
    responses: { 200: Settings },
    handle: ({ identity }, { sql }) => listSettings(sql, identity.account.id),
  }),
  ...scopes.flatMap(({ name, Name, permission, whose, notes, ownerOf }) => [
    route(`PATCH /client-settings/${name}`, {
      operationId: `save${Name}Setting`,
      permission,
      summary: `Store ${whose}`,
      body: changeOf(notes),
      responses: { 204: null },
      handle: ({ body, identity }, { sql }) => saveSettings(sql, ownerOf(identity), body),
    }),
    route(`DELETE /client-settings/${name}`, {
      operationId: `delete${Name}Settings`,
      permission,
      summary: `Delete ${whose}`,
      body: Keys,
      responses: { 204: null },
      handle: ({ body, identity }, { sql }) => deleteSettings(sql, ownerOf(identity), body),
    }),
  ]),
]

function refuse(): never {
  throw new Unauthorized('Passwords are not verified here')
}

async function listSettings(sql: Sql, accountId: string | null, { publicOnly = false } = {}) {
  const rows = await sql<{ key: string; value: string; isPublic: boolean | null }[]>`
    select key, value, is_public as "isPublic" from client_setting
    where account_id is not distinct from ${accountId}::uuid and (is_public or not ${publicOnly})
    order by key`
  return Object.fromEntries(
    rows.map(({ key, value, isPublic }) => [
      key,
      { value, ...(accountId === null ? { allowUnauthorized: isPublic } : {}) },
    ]),
  )
}

/** Throws Invalid for too many settings. */
async function saveSettings(sql: Sql, accountId: string | null, changes: Record<string, Setting>) {
  const rows = Object.entries(changes).map(([key, { value, allowUnauthorized }]) => ({
    ...{ key, value, is_public: accountId === null ? (allowUnauthorized ?? false) : false },
  }))
  await sql.begin(async tx => {
    // Locked, so that concurrent requests of an account count one after the other.
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.client_setting'), hashtext(${accountId ?? ''}))`
    await tx`
      insert into client_setting (account_id, key, value, is_public)
      select ${accountId}::uuid, key, value, is_public
      from jsonb_to_recordset(${tx.json(rows)}) as r(key text, value text, is_public boolean)
      on conflict (coalesce(account_id, '00000000-0000-0000-0000-000000000000'), key) do update
      set value = excluded.value, is_public = excluded.is_public`
    const [count] = await tx<{ total: number }[]>`
      select count(*)::integer as total from client_setting
      where account_id is not distinct from ${accountId}::uuid`
    if (count!.total > limits.keys) throw new Invalid(`The limit is ${limits.keys} client settings`)
  })
}

async function deleteSettings(sql: Sql, accountId: string | null, keys: readonly string[]) {
  await sql`
    delete from client_setting
    where account_id is not distinct from ${accountId}::uuid and key = any(${keys as string[]})`
}
