// Responses with lists of series and books, a page or the whole list in batches, and their cost.

import { createHash } from 'node:crypto'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { isUuid } from '../../../../base/id.ts'
import type { Static, TSchema } from '../../../../base/schema.ts'
import type { AdmittedCost } from '../../../../http/route.ts'
import { predicatesOf } from '../../../../list/condition.ts'
import type { IdPage } from '../../../../list/sort.ts'
import type { Part } from '../../search/condition-tree.ts'
import type { SortProperty } from '../../search/sort.ts'
import type { Reader } from '../../values.ts'
import { batchSize, type PageRequest, springPage, wholePage } from '../http/paging.ts'

/** Ids read at once for a whole list: a few megabytes. */
const idWindow = 20_000

type Found = (window: { offset: number; limit: number }) => Promise<IdPage>

type ListRequest<T extends TSchema> = {
  request: PageRequest
  sort: readonly SortProperty[]
  item: T
  find: Found
  load: (ids: readonly string[]) => Promise<Static<T>[]>
}

/** The requested page of a list; a whole list is sent while it is read. */
export async function listResponse<T extends TSchema>({
  request,
  sort,
  item,
  find,
  load,
}: ListRequest<T>) {
  const isSorted = sort.length > 0
  if (!request.isUnpaged) {
    const { ids, total } = await find({ offset: request.offset, limit: request.size })
    return springPage({ request, isSorted, content: await load(ids), total })
  }
  async function* batches() {
    for (let offset = 0; ; offset += idWindow) {
      const { ids } = await find({ offset, limit: idWindow })
      for (let start = 0; start < ids.length; start += batchSize)
        yield await load(ids.slice(start, start + batchSize))
      if (ids.length < idWindow) return
    }
  }
  return await wholePage({ request, isSorted, item, batches: batches() })
}

// As for native lists: up to this page size or number of condition parts, a list has normal cost.
const maxCheapItems = 100
const maxCheapParts = 10

/** `isShort`: whole lists are limited to one series or list. */
export function costOfList(
  request: PageRequest,
  readCondition: () => { condition: Part },
  { isShort = false } = {},
): AdmittedCost {
  if (request.isUnpaged ? !isShort : request.size > maxCheapItems) return 'expensive'
  try {
    const { condition } = readCondition()
    const parts = condition === null ? 0 : predicatesOf(condition).length
    return parts > maxCheapParts ? 'expensive' : 'list'
  } catch {
    // The handler reports the same error.
    return 'list'
  }
}

/** Seed of random orders: the same for all pages and processes, changed every hour. */
export function hourlySeed({ viewer }: Reader): number {
  const hour = Math.floor(Date.now() / 3_600_000)
  return createHash('sha256').update(`${viewer.accountId} ${hour}`).digest().readUInt32LE(0)
}

/** The viewer of an account that sees only these of its libraries. */
export function withinLibraries(viewer: Viewer, requested: readonly string[] | undefined): Viewer {
  if (requested === undefined) return viewer
  const ids = requested.map(id => id.toLowerCase()).filter(isUuid)
  const libraries = ids.filter(id => viewer.libraries?.includes(id) ?? true)
  return { ...viewer, libraries, hasAllLibraries: false }
}
