// Settings of database sessions: neither the defaults of an external server nor the environment change them.
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { commandLine } from '../../kit/command.ts'
import { createEmptyDatabase, one } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

test('statements are not compiled where the database has that on', async t => {
  const { sql, url } = await createEmptyDatabase(t)
  const { name } = one(await sql<{ name: string }[]>`select current_database() as name`)
  await sql`alter database ${sql(name)} set jit = on`
  const later = connect(url, { max: 1 })
  t.teardown(() => later.end())
  const row = one(
    await later`select current_setting('jit') as jit, d.setconfig
    from pg_db_role_setting d where d.setdatabase = (select oid from pg_database where datname = ${name})`,
  )
  t.strictSame({ ...row }, { jit: 'off', setconfig: ['jit=on'] })
})

// Variables of libpq, of PostgreSQL's programs, and of the driver.
const variables = Object.fromEntries(
  [
    ...['PGHOST', 'PGHOSTADDR', 'PGPORT', 'PGUSER', 'PGUSERNAME', 'PGPASSWORD', 'PGDATABASE'],
    ...['PGAPPNAME', 'PGTARGETSESSIONATTRS', 'PGSSL', 'PGSSLMODE', 'PGSSLROOTCERT', 'PGOPTIONS'],
    ...['PGSSLNEGOTIATION', 'PGCONNECT_TIMEOUT', 'PGSERVICE', 'PGPASSFILE', 'PGDATA', 'PGTZ'],
    ...['PGDATESTYLE', 'PGCLIENTENCODING', 'PGIDLE_TIMEOUT', 'PGMAX_LIFETIME', 'PGMAX_PIPELINE'],
    ...['PGKEEP_ALIVE', 'PGRESPONSE_TIMEOUT', 'PGPREPARE', 'PGDEBUG', 'PGFETCH_TYPES'],
    ...['PGPUBLICATIONS', 'PGBACKOFF', 'PGMAX'],
  ].map(name => [name, 'nonsense']),
)

test('variables of libpq and of the driver change no connection', async t => {
  const { env } = process
  process.env = { ...env, ...variables }
  const pool = connect('postgres:///', { max: 1 })
  process.env = env
  const usual = connect('postgres:///', { max: 1 })
  t.same(JSON.stringify(pool.options), JSON.stringify(usual.options))
  const user = userInfo().username
  t.match(pool.options, { user, database: user, pass: '', host: ['localhost'], port: [5432] })
})

test('commands run with nonsense in these variables, also on the bundled server', async t => {
  const { stackroom } = await commandLine(t, variables)
  t.match(await stackroom(['doctor']), { code: 0 })
  const data = join(temporaryFolder(t), 'data')
  t.match(await stackroom.plain(['doctor', '--data', data]), { code: 0 })
})
