// Follows the links of paged lists as a client does, and hides series from accounts.

import { newId } from '../../lib/id.ts'
import type { Sql } from '../../lib/postgres/db.ts'
import type { Client } from './server.ts'

/** All items of a paged list, page by page along `links.next`; throws where pages contradict each other. */
export async function allPages<T = any>(
  client: Pick<Client, 'ask'>,
  path: string,
  { method = 'GET', body }: { method?: string; body?: unknown } = {},
): Promise<T[]> {
  const items: T[] = []
  let next: string | null = path
  let first: { total: number; last: string } | null = null
  while (next !== null) {
    const answer: any = await client.ask(method, next, { body })
    if (answer.status !== 200)
      throw new Error(`${next}: ${answer.status} ${JSON.stringify(answer.body)}`)
    const { data, total, links, page, pageSize, totalPages } = answer.body
    first ??= { total, last: links.last }
    const isLast = page === totalPages || total === 0
    if (total !== first.total || links.last !== first.last) throw new Error(`${next}: other totals`)
    if (!isLast && data.length !== pageSize) throw new Error(`${next}: ${data.length} items`)
    if (isLast !== (links.next === null)) throw new Error(`${next}: links.next is ${links.next}`)
    items.push(...data)
    next = links.next === null ? null : links.next.replace('/api/v1', '')
  }
  if (items.length !== first!.total) throw new Error(`${items.length} of ${first!.total} items`)
  return items
}

/** From now on these series are hidden from this account. */
export async function hide(sql: Sql, accountId: string, seriesIds: string[]): Promise<void> {
  const tag = newId()
  await sql`insert into sharing_tag (id, name) values (${tag}, ${`hidden ${tag}`})`
  await sql`
    insert into series_sharing_tag (series_id, tag_id)
    select id, ${tag} from unnest(${seriesIds}::uuid[]) as id`
  await sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${accountId}, ${tag}, 'deny')`
}
