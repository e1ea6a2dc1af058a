// A migrated database of its own for a test file, cloned on one throw-away server per checkout.
import { createHash, randomBytes } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { connect, type Sql } from '../../lib/postgres/db.ts'
import { type Postgres, startPostgres } from '../../lib/postgres/embedded/embedded.ts'
import { migrate, migrationFolder, readMigrations } from '../../lib/postgres/migrate.ts'

const root = join(import.meta.dirname, '..', '..')
const hash = createHash('sha256').update(`${root}:${userInfo().uid}`).digest('hex').slice(0, 8)
/** Data directory of the test server. */
export const serverHome = join(tmpdir(), `stackroom-test-${hash}`)

const templateLock = 0x57ac_7e57
const isInUse = '55006'

/** Starts or adopts the test server; whoever uses it keeps it alive, so runs may overlap. */
export function startServer(): Promise<Postgres> {
  return startPostgres({ dataDir: serverHome, throwaway: true })
}

/** A migrated, empty database until the end of `t`. `url` is for a command under test. */
export function database(t: Test): Promise<{ sql: Sql; url: string }> {
  return open(t, makeTemplate)
}

/** A database without any migration until the end of `t`. */
export function emptyDatabase(t: Test): Promise<{ sql: Sql; url: string }> {
  return open(t, async () => 'template0')
}

/** The name of the template for the migrations as they are now, made if it is missing. */
export async function makeTemplate(admin: Sql, server: Postgres): Promise<string> {
  const migrations = readMigrations(migrationFolder).map(m => `${m.number} ${m.name} ${m.sha256}`)
  const version = createHash('sha256').update(migrations.join('\n')).digest('hex').slice(0, 12)
  const name = `migrated_${version}`
  const building = `${name}_building`
  await admin`select pg_advisory_lock(${templateLock})`
  try {
    const [made] = await admin`select from pg_database where datname = ${name}`
    if (made) return name
    await admin`drop database if exists ${admin(building)} with (force)`
    await admin`create database ${admin(building)} template template0`
    const sql = connect(urlOf(server, building), { max: 1 })
    await migrate(sql).finally(() => sql.end({ timeout: 1 }))
    await rename(admin, building, name)
    return name
  } finally {
    await admin`select pg_advisory_unlock(${templateLock})`
  }
}

async function open(
  t: Test,
  template: (admin: Sql, server: Postgres) => Promise<string>,
): Promise<{ sql: Sql; url: string }> {
  const server = await startServer()
  const admin = connect(server.url, { max: 1, name: 'stackroom test' })
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  const source = await template(admin, server)
  await patiently(() => admin`create database ${admin(name)} template ${admin(source)}`)
  const url = urlOf(server, name)
  const sql = connect(url, { max: 10 })
  t.teardown(async () => {
    await sql.end({ timeout: 1 })
    await admin`drop database if exists ${admin(name)} with (force)`
    await admin.end({ timeout: 1 })
    await server.leave()
  })
  return { sql, url }
}

function rename(admin: Sql, from: string, to: string): Promise<unknown> {
  return patiently(() => admin`alter database ${admin(from)} rename to ${admin(to)}`)
}

// A connection that was closed a moment ago still counts as a user of the template.
async function patiently(attempt: () => PromiseLike<unknown>): Promise<void> {
  for (let left = 40; ; left--) {
    try {
      await attempt()
      return
    } catch (error) {
      if (left === 0 || (error as { code?: string }).code !== isInUse) throw error
      await sleep(50)
    }
  }
}

function urlOf(server: Postgres, name: string): string {
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}
