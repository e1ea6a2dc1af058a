// Admission of list requests: how many of an account run at the same time, fewer if they are expensive.
// Expensive lists have database connections of their own, so that they leave those of all others free.
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

export type ListGate = {
  /**
   * Runs `work` when it is the turn of the account. Its statements are cancelled when `signal` aborts.
   * Throws RateLimited when too many requests of the account wait, Unavailable when it aborts before.
   */
  run<T>(admission: Admission, work: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Statements that a request may send at once. */
const statements = 2
const message = 'Too many lists are requested at the same time'
/** Expensive lists of all accounts that run at the same time in this process. */
const maxExpensive = 3

/** `sql` is for normal lists, and for everything else. */
export function openListGate(sql: Sql): ListGate {
  const expensiveSql = connectionsLike(sql, {
    max: statements * maxExpensive,
    // Workers of a parallel query would take the cores of other requests; compiling costs more than it saves.
    connection: { max_parallel_workers_per_gather: 0, jit: 'off' },
  })
  // Not of the pool: there a cancellation would wait behind the statements that it cancels.
  const control = connectionsLike(sql, { max: 1, connection: {} })
  const expensive = createSemaphore({ slots: maxExpensive })
  const gates = {
    // An account that reads feed after feed leaves half of the connections to the others.
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
    run({ accountId, isExpensive, signal }, work) {
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

/** The handler of a route. Unless it reads only a record, it runs in the gate, with the `sql` of the gate. */
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
 * The result of `work`, as soon as there is one. A stream in it reads with the `sql` of the gate, so that its
 * turn ends with the stream.
 */
async function runUntilSent(
  lists: ListGate,
  admission: Admission,
  work: (sql: Sql) => unknown,
): Promise<unknown> {
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
