// Contract of the writers of a crash test.
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Random } from '../../test/kit/random.ts'
import type { Requests, TextResponse } from './requests.ts'
import type { Followed } from './truth.ts'

export type Send = (
  path: string,
  options: Parameters<Requests['ask']>[3],
) => Promise<TextResponse & { attempts: number }>

export type WriterContext = {
  send: Send
  random: Random
  accountId: string
  library: string
  /** Books of which there is one, which are moved but never deleted; none while the first scan runs. */
  books: () => readonly Followed[]
}

export type Writer = {
  /** Writes something. */
  write: () => Promise<void>
  /** What was written, for the report. */
  count: () => number
  /** Sentences on what is not stored as the model has it. */
  compare: (sql: Sql) => Promise<string[]>
}
