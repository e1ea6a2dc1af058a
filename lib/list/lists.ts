// What the lists of a process share: the indexes of books and of series, and the gate of statements.
import type { Log } from '../base/log.ts'
import type { Sql } from '../store/postgres/db.ts'
import { createBookIndex } from './index/books/book-index.ts'
import { createSeriesIndex } from './index/series/series-index.ts'
import { createTemporaryFiles, type Folder } from './index/temporary-file.ts'
import { createFailureNotes } from './load-failures.ts'
import { createStatementGate } from './statement-gate.ts'

type Options = {
  /** Memory limit of the indexes (`list.index_mb`); without it there is no limit. */
  indexMb?: number
  /** Where failures in the background are logged. */
  log?: Log
  /** Folder for temporary files; without one nothing is stored in files. */
  folder?: Folder
}

export type Lists = ReturnType<typeof openLists>

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
export const lists = (pool: Sql): Lists => openLists(pool, {})
