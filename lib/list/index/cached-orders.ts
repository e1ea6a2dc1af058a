// The sort orders of a list from the cache, refreshed with the documents that changed since they were loaded.
import { dependencyVersion, type OrderEntry, reflects, type Searcher } from './index-reader.ts'
import type { CachedOrders, IndexRequest, Segment, SortField } from './index-schema.ts'
import type { SortOrder } from './sort-order.ts'

/** Null without a long order. */
export async function ordersOf<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  fields: SortField<S>[],
): Promise<SortOrder[] | 'changed' | null> {
  const { sql, segment, versions, reader } = searcher
  const found: SortOrder[] = []
  for (const field of fields) {
    const { name, version } = field
    const own = dependencyVersion(versions, version)
    const known = await cachedOrder(searcher, name)
    if (known === 'changed') return 'changed'
    if (known?.version === own) {
      found.push(known)
      continue
    }
    if (field.isLong) return null
    const of = await field.load(sql, segment, cachedOrders(searcher))
    if (!of) return null
    if (!reflects(of.versions, versions, version)) return 'changed'
    const { versions: _, ...order } = of
    if (version !== null)
      reader.orders.set(name, { ...order, maxDoc: segment.maxDoc, version: own, field })
    found.push(order)
  }
  return found
}

export const cachedOrders =
  <S extends Segment, Request extends IndexRequest>(searcher: Searcher<S, Request>): CachedOrders =>
  async name => {
    const known = await cachedOrder(searcher, name)
    return known === 'changed' ? undefined : known
  }

/** With all documents of the segment. */
async function cachedOrder<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  name: string,
): Promise<OrderEntry<S> | 'changed' | undefined> {
  const { sql, segment, reader } = searcher
  const known = reader.orders.get(name)
  if (!known || known.maxDoc >= segment.maxDoc) return known
  const { field, version } = known
  const more = await field.refresh?.(sql, segment, known, cachedOrders(searcher))
  if (!more) return undefined
  const { versions, ...order } = more
  if (versions.rows !== segment.version) return 'changed'
  const extended = { ...order, maxDoc: segment.maxDoc, version, field }
  reader.orders.set(name, extended)
  return extended
}
