// Rules of an account about sharing tags: allow shows only what carries the tag, deny hides it.

import { Invalid } from '../errors.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
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

/** The rules of an account by name of the tag. */
export function rulesOf(sql: Sql | Transaction, accountId: string): Promise<SharingRule[]> {
  return sql<SharingRule[]>`
    select r.id, t.id as "sharingTagId", t.name as "sharingTagName", r.mode as "accessMode",
      r.created_at as "createdAt"
    from account_sharing_tag r join sharing_tag t on t.id = r.tag_id
    where r.account_id = ${accountId}
    order by lower(t.name), t.id`
}

/** Says Invalid of a statement that failed for a tag that is not there. */
export function noSuchTag(error: unknown): never {
  const { constraint_name: constraint } = error as { constraint_name?: string }
  if (!constraint?.endsWith('_tag_id_fkey')) throw error
  throw new Invalid('There is no such sharing tag', { cause: error })
}
