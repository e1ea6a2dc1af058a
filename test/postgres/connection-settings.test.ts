// Settings of database sessions: an external server may have other defaults than the bundled one.
import { test } from 'tap'
import { connect, one } from '../../lib/postgres/db.ts'
import { createEmptyDatabase } from '../kit/db.ts'

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
