// A data directory of PostgreSQL 17 under a version of Stackroom with 18: upgraded at the start, with nothing lost. The
// programs of PostgreSQL 17 come from the npm registry, as they do for a user.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadBackup } from '../../lib/backup/load.ts'
import { upgradeDatabase } from '../../lib/backup/upgrade.ts'
import { openBackup } from '../../lib/backup/verify.ts'
import { writeBackup } from '../../lib/backup/write.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { connect, openDatabase, type Sql } from '../../lib/store/postgres/db.ts'
import type { Programs } from '../../lib/store/postgres/embedded/binaries.ts'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { previousPrograms } from '../../lib/store/postgres/embedded/previous-programs.ts'
import { secretsIn } from '../../lib/store/secret/secrets.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { createFixture } from '../kit/fixture.ts'
import { leaveOutWithout } from '../kit/shared.ts'

const checks = 14
const folder = temporaryFolder(t)
const original = join(folder, 'original')
mkdirSync(original)
const programs = await previousPrograms('17', { dataDir: original }).catch(error => {
  if (/could not be fetched/.test(error.message)) return null
  throw error
})
if (programs === null) leaveOutWithout('the npm registry', checks)
const before = programs === null ? {} : await createOld(programs)
const skip = programs === null

const configOf = (data: string) => loadConfig({ env: {}, flags: { data_dir: data } })

/** A copy of the data directory of PostgreSQL 17. */
function copyOfOld(t: { name: string }): string {
  const copy = join(folder, t.name.slice(0, 8).replaceAll(' ', '-'))
  execFileSync('cp', ['-a', original, copy])
  return copy
}

t.test(
  'all rows are there, sessions and keys too, and the old directory remains',
  { skip },
  async t => {
    const data = copyOfOld(t)
    t.equal(await upgradeDatabase(configOf(data), {}), true)
    t.match(readFileSync(join(data, 'postgres', 'PG_VERSION'), 'utf8'), /^18/)
    t.match(readFileSync(join(data, 'postgres-17', 'PG_VERSION'), 'utf8'), /^17/)
    t.same(
      readdirSync(data).filter(name => /upgrade|programs/.test(name)),
      [],
    )
    t.same(await rowsIn(data), before)
    t.equal(await upgradeDatabase(configOf(data), {}), false, 'once')
  },
)

t.test('an upgrade killed between its last steps is completed', { skip }, async t => {
  const data = copyOfOld(t)
  const whole = copyOfOld({ name: 'whole' })
  await upgradeDatabase(configOf(whole), {})
  mkdirSync(join(data, 'upgrade', 'new'), { recursive: true })
  renameSync(join(whole, 'postgres'), join(data, 'upgrade', 'new', 'postgres'))
  writeFileSync(join(data, 'upgrade', 'complete'), '17\n')
  renameSync(join(data, 'postgres'), join(data, 'postgres-17'))
  t.equal(await upgradeDatabase(configOf(data), {}), true)
  t.same(await rowsIn(data), before)
})

t.test('killed before, it begins again', { skip }, async t => {
  const data = copyOfOld(t)
  mkdirSync(join(data, 'upgrade', 'new', 'postgres'), { recursive: true })
  writeFileSync(join(data, 'upgrade', 'database.backup.partial'), 'PK')
  const stop = AbortSignal.abort(new Error('stopped'))
  await t.rejects(upgradeDatabase(configOf(data), { signal: stop }))
  t.match(readFileSync(join(data, 'postgres', 'PG_VERSION'), 'utf8'), /^17/)
  t.equal(await upgradeDatabase(configOf(data), {}), true)
  t.same(await rowsIn(data), before)
})

t.test('without a network it stops with the command that helps', { skip }, async t => {
  const data = copyOfOld(t)
  renameSync(join(data, 'postgres-programs-17'), join(folder, 'away'))
  const { PATH } = process.env
  process.env.PATH = '/nonexistent'
  t.teardown(() => {
    process.env.PATH = PATH
  })
  await t.rejects(upgradeDatabase(configOf(data), {}), {
    message: /created by PostgreSQL 17 .* could not be fetched; run: npm install --prefix .*@17\./,
  })
  t.ok(existsSync(join(data, 'postgres', 'PG_VERSION')))
})

t.test('a version that cannot be upgraded is refused with advice', async t => {
  const data = join(folder, 'ancient')
  mkdirSync(join(data, 'postgres'), { recursive: true })
  writeFileSync(join(data, 'postgres', 'PG_VERSION'), '12\n')
  await t.rejects(
    upgradeDatabase(configOf(data), {}),
    /PostgreSQL 12, which this version of Stackroom cannot/,
  )
})

async function createOld(programs: Programs) {
  const fixture = await createFixture(t)
  await fixture.admin.post('/auth/login', { username: 'nobody', password: 'wrong' })
  const file = join(folder, 'fixture.backup')
  const secrets = secretsIn(join(folder, 'keys'))
  await writeBackup({ sql: fixture.sql, file, dataDir: folder, secrets, scope: 'all' })
  const server = await startPostgres({ dataDir: original, programs })
  const sql = connect(server.url, { max: 1 })
  const backup = await openBackup(file)
  await loadBackup(sql, { backup, place: 'fixture' })
  await backup[Symbol.asyncDispose]()
  const rows = await allRows(sql)
  await sql.end()
  await server.stop()
  return rows
}

async function rowsIn(data: string) {
  const { sql, close } = await openDatabase(configOf(data))
  try {
    return await allRows(sql)
  } finally {
    await close()
  }
}

/** Rows of all tables but those that belong to a running server. */
async function allRows(sql: Sql): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename !~ 'list_change$|^event_server$|^schema_migration$'
    order by 1`
  const rows: Record<string, string[]> = {}
  for (const { name } of tables)
    rows[name] = (await sql`select x::text as row from ${sql(name)} x order by 1`).map(x => x.row)
  return rows
}
