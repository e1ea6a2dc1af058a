// Admission of list requests: limits how many of an account run at the same time, and expensive ones more.
// Expensive lists have their own database connections and leave all others free.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Viewer } from '../../accounts/viewer.ts'
import { createAccountGates } from '../../base/async/account-gates.ts'
import { createSemaphore } from '../../base/async/semaphore.ts'
import { cancellable } from '../../store/postgres/cancellable.ts'
import { connectionsLike, type Sql } from '../../store/postgres/db.ts'
import type { Deps } from '../deps.ts'
import { type AdmittedCost, costOf, type Route, RouteResponse } from '../route.ts'

type Admission = { accountId: string; isExpensive: boolean; signal: AbortSignal }

export type ListGate = ReturnType<typeof openListGate>

/** Statements that one request may run concurrently. */
const statements = 2
const message = 'Too many lists are requested at the same time'
/** Expensive lists of all accounts that run at the same time in this process. */
const maxExpensive = 3

/** `sql` is for normal lists and for everything else. */
export function openListGate(sql: Sql) {
  const expensiveSql = connectionsLike(sql, {
    max: statements * maxExpensive,
    // Workers of a parallel query would take cores from other requests; JIT compilation costs more than it
    // saves.
    connection: { max_parallel_workers_per_gather: 0, jit: 'off' },
  })
  // Outside the pool, where a cancellation would wait behind the statements that it cancels.
  const control = connectionsLike(sql, { max: 1, connection: {} })
  const expensive = createSemaphore({ slots: maxExpensive })
  const gates = {
    // Leaves half of the connections to others when an account reads feed after feed.
    normal: createAccountGates({
      running: Math.max(1, Math.floor(sql.options.max / 2 / statements)),
      waiting: 200,
      message,
    }),
    expensive: createAccountGates({ running: 1, waiting: 10, message }),
  }

  async function runCancellable<T>(
    pool: Sql,
    signal: AbortSignal,
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const view = cancellable(pool, { signal, control })
    try {
      return await work(view.sql)
    } finally {
      await view.finished()
    }
  }

  return {
    /**
     * Runs `work` when the account may run another request. Its statements are canceled when `signal` aborts.
     * Throws RateLimited when too many requests of the account are waiting, Unavailable when `signal` aborts
     * first.
     */
    run<T>(
      { accountId, isExpensive, signal }: Admission,
      work: (sql: Sql) => Promise<T>,
    ): Promise<T> {
      if (!isExpensive)
        return gates.normal(accountId, signal, () => runCancellable(sql, signal, work))
      return gates.expensive(accountId, signal, () =>
        expensive.run(() => runCancellable(expensiveSql, signal, work), { signal }),
      )
    },
    async close() {
      await Promise.all([expensiveSql.end({ timeout: 5 }), control.end({ timeout: 5 })])
    },
  }
}

type RouteInput = { viewer: Viewer | undefined; signal: AbortSignal }

/** The handler of a route. Unless it reads only one record, it runs in the gate, with the gate's `sql`. */
export function admitted(
  route: Route,
  deps: Deps,
  lists: ListGate,
): (input: RouteInput) => unknown {
  const cost = costOf(route) as 'record' | 'list' | ((input: RouteInput) => AdmittedCost)
  const handle = route.handle as (input: RouteInput, deps: Deps) => unknown
  if (cost === 'record') return input => handle(input, deps)
  return input => {
    const { signal, viewer } = input
    const isExpensive = typeof cost === 'function' && cost(input) === 'expensive'
    const admission = { accountId: viewer!.accountId, isExpensive, signal }
    return runUntilSent(lists, admission, sql => handle(input, { ...deps, sql }))
  }
}

/**
 * The result of `work`, as soon as there is one. A stream in it reads with the gate's `sql`, so its slot is
 * released when the stream ends.
 */
async function runUntilSent(lists: ListGate, admission: Admission, work: (sql: Sql) => unknown) {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const running = lists.run(admission, async sql => {
    const result = await work(sql)
    resolve(result)
    const body = result instanceof RouteResponse ? result.body : result
    if (body instanceof Readable) await finished(body, { writable: false }).catch(() => {})
  })
  running.catch(reject)
  return await promise
}
