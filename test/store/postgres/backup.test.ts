// A copy of a data directory, made while everything is stopped, as docs/operations.md describes it.
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { preparedDataDirectory } from '../../kit/files/data-directory.ts'

t.test('a copy of a stopped data directory is complete', async t => {
  const dataDir = await preparedDataDirectory(t)
  const copyDir = `${dataDir} copy`
  const original = await startPostgres({ dataDir })
  const sql = connect(original.url, { max: 1 })
  await sql`create table book (title text)`
  await sql`insert into book values ('Akira')`
  await sql.end()
  await original.stop()
  execFileSync('cp', ['-a', dataDir, copyDir])
  const copy = await startPostgres({ dataDir: copyDir })
  t.teardown(() => copy.stop())
  const restored = connect(copy.url, { max: 1 })
  t.teardown(() => restored.end())
  t.same([...(await restored`select title from book`)], [{ title: 'Akira' }])
})
