// Failures of what lists read in the background (indexes): counted, and logged at most once a minute. After
// one lists are as slow as they are without an index.
import type { Sql } from 'postgres'
import type { Log } from '../base/log.ts'
import { countFailedListReading } from '../store/metrics/lists.ts'
import { poolOf } from '../store/postgres/cancellable.ts'
import { isPoolClosed } from '../store/postgres/connection-error.ts'

const minLogIntervalMs = 60_000

type Reporter = { log: Log; nextLog: number }
const reporters = new WeakMap<Sql, Reporter>()

/** Logs failures that concern a pool from now on. */
export function logFailedReadings(sql: Sql, log: Log) {
  reporters.set(poolOf(sql), { log, nextLog: 0 })
}

/** `what` was not read. That a process stops meanwhile is no failure. */
export function noteFailedReading(pool: Sql, what: string, error: unknown) {
  if (isPoolClosed(error)) return
  countFailedListReading(what)
  const reporter = reporters.get(pool)
  if (!reporter || performance.now() < reporter.nextLog) return
  reporter.nextLog = performance.now() + minLogIntervalMs
  reporter.log.warn({ err: error, what }, 'what lists are made from could not be read')
}
