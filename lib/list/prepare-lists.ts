// Preparation of the lists of a large catalogue at the start of a server: what they are made from is read ahead of the
// first one, which would take up to a second otherwise.
import type { Sql } from 'postgres'
import { poolOf } from '../store/postgres/cancellable.ts'
import { noteFailedReading } from './background-failures.ts'
import { prepareBookLists } from './list-books.ts'
import { prepareSeriesLists } from './list-series.ts'

/** Resolves when all is stored in temporary files, or used by lists already. Never rejects. */
export async function prepareLists(sql: Sql): Promise<void> {
  try {
    await prepareSeriesLists(sql)
    await prepareBookLists(sql)
  } catch (error) {
    noteFailedReading(poolOf(sql), 'lists', error)
  }
}
