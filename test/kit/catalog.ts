// A database, a data directory and a running pipeline for a test, with the doctor as a postcondition.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { ThreadPool } from '../../lib/base/async/thread-pool.ts'
import { openLog } from '../../lib/base/log.ts'
import type { Sources } from '../../lib/sources/open.ts'
import { type Config, loadConfig } from '../../lib/store/config/config.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { checkCatalog } from '../../pipeline/doctor/doctor.ts'
import { dedupe } from '../../pipeline/finalize/dedupe.ts'
import { openThreads, type Pipeline, startPipeline } from '../../pipeline/pipeline.ts'
import { createDatabase, type Database, type Scope } from './db.ts'
import { temporaryFolder } from './files/folders.ts'

export type Catalog = Database & {
  sources?: Sources
  /** Absolute path of the data directory. */
  data: string
  config: Config
  pipeline: Pipeline
  /** Groups duplicates now; replaces the jobs for this that earlier scans have queued. */
  dedupe: () => Promise<void>
}

type Settings = Record<string, unknown>
/** What tests replace. */
type Services = { sources?: Sources }

// Shared by all tests of the process: a thread takes longer to start than most tests run.
let sharedThreads: ThreadPool | null = null

type Files = Database & { data: string }

/** An empty catalog with a running pipeline of one thread until the end of `t`. */
export async function openCatalog(
  t: Scope,
  settings: Settings = {},
  services: Services = {},
): Promise<Catalog> {
  const database = await createDatabase(t)
  const files = { ...database, data: join(temporaryFolder(t), 'data') }
  return await startCatalog(t, files, settings, services)
}

/** Starts a pipeline on a database and a data directory until the end of `t`. */
export async function startCatalog(
  t: Scope,
  { sql, url, data }: Files,
  settings: Settings,
  services: Services = {},
): Promise<Catalog> {
  const flags = { data_dir: data, 'pipeline.threads': 1, ...settings }
  const config = loadConfig({ env: {}, flags })
  const log = openLog({ level: 'error' })
  const hasOwnThreads = Object.keys(settings).some(name => name.startsWith('pipeline.'))
  const threads = hasOwnThreads ? {} : { threads: (sharedThreads ??= openThreads(config, log)) }
  const pipeline = await startPipeline({ sql, config, log, ...threads, ...services })
  t.teardown(() => pipeline.close())
  const files = { data: config.data_dir, config }
  return { sql, url, ...files, ...services, pipeline, dedupe: () => dedupeNow(sql) }
}

async function dedupeNow(sql: Sql) {
  await sql`delete from pgboss.job where name = 'dedupe' and state in ('created', 'retry')`
  const isRunning = () => sql`select 1 from pgboss.job where name = 'dedupe' and state = 'active'`
  while ((await isRunning()).length > 0) await sleep(20)
  await dedupe(sql)
}

/** Findings of the doctor as text; empty if the catalog is consistent. */
export async function doctorFindings({
  sql,
  data,
}: Pick<Catalog, 'sql' | 'data'>): Promise<string[]> {
  const { findings } = await checkCatalog({
    sql,
    queue: null,
    thumbnails: join(data, 'thumbnails'),
  })
  return findings
    .filter(finding => finding.count > 0)
    .map(({ name, count, samples }) => `${name}: ${count} (${samples.join(', ')})`)
}

/** Returns a function that runs subtests of `t` and checks after each that the doctor finds nothing. */
export function testWithDoctor(t: Test, catalog: Catalog) {
  return (name: string, run: (t: Test) => Promise<unknown>) =>
    t.test(name, async t => {
      await run(t)
      t.same(await doctorFindings(catalog), [], 'the doctor finds nothing')
    })
}
