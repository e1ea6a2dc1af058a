// All that a scraper is told: what this process counted, and what the database says of the whole.
import type { Sql } from 'postgres'
import { catalogueFamilies } from './catalogue.ts'
import { databaseFamilies } from './database.ts'
import { pageFamilies } from './page.ts'
import { buildFamily, diskFamilies, measureProcess } from './process.ts'
import { queueFamilies } from './queue.ts'
import { type Form, render } from './registry.ts'
import './book.ts'
import './http.ts'
import './streams.ts'
import './task.ts'

/** Answers also when the database does not, with `stackroom_database_up 0`. */
export async function scrape({ sql, dataDir }: { sql: Sql; dataDir: string }, form: Form) {
  measureProcess()
  const [database, catalogue, queue, disk] = await Promise.all([
    databaseFamilies(sql),
    catalogueFamilies(sql),
    queueFamilies(sql),
    diskFamilies(dataDir),
  ])
  const families = [buildFamily(database.server), ...database.families]
  return await render([...families, ...catalogue, ...queue, ...disk, ...pageFamilies()], form)
}
