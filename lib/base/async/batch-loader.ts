// Batch loader (as in DataLoader): look-ups by id that arrive together, or while a query is running, are
// combined into one query. A page full of covers requests them all at once.

type Batch<T> = { ids: Set<string>; rows: Promise<ReadonlyMap<string, T>>; isStarted: boolean }

/**
 * `load` returns the rows of some ids; an id without a row resolves to undefined. Calls share a batch
 * only when they pass the same `scope` object: an equal one may belong to another account or be newer.
 */
export function createBatchLoader<S, K extends object, T>(
  load: (source: S, scope: K, ids: string[]) => Promise<ReadonlyMap<string, T>>,
): (source: S, scope: K, id: string) => Promise<T | undefined> {
  const latest = new WeakMap<K, Batch<T>>()

  function openBatch(source: S, scope: K): Batch<T> {
    const previous = latest.get(scope)?.rows
    const batch: Batch<T> = { ids: new Set(), rows: null as never, isStarted: false }
    batch.rows = (async () => {
      // A running query may already have read rows older than this call, so it cannot be joined.
      await (previous ? previous.catch(() => {}) : new Promise(resolve => setImmediate(resolve)))
      batch.isStarted = true
      try {
        return await load(source, scope, [...batch.ids])
      } finally {
        if (latest.get(scope) === batch) latest.delete(scope)
      }
    })()
    latest.set(scope, batch)
    return batch
  }

  return async (source, scope, id) => {
    const current = latest.get(scope)
    const batch = current && !current.isStarted ? current : openBatch(source, scope)
    batch.ids.add(id)
    return (await batch.rows).get(id)
  }
}
