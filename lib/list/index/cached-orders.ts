// The sort orders of a list from what is in memory, with the rows that changed since they were read.
import { type CachedOrder, type Context, isOf, ownVersion } from './index-state.ts'
import type { KnownOrders, OrderSource, RowRequest, RowTable } from './row-kind.ts'
import type { RowOrder } from './row-order.ts'

/** Null without a long order. */
export async function ordersOf<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  sources: OrderSource<Table>[],
): Promise<RowOrder[] | 'changed' | null> {
  const { sql, table, versions, state } = context
  const found: RowOrder[] = []
  for (const source of sources) {
    const { name, version } = source
    const own = ownVersion(versions, version)
    const known = await knownOrder(context, name)
    if (known === 'changed') return 'changed'
    if (known?.version === own) {
      found.push(known)
      continue
    }
    if (source.isLong) return null
    const of = await source.read(sql, table, knownOrders(context))
    if (!of) return null
    if (!isOf(of.versions, versions, version)) return 'changed'
    const { versions: _, ...order } = of
    if (version !== null)
      state.orders.set(name, { ...order, rowCount: table.rowCount, version: own, source })
    found.push(order)
  }
  return found
}

export const knownOrders =
  <Table extends RowTable, Request extends RowRequest>(
    context: Context<Table, Request>,
  ): KnownOrders =>
  async name => {
    const known = await knownOrder(context, name)
    return known === 'changed' ? undefined : known
  }

/** With all rows of the table. */
async function knownOrder<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  name: string,
): Promise<CachedOrder<Table> | 'changed' | undefined> {
  const { sql, table, state } = context
  const known = state.orders.get(name)
  if (!known || known.rowCount >= table.rowCount) return known
  const { source, version } = known
  const more = await source.extend?.(sql, table, known, knownOrders(context))
  if (!more) return undefined
  const { versions, ...order } = more
  if (versions.rows !== table.version) return 'changed'
  const extended = { ...order, rowCount: table.rowCount, version, source }
  state.orders.set(name, extended)
  return extended
}
