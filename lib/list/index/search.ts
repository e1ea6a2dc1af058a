// A list from the index: its documents, their number and the page in its sort order.
import type { IdPage } from '../page.ts'
import { type Bitmap, countOf } from './bitmap.ts'
import { ordersOf } from './cached-orders.ts'
import { idAt } from './id-table.ts'
import { type NoResult, type Search, withSearcher } from './index-reader.ts'
import type { IndexRequest, Segment } from './index-schema.ts'
import { matchingDocs } from './matching-docs.ts'
import { pageOfRuns } from './sort-order.ts'

/** Null without an order in memory, or where the index does not pay. */
export async function searchPage<S extends Segment, Request extends IndexRequest>(
  search: Search<S, Request>,
  request: Request,
): Promise<IdPage | NoResult> {
  const { sql, viewer, schema } = search
  return await withSearcher(search, async searcher => {
    const { segment } = searcher
    const { fields, runs, readPage } = schema.sortOf(viewer, request, segment)
    const orders = await ordersOf(searcher, fields)
    if (orders === 'changed' || (!orders && !readPage)) return orders
    const rows = await matchingDocs(searcher, request)
    if (!rows || rows === 'changed') return rows
    const total = countOf(rows)
    const window = { offset: request.offset, limit: request.limit, total }
    const page =
      runs && orders
        ? pageOfRuns(runs(orders), rows, window)
        : await readPage?.(sql, segment, { bitmap: rows, window })
    return page ? { total, ids: page.map(row => idAt(segment.ids, row)) } : null
  })
}

/** All documents of a list. */
export async function searchAll<S extends Segment, Request extends IndexRequest>(
  search: Search<S, Request>,
  request: Request,
): Promise<{ segment: S; docs: Bitmap } | NoResult> {
  return await withSearcher(search, async searcher => {
    const rows = await matchingDocs(searcher, request)
    return rows && rows !== 'changed' ? { segment: searcher.segment, docs: rows } : rows
  })
}
