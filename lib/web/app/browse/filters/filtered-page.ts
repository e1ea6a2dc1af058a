// Pages of series and books that match filters.
import { api, body, type Schemas } from '../../api/client.ts'
import type { Condition } from './filter-condition.ts'
import type { ListKind } from './filter-fields.ts'

export type Items = { series: Schemas['Series']; books: Schemas['Book'] }

type PageRequest = {
  page: number
  pageSize: number
  sort?: string
  condition: Condition | null
  /** Words to search for; empty for none. */
  text: string
}
type Page<T> = { data: T[]; total: number }

const paths = { series: '/api/v1/series/list', books: '/api/v1/books/list' } as const

export function filteredPage<Kind extends ListKind>(
  kind: Kind,
  { condition, text, ...query }: PageRequest,
  signal: AbortSignal,
): Promise<Page<Items[Kind]>> {
  const post = api.POST as (path: string, init: object) => Promise<{ data?: Page<Items[Kind]> }>
  const filter = { condition, ...(text && { fullTextSearch: text }) }
  return body(post(paths[kind], { params: { query }, body: filter, signal }))
}
