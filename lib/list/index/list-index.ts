// The index of lists, a search engine in memory: documents are numbered, a predicate has postings, a sort order is the
// documents in order. A list intersects postings, which gives the total, and follows the order up to the page.
// The index is loaded in the background at the start, by the first list, and by lists that take long, and refreshed with what
// changed. Where it cannot be, lists are made by the statement until it is loaded again.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { IdPage } from '../sort.ts'
import { type Bitmap, countOf } from './bitmap.ts'
import { idAt } from './id-table.ts'
import { createIndexLoader, type IndexLoader } from './index-loader.ts'
import { type Interrupted, ordersOf, type Searcher, withSearcher } from './index-reader.ts'
import type { Environment, IndexRequest, IndexSchema, Segment } from './index-schema.ts'
import { matchingDocs } from './matching-docs.ts'
import { pageOfRuns } from './sort-order.ts'

export type ListIndex<S extends Segment, Request extends IndexRequest> = Pick<
  IndexLoader<S, Request>,
  'refresh' | 'prepare' | 'isRead' | 'isUnused' | 'idle'
> & {
  /** A page of the documents that a viewer sees; null without a valid index, or where it does not pay. */
  page(sql: Sql, viewer: Viewer, request: Request): Promise<IdPage | null>
  /** All documents of the list, in a bitmap of its own; null as above. */
  matching(sql: Sql, viewer: Viewer, request: Request): Promise<{ segment: S; docs: Bitmap } | null>
}

export type IndexOptions = {
  /** Pause between background loads, as a multiple of the time that they took. */
  pause?: number
  /** How long the index stays in memory after the last list. */
  maxUnusedMs?: number
}

/** At most 5 % of a processor, while a catalog changes all the time. */
const defaultPause = 20

export function createListIndex<S extends Segment, Request extends IndexRequest>(
  schema: IndexSchema<S, Request>,
  environment: Environment,
  { pause = defaultPause, maxUnusedMs }: IndexOptions = {},
): ListIndex<S, Request> {
  const loader = createIndexLoader(schema, environment, { pause, maxUnusedMs })
  const { refresh, prepare, isRead, isUnused, idle } = loader

  async function search<Found>(
    sql: Sql,
    viewer: Viewer,
    find: (searcher: Searcher<S, Request>) => Promise<Found | Interrupted>,
  ): Promise<Found | null> {
    const reader = await loader.use()
    if (!reader) return null
    const found = await withSearcher({ environment, sql, viewer, schema, reader }, find)
    if (found !== 'stale') return found
    loader.drop(reader)
    return null
  }

  return {
    async page(sql, viewer, request) {
      const started = performance.now()
      const page = await search(sql, viewer, searcher => pageOf(searcher, request))
      if (page && (performance.now() - started > minReadMs || loader.needsMerge()))
        refresh(viewer, request)
      return page
    },
    matching: (sql, viewer, request) =>
      search(sql, viewer, async searcher => {
        const docs = await matchingDocs(searcher, request)
        return docs && docs !== 'changed' ? { segment: searcher.segment, docs } : docs
      }),
    ...{ refresh, prepare, isRead, isUnused, idle },
  }
}

/** Null without an order in memory, or where the index does not pay. */
async function pageOf<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  request: Request,
): Promise<IdPage | Interrupted> {
  const { sql, viewer, schema, segment } = searcher
  const { fields, runs, readPage } = schema.sortOf(viewer, request, segment)
  const orders = await ordersOf(searcher, fields)
  if (orders === 'changed' || (!orders && !readPage)) return orders
  const bitmap = await matchingDocs(searcher, request)
  if (!bitmap || bitmap === 'changed') return bitmap
  const total = countOf(bitmap)
  const window = { offset: request.offset, limit: request.limit, total }
  const page =
    runs && orders
      ? pageOfRuns(runs(orders), bitmap, window)
      : await readPage?.(sql, segment, { bitmap, window })
  return page ? { total, ids: page.map(doc => idAt(segment.ids, doc)) } : null
}

type Fallback<Found> = {
  /** Without the index. */
  read(): Promise<Found>
  /** The catalog is so large that an index pays. */
  isLarge(): Promise<boolean>
  /** The first list of all: the next ones may be long. */
  isFirst: boolean
  refresh(): void
}

/** Lists that take less time need no index. */
const minReadMs = 30

/** What the index found; else what is read without it, which refreshes the index if it is the first or takes long. */
export async function orStatement<Found>(
  indexed: Found | null,
  { read, isLarge, isFirst, refresh }: Fallback<Found>,
): Promise<Found> {
  if (indexed) return indexed
  const started = performance.now()
  const found = await read()
  const isLong = performance.now() - started > minReadMs
  if ((isLong || isFirst) && (await isLarge())) refresh()
  return found
}
