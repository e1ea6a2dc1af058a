// Sharing tag rules of an account: allow restricts the account to series with the tag, deny hides them.

import { Invalid, NotFound } from '../base/errors.ts'
import { component, oneOf, type Static, Type, timestamp, uuid } from '../base/schema.ts'
import type { Queryable } from '../store/postgres/db.ts'

export const accessModes = ['allow', 'deny'] as const
export type AccessMode = (typeof accessModes)[number]

export const SharingRule = component('SharingRule', {
  id: uuid(),
  sharingTagId: uuid(),
  sharingTagName: Type.String(),
  accessMode: oneOf(accessModes),
  createdAt: timestamp(),
})
export type SharingRule = Static<typeof SharingRule>

/** The rules of an account, sorted by tag name. */
export function listSharingRules(sql: Queryable, accountId: string): Promise<SharingRule[]> {
  return sql<SharingRule[]>`
    select r.id, t.id as "sharingTagId", t.name as "sharingTagName", r.mode as "accessMode",
      r.created_at as "createdAt"
    from account_sharing_tag r join sharing_tag t on t.id = r.tag_id
    where r.account_id = ${accountId}
    order by lower(t.name), t.id`
}

/** The rules of several accounts, by account. */
export async function sharingRulesByAccount(
  sql: Queryable,
  accountIds: readonly string[],
): Promise<Map<string, { sharingTagName: string; accessMode: string }[]>> {
  const rows = await sql<{ accountId: string; sharingTagName: string; accessMode: string }[]>`
    select r.account_id as "accountId", t.name as "sharingTagName", r.mode as "accessMode"
    from account_sharing_tag r join sharing_tag t on t.id = r.tag_id
    where r.account_id = any(${accountIds as string[]}::uuid[])
    order by lower(t.name), t.id`
  return Map.groupBy(rows, row => row.accountId)
}

/**
 * Replaces the rules of one mode with rules for tags given by name; unknown tags are created. Changes to an
 * account are serialized. Throws NotFound.
 */
export async function replaceSharingRules(
  tx: Queryable,
  accountId: string,
  { mode, names }: { mode: AccessMode; names: readonly string[] },
): Promise<void> {
  // Sorted, because concurrent changes may create the same tags.
  const tags = [...new Map(names.map(name => [name.toLowerCase(), name])).values()].sort()
  const [account] = await tx`select from account where id = ${accountId} for no key update`
  if (!account) throw new NotFound('User not found')
  await tx`
    insert into sharing_tag (id, name)
    select gen_random_uuid(), name from unnest(${tags}::text[]) as name
    on conflict do nothing`
  await tx`
    delete from account_sharing_tag r using sharing_tag t
    where r.account_id = ${accountId} and r.mode = ${mode} and t.id = r.tag_id
      and lower(t.name) <> all (select lower(name) from unnest(${tags}::text[]) as name)`
  await tx`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    select gen_random_uuid(), ${accountId}, t.id, ${mode}
    from sharing_tag t
    where lower(t.name) in (select lower(name) from unnest(${tags}::text[]) as name)
    on conflict (account_id, tag_id) do update set mode = excluded.mode`
}

/** For `catch` of a statement: throws Invalid when it failed because of an unknown tag. */
export function rethrowUnknownTag(error: unknown): never {
  const { constraint_name: constraint } = error as { constraint_name?: string }
  if (!constraint?.endsWith('_tag_id_fkey')) throw error
  throw new Invalid('Sharing tag not found', { cause: error })
}
