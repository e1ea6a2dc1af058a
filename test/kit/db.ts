// Test databases: clones of template databases on one throw-away PostgreSQL server per checkout, or on the
// server of TEST_DATABASE_URL.
import { createHash, randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { connect, type Sql } from '../../lib/store/postgres/db.ts'
import { type Postgres, startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { migrate, migrationFolder, readMigrations } from '../../lib/store/postgres/migrate.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'

export type Database = { sql: Sql; url: string }
/** All that is needed of a test here. */
export type Scope = Pick<Test, 'teardown'>
/** The server of the tests; `leave` keeps it running. */
type TestServer = Pick<Postgres, 'url' | 'leave'>
type Server = { postgres: TestServer; admin: Sql }
type Template = { name: string; build: (database: Database) => Promise<void> }

export const projectRoot = join(import.meta.dirname, '..', '..')
const checkout = createHash('sha256')
  .update(`${projectRoot}:${userInfo().uid}`)
  .digest('hex')
  .slice(0, 8)
/** Data directory of the test server. */
export const serverDataDir = join(databaseFolder(), `stackroom-test-${checkout}`)

/** A superuser's URL of a server to use instead, for example of an older version. */
export const externalUrl = process.env.TEST_DATABASE_URL || null

const objectInUse = '55006'
// The first version with a choice of strategies; earlier ones copy files.
const strategyVersion = 150_000

/**
 * In memory where there is much: a database has 760 files, and takes 0.02 instead of 0.2 s of CPU time. The size
 * decides and not what is free: all processes must find the same.
 */
export function databaseFolder(): string {
  const memory = '/dev/shm'
  try {
    const { blocks, bsize } = statfsSync(memory)
    if (process.platform === 'linux' && blocks * bsize >= 4 * 1024 ** 3) return memory
  } catch {}
  return tmpdir()
}

/** Starts or adopts the test server. Every user keeps it running, so test runs may overlap. */
export async function startTestPostgres(): Promise<TestServer> {
  if (externalUrl) return { url: externalUrl, leave: async () => {} }
  return await startPostgres({ dataDir: serverDataDir, throwaway: true })
}

/** A migrated, empty database with its job queues until the end of `t`. */
export function createDatabase(t: Scope): Promise<Database> {
  return cloneTemplate(t, emptyCatalog())
}

/** A database without tables until the end of `t`. */
export async function createEmptyDatabase(t: Scope): Promise<Database> {
  return await openDatabase(t, await useServer(t), 'template0')
}

/** A copy of a template database until the end of `t`. The first process that needs it builds it. */
export async function cloneTemplate(t: Scope, template: Template): Promise<Database> {
  const server = await useServer(t)
  await createTemplate(server, template)
  return await openDatabase(t, server, template.name)
}

/** The template of `createDatabase`: the schema of this checkout and of its pg-boss. */
export function emptyCatalog(): Template {
  const migrations = readMigrations(migrationFolder).map(m => `${m.number} ${m.name} ${m.sha256}`)
  const version = createHash('sha256').update(migrations.join('\n')).digest('hex').slice(0, 12)
  const build = async ({ sql }: Database) => {
    await migrate(sql)
    await (await openQueue(sql, () => {})).close()
  }
  return { name: `empty_${version}`, build }
}

export async function createTemplate({ postgres, admin }: Server, { name, build }: Template) {
  const building = `${name}_building`
  await admin`select pg_advisory_lock(hashtext(${name}))`
  try {
    const [existing] = await admin`select from pg_database where datname = ${name}`
    if (existing) return
    await admin`drop database if exists ${admin(building)} with (force)`
    await admin`create database ${admin(building)} template template0`
    const url = urlOf(postgres, building)
    const sql = connect(url, { max: 4 })
    await build({ sql, url }).finally(() => sql.end({ timeout: 1 }))
    await retryWhileInUse(() => admin`alter database ${admin(building)} rename to ${admin(name)}`)
  } finally {
    await admin`select pg_advisory_unlock(hashtext(${name}))`
  }
}

async function useServer(t: Scope): Promise<Server> {
  const postgres = await startTestPostgres()
  const admin = connect(postgres.url, { max: 1, name: 'stackroom test' })
  t.teardown(async () => {
    await admin.end({ timeout: 1 })
    await postgres.leave()
  })
  return { postgres, admin }
}

async function openDatabase(t: Scope, { postgres, admin }: Server, source: string) {
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  // Half the time of the default strategy, which writes the copy to the WAL.
  const [hasStrategies] = await admin`
    select where current_setting('server_version_num')::int >= ${strategyVersion}`
  const strategy = hasStrategies ? admin`strategy file_copy` : admin``
  const copy = () => admin`create database ${admin(name)} template ${admin(source)} ${strategy}`
  await retryWhileInUse(copy)
  const url = urlOf(postgres, name)
  const sql = connect(url, { max: 10, name: 'stackroom test' })
  t.teardown(async () => {
    await sql.end({ timeout: 1 })
    await admin`drop database if exists ${admin(name)} with (force)`
  })
  return { sql, url }
}

// A connection that was closed a moment ago still counts as a user of the template.
async function retryWhileInUse(attempt: () => PromiseLike<unknown>): Promise<void> {
  for (let left = 40; ; left--) {
    try {
      await attempt()
      return
    } catch (error) {
      if (left === 0 || (error as { code?: string }).code !== objectInUse) throw error
      await sleep(50)
    }
  }
}

function urlOf(postgres: TestServer, name: string): string {
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return url.href
}

/** The only row of a result. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('expected a row')
  return row
}
