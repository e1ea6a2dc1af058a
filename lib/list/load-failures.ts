// Failures while the index of lists is loaded in the background: counted, and logged at most once a minute. After one,
// lists are as slow as they are without an index.
import type { Log } from '../base/log.ts'
import { countFailedListReading } from '../store/metrics/lists.ts'
import { isPoolClosed } from '../store/postgres/connection-error.ts'

const minLogIntervalMs = 60_000

/** `what` was not loaded. */
export type NoteFailure = (what: string, error: unknown) => void

export function createFailureNotes(log: Log | null): NoteFailure {
  let nextLog = 0
  return (what, error) => {
    // The process stops.
    if (isPoolClosed(error)) return
    countFailedListReading(what)
    if (!log || performance.now() < nextLog) return
    nextLog = performance.now() + minLogIntervalMs
    log.warn({ err: error, what }, 'what lists are made from could not be read')
  }
}
