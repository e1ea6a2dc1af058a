// Sharing tag rules of an account: allow restricts it to series with the tag, deny hides them.

import { Invalid } from '../errors.ts'
import type { Queryable } from '../postgres/db.ts'
import { oneOf, record, type Static, Type, timestamp, uuid } from '../schema.ts'

export const SharingRule = record(
  {
    id: uuid(),
    sharingTagId: uuid(),
    sharingTagName: Type.String(),
    accessMode: oneOf(['allow', 'deny']),
    createdAt: timestamp(),
  },
  { component: 'SharingRule' },
)
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

/** For `catch` of a statement: throws Invalid when it failed because of an unknown tag. */
export function rethrowUnknownTag(error: unknown): never {
  const { constraint_name: constraint } = error as { constraint_name?: string }
  if (!constraint?.endsWith('_tag_id_fkey')) throw error
  throw new Invalid('Sharing tag not found', { cause: error })
}
