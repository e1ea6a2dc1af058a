// What an index works with beside the requests that it serves.
import type { Sql } from 'postgres'
import type { TemporaryFile } from './temporary-file.ts'

export type Environment = {
  /** For what serves several requests: its statements are not cancelled with one of them. */
  pool: Sql
  /** Limit for the indexes of books and series together; a catalog that needs more has none. */
  maxBytes: number
  /** Null without a folder that has space. Throws errno errors. */
  createFile(): Promise<TemporaryFile | null>
  /** `what` could not be loaded; lists are made without it. */
  noteFailure(what: string, error: unknown): void
}
