// A filtered list from bitmaps in memory: of the predicates of its condition and of what the viewer sees.
import type { IdPage } from '../page.ts'
import { type Bitmap, countOf } from './bitmap.ts'
import { idAt } from './id-table.ts'
import { type Index, type Unlisted, untilUnchanged } from './index-state.ts'
import { ordersOf } from './known-orders.ts'
import { matchingRows } from './matching-rows.ts'
import type { RowRequest, RowTable } from './row-kind.ts'
import { pageOfRuns } from './row-order.ts'

/** Null without an order in memory, or where the index does not pay. */
export async function readPage<Table extends RowTable, Request extends RowRequest>(
  index: Index<Table, Request>,
  request: Request,
): Promise<IdPage | Unlisted> {
  const { sql, viewer, kind } = index
  return await untilUnchanged(index, async context => {
    const { table } = context
    const { sources, runs, read } = kind.orderOf(viewer, request, table)
    const orders = await ordersOf(context, sources)
    if (orders === 'changed' || (!orders && !read)) return orders
    const rows = await matchingRows(context, request)
    if (!rows || rows === 'changed') return rows
    const total = countOf(rows)
    const window = { offset: request.offset, limit: request.limit, total }
    const page =
      runs && orders
        ? pageOfRuns(runs(orders), rows, window)
        : await read?.(sql, table, { bitmap: rows, window })
    return page ? { total, ids: page.map(row => idAt(table.rows, row)) } : null
  })
}

/** All rows of a list. */
export async function readRows<Table extends RowTable, Request extends RowRequest>(
  index: Index<Table, Request>,
  request: Request,
): Promise<{ table: Table; rows: Bitmap } | Unlisted> {
  return await untilUnchanged(index, async context => {
    const rows = await matchingRows(context, request)
    return rows && rows !== 'changed' ? { table: context.table, rows } : rows
  })
}
