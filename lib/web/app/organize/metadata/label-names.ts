// Names of genres and tags for suggestions.
import { api, body } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'

export type LabelKind = 'genres' | 'tags'

const pageSize = 500
/** Names beyond this many pages are not suggested. */
const maxPages = 4

async function loadNames(kind: LabelKind, signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; page <= maxPages; page++) {
    const init = { params: { query: { page, pageSize } }, signal }
    const { data, totalPages } = await body(
      kind === 'genres' ? api.GET('/api/v1/genres', init) : api.GET('/api/v1/tags', init),
    )
    names.push(...data.map(({ name }) => name))
    if (page >= totalPages) break
  }
  return names
}

/** Empty until loaded. */
export function useLabelNames(kind: LabelKind | null): readonly string[] {
  const key = kind === null ? null : `/${kind}?names`
  return useResource(key, signal => loadNames(kind!, signal)).data ?? []
}
