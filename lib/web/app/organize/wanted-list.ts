// Entries of the want-to-read list with their series and books.
import { api, body, type Schemas } from '../api/client.ts'

export type WantedEntry = Schemas['WantToReadItem']

export const wantedSorts = ['newest', 'oldest', 'custom'] as const
export type WantedSort = (typeof wantedSorts)[number]

type Page = { page: number; pageSize: number }

export function createWantedLoader(sort: WantedSort) {
  return async (
    page: Page,
    signal: AbortSignal,
  ): Promise<{ data: WantedEntry[]; total: number }> => {
    const query = { ...page, sort, includeItems: true }
    return await body(api.GET('/api/v1/want-to-read', { params: { query }, signal }))
  }
}

async function listEntries(query: Page & { sort: WantedSort }, signal?: AbortSignal) {
  const init = { params: { query }, ...(signal && { signal }) }
  return await body(api.GET('/api/v1/want-to-read', init))
}

/** Moves an entry in the custom order. Throws ApiError. */
export async function orderWanted(from: number, to: number): Promise<void> {
  const last = Math.max(from, to)
  const pageSize = 500
  const ids: string[] = []
  for (let page = 1; ids.length <= last; page++) {
    const { data, totalPages } = await listEntries({ page, pageSize, sort: 'custom' })
    ids.push(...data.map(({ id }) => id))
    if (page >= totalPages) break
  }
  ids.length = Math.min(ids.length, last + 1)
  const [moved] = ids.splice(from, 1)
  ids.splice(to, 0, moved!)
  await api.PUT('/api/v1/want-to-read/order', { body: { entryIds: ids } })
}
