// Statements of one request, canceled in the database when its client disconnects.
import { Unavailable } from '../../base/errors.ts'
import type { Queryable, Sql, Transaction } from './db.ts'

/** What postgres.js knows about a query; fragments are never active. */
type RunningQuery = { executed?: boolean; active?: boolean; state?: { pid: number } | null }

const recheckMs = 50

/**
 * A view of the pool for one request, including its transactions. After `signal` aborts it starts no
 * statements, and running ones fail with error 57014. `control` runs the cancellation on a separate
 * connection. Call `finished` before the connections are used for another request: a late cancellation
 * would hit its statement.
 */
export function cancellable(
  sql: Sql,
  { signal, control }: { signal: AbortSignal; control: Sql },
): { sql: Sql; finished(): Promise<void> } {
  const queries: RunningQuery[] = []
  let canceling: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const cancelRunning = async () => {
    const pids = queries.flatMap(({ active, state }) => (active && state ? [state.pid] : []))
    if (pids.length > 0)
      await control`select pg_cancel_backend(pid) from unnest(${pids}::integer[]) as p(pid)`
        // The statement then ends by its timeout.
        .catch(() => {})
    // Other statements may still be waiting for a connection.
    if (!isFinished) timer = setTimeout(cancelAll, recheckMs)
  }
  const cancelAll = () => {
    canceling = cancelRunning()
  }
  let isFinished = false
  signal.addEventListener('abort', cancelAll, { once: true })
  const tracked = <T extends Queryable>(target: T, get: ProxyHandler<T> = {}): T =>
    new Proxy(target, {
      ...get,
      apply(query, self, args) {
        if (signal.aborted) throw new Unavailable('Request was canceled')
        const result = Reflect.apply(query as never, self, args)
        if (result instanceof Promise) queries.push(result as RunningQuery)
        return result
      },
    })
  const begin = (work: (tx: Transaction) => unknown) => sql.begin(tx => work(tracked(tx)))
  const view = tracked(sql, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  })
  return {
    sql: view,
    async finished() {
      // When one of several statements sent together fails, others may still be waiting for a connection.
      if (signal.aborted) await Promise.allSettled(queries.filter(({ executed }) => executed))
      isFinished = true
      clearTimeout(timer)
      signal.removeEventListener('abort', cancelAll)
      await canceling
    },
  }
}
