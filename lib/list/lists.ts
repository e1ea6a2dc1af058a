// What the lists of a process share: the indexes of books and of series, and the gate of statements.
import { createSemaphore } from '../base/async/semaphore.ts'
import { Unavailable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { countFailedListReading } from '../store/metrics/lists.ts'
import { isPoolClosed } from '../store/postgres/connection-error.ts'
import type { Sql } from '../store/postgres/db.ts'
import { createBookIndex } from './index/books/book-index.ts'
import { createSeriesIndex } from './index/series/series-index.ts'
import { createTemporaryFiles, type Folder } from './index/temporary-file.ts'

type Options = {
  /** Memory limit of the indexes (`list.index_mb`); without it there is no limit. */
  indexMb?: number
  /** Where failures in the background are logged. */
  log?: Log
  /** Folder for temporary files; without one nothing is stored in files. */
  folder?: Folder
}

export function openLists(pool: Sql, { indexMb, log, folder }: Options) {
  const noteFailure = createFailureNotes(log ?? null)
  const environment = {
    pool,
    maxBytes: indexMb === undefined ? Number.POSITIVE_INFINITY : indexMb * 1024 ** 2,
    createFile: createTemporaryFiles(folder ?? null),
    noteFailure,
  }
  return {
    books: createBookIndex(environment),
    series: createSeriesIndex(environment),
    inTurn: createStatementGate(pool),
    noteFailure,
  }
}

/** As a service. */
export const lists = (pool: Sql) => openLists(pool, {})

const minLogIntervalMs = 60_000

/**
 * Failures while the index is loaded in the background: counted, and logged at most once a minute. After one, lists are as
 * slow as they are without an index. `what` was not loaded.
 */
export function createFailureNotes(log: Log | null) {
  let nextLog = 0
  return (what: string, error: unknown): void => {
    // The process stops.
    if (isPoolClosed(error)) return
    countFailedListReading(what)
    if (!log || performance.now() < nextLog) return
    nextLog = performance.now() + minLogIntervalMs
    log.warn({ err: error, what }, 'what lists are made from could not be read')
  }
}

/** A list that has waited for so long would take too long with its statement. */
const maxWaitMs = 10_000

/**
 * Lists that are made by a statement while there is no index: half of the connections at most, so that other requests
 * always find one. A statement ends by the time limit of its pool (`list.timeout_seconds`). Throws Unavailable if its
 * turn does not come in time.
 */
export function createStatementGate(pool: Sql) {
  const gate = createSemaphore({ slots: Math.max(1, Math.floor(pool.options.max / 2)) })
  return async <T>(read: () => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(maxWaitMs)
    let isAdmitted = false
    const admitted = () => {
      isAdmitted = true
      return read()
    }
    try {
      return await gate.run(admitted, { signal })
    } catch (error) {
      if (isAdmitted || !signal.aborted) throw error
      throw new Unavailable('Too many lists are being read from the database; try again later')
    }
  }
}
