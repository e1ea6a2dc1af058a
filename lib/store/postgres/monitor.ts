// Database monitor of a process: watches on a dedicated connection whether the database is available. A
// database that is stopped, or unreachable without an error, does not answer: probes detect that.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../base/log.ts'
import { openDedicatedConnection, type Sql } from './db.ts'
import { describe } from './ready.ts'

export type DatabaseMonitor = {
  /** False from the loss of the database until it responds again. */
  isAvailable(): boolean
  /** Rejects unless the database responds now; the pools may be busy. */
  ping(): Promise<unknown>
  /**
   * The result of work that uses the database. Rejects with `error` if the database does not respond; then
   * `abandoned` is called, and a later result of `work` is passed to `discard`.
   */
  whileAvailable<T>(work: () => Promise<T>, options: CallOptions<T>): Promise<T>
  close(): Promise<void>
}

type CallOptions<T> = {
  error: () => Error
  abandoned?: () => void
  discard?: (result: T) => void
}

export type ProbePace = {
  /** How often calls and probes are checked. */
  tickMs?: number
  /** A call that takes longer triggers a probe. */
  slowMs?: number
  /**
   * The database counts as unresponsive if a probe takes this many ticks. Not a duration, because the event
   * loop may pause.
   */
  hungTicks?: number
}

type Call = { since: number; fail: () => void }

const retryMs = 200
const hung = { error: () => new Error('The database does not respond') }
/** Silence is noticed after about seven seconds. */
export const defaultPace = { tickMs: 500, slowMs: 1_500, hungTicks: 10 }

/** Logs one message when the database is lost and one when it is back. */
export async function openDatabaseMonitor(
  sql: Sql,
  log: Pick<Log, 'warn' | 'info'>,
  pace: ProbePace = {},
): Promise<DatabaseMonitor> {
  const { tickMs, slowMs, hungTicks } = { ...defaultPace, ...pace }
  let isAvailable = true
  let isProbing = false
  let probeTicks = 0
  let isClosed = false
  const calls = new Set<Call>()
  let connection = openDedicatedConnection(sql, () => void probe())
  const timer = setInterval(tick, tickMs).unref()

  // The first attempt replaces a connection that an administrator terminated.
  async function probe() {
    if (isProbing) return
    isProbing = true
    probeTicks = 0
    const lostAt = performance.now()
    while (!isClosed) {
      const loss = await connection.sql`select 1`.then(() => null, describe)
      if (loss === null) break
      setLost(loss)
      await sleep(retryMs, undefined, { ref: false })
    }
    isProbing = false
    if (isAvailable || isClosed) return
    isAvailable = true
    log.info({ ms: Math.round(performance.now() - lostAt) }, 'the database is available again')
  }

  function setLost(loss: { code: string; message?: string }) {
    if (isAvailable && !isClosed) log.warn(loss, 'the database is not available')
    isAvailable = false
  }

  function tick() {
    if (isProbing) {
      probeTicks += 1
      // A connection attempt has its own time limit.
      if (probeTicks >= (isAvailable ? hungTicks : 4 * hungTicks)) setHung()
      return
    }
    const [oldest] = calls
    if (oldest && performance.now() - oldest.since > slowMs) void probe()
  }

  function setHung() {
    setLost({ code: 'NO_RESPONSE' })
    for (const { fail } of calls) fail()
    probeTicks = 0
    // A connection over a lost network may never fail: the probe continues on a new one.
    const { close } = connection
    connection = openDedicatedConnection(sql, () => void probe())
    close().catch(() => {})
  }

  function whileAvailable<T>(
    work: () => Promise<T>,
    { error, abandoned, discard }: CallOptions<T>,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const call: Call = {
      since: performance.now(),
      fail() {
        calls.delete(call)
        reject(error())
        abandoned?.()
      },
    }
    calls.add(call)
    work().then(
      result => {
        if (calls.delete(call)) resolve(result)
        else discard?.(result)
      },
      thrown => {
        calls.delete(call)
        reject(thrown)
      },
    )
    return promise
  }

  async function close() {
    isClosed = true
    clearInterval(timer)
    await connection.close()
  }

  try {
    await connection.sql`select 1`
  } catch (error) {
    await close()
    throw error
  }
  const ping = () => whileAvailable(() => connection.sql`select 1`, hung)
  return { isAvailable: () => isAvailable, ping, whileAvailable, close }
}
