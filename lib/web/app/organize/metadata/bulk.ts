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

const idsOf = (owner: Owner, ids: string[]) =>
  owner === 'series' ? { seriesIds: ids } : { bookIds: ids }

/** Throws ApiError. Earlier changes remain; repeating all of them is safe. */
export async function changeMany({ owner, ids }: Subjects, change: BulkChange): Promise<void> {
  const { labels, values, locks } = change
  const path = `/api/v1/${owner}/bulk` as const
  await inChunks(ids, async chunk => {
    const subjects = idsOf(owner, chunk)
    if (Object.keys(values).length > 0)
      await api.PATCH(`${path}/metadata`, { body: { ...values, ...subjects } })
    for (const kind of ['genres', 'tags'] as const) {
      const names = { add: labels[`${kind}.add`] ?? [], remove: labels[`${kind}.remove`] ?? [] }
      if (names.add.length + names.remove.length > 0)
        await api.POST(`${path}/${kind}`, { body: { ...names, ...subjects } })
    }
    if (Object.keys(locks).length > 0)
      await api.PUT(`${path}/metadata/locks`, { body: { ...locks, ...subjects } })
  })
}

/** Removes values and locks set by users. Throws ApiError. */
export async function resetMany({ owner, ids }: Subjects): Promise<void> {
  const path = `/api/v1/${owner}/bulk/metadata/reset` as const
  await inChunks(ids, chunk => api.POST(path, { body: idsOf(owner, chunk) }))
}
