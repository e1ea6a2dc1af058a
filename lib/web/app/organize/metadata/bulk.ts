// Bulk metadata changes of series or books: at most a hundred per request.
import { api } from '../../api/client.ts'
import type { Owner } from './fields.ts'
import type { Locks, Values } from './record.ts'

type LabelChange = 'genres.add' | 'genres.remove' | 'tags.add' | 'tags.remove'
export type BulkChange = {
  labels: Partial<Record<LabelChange, string[]>>
  values: Values
  locks: Locks
}
type Subjects = { owner: Owner; ids: readonly string[] }

const maxIds = 100

async function inChunks(ids: readonly string[], run: (ids: string[]) => Promise<unknown>) {
  for (let i = 0; i < ids.length; i += maxIds) await run(ids.slice(i, i + maxIds))
}

/** Throws ApiError. Earlier changes remain; repeating all of them is safe. */
export async function changeMany({ owner, ids }: Subjects, change: BulkChange): Promise<void> {
  const { labels, values, locks } = change
  await inChunks(ids, async ids => {
    if (Object.keys(values).length > 0) await patch(owner, ids, values)
    for (const kind of ['genres', 'tags'] as const) {
      const add = labels[`${kind}.add`] ?? []
      const remove = labels[`${kind}.remove`] ?? []
      if (add.length + remove.length > 0) await changeLabels({ owner, ids }, kind, { add, remove })
    }
    if (Object.keys(locks).length > 0) await putLocks(owner, ids, locks)
  })
}

async function patch(owner: Owner, ids: string[], values: Values) {
  if (owner === 'series')
    await api.PATCH('/api/v1/series/bulk/metadata', { body: { ...values, seriesIds: ids } })
  else await api.PATCH('/api/v1/books/bulk/metadata', { body: { ...values, bookIds: ids } })
}

async function changeLabels(
  { owner, ids }: { owner: Owner; ids: string[] },
  kind: 'genres' | 'tags',
  names: { add: string[]; remove: string[] },
) {
  if (owner === 'series') {
    const init = { body: { ...names, seriesIds: ids } }
    await (kind === 'genres'
      ? api.POST('/api/v1/series/bulk/genres', init)
      : api.POST('/api/v1/series/bulk/tags', init))
  } else {
    const init = { body: { ...names, bookIds: ids } }
    await (kind === 'genres'
      ? api.POST('/api/v1/books/bulk/genres', init)
      : api.POST('/api/v1/books/bulk/tags', init))
  }
}

async function putLocks(owner: Owner, ids: string[], locks: Locks) {
  if (owner === 'series')
    await api.PUT('/api/v1/series/bulk/metadata/locks', { body: { ...locks, seriesIds: ids } })
  else await api.PUT('/api/v1/books/bulk/metadata/locks', { body: { ...locks, bookIds: ids } })
}

/** Removes values and locks set by users. Throws ApiError. */
export async function resetMany({ owner, ids }: Subjects): Promise<void> {
  await inChunks(ids, ids =>
    owner === 'series'
      ? api.POST('/api/v1/series/bulk/metadata/reset', { body: { seriesIds: ids } })
      : api.POST('/api/v1/books/bulk/metadata/reset', { body: { bookIds: ids } }),
  )
}
