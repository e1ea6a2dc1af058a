// Preparation of the lists of a large catalog at the start of a server: what they are made from is read ahead of the
// first one, which would take up to a second otherwise.
import type { WithServices } from '../store/services.ts'
import { prepareBookLists } from './list-books.ts'
import { prepareSeriesLists } from './list-series.ts'
import { lists } from './lists.ts'

/** Resolves when all is stored in temporary files, or used by lists already. Never rejects. */
export async function prepareLists(db: WithServices): Promise<void> {
  try {
    await prepareSeriesLists(db)
    await prepareBookLists(db)
  } catch (error) {
    db.services(lists).noteFailure('lists', error)
  }
}
