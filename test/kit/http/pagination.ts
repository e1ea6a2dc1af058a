// Client of paged lists: follows `links.next`.
import type { Client } from './client.ts'

/** All items of a paged list. Throws if the pages contradict each other. */
export async function allPages<T = any>(
  client: Pick<Client, 'request'>,
  path: string,
  { method = 'GET', body }: { method?: string; body?: unknown } = {},
): Promise<T[]> {
  const items: T[] = []
  let next: string | null = path
  let first: { total: number; last: string } | null = null
  while (next !== null) {
    const response: any = await client.request(method, next, { body })
    if (response.status !== 200)
      throw new Error(`${next}: ${response.status} ${JSON.stringify(response.body)}`)
    const { data, total, links, page, pageSize, totalPages } = response.body
    first ??= { total, last: links.last }
    const isLast = page === totalPages || total === 0
    if (total !== first.total || links.last !== first.last)
      throw new Error(`${next}: totals changed`)
    if (!isLast && data.length !== pageSize) throw new Error(`${next}: ${data.length} items`)
    if (isLast !== (links.next === null)) throw new Error(`${next}: links.next is ${links.next}`)
    items.push(...data)
    next = links.next === null ? null : links.next.replace('/api/v1', '')
  }
  if (items.length !== first!.total) throw new Error(`${items.length} of ${first!.total} items`)
  return items
}
