// A copy of a data directory, made while everything is stopped, as docs/operations.md describes it.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

t.test('a copy of a stopped data directory is complete', async t => {
  const folder = temporaryFolder(t)
  const original = await startPostgres({ dataDir: join(folder, 'data') })
  const sql = connect(original.url, { max: 1 })
  await sql`create table book (title text)`
  await sql`insert into book values ('Akira')`
  await sql.end()
  await original.stop()
  execFileSync('cp', ['-a', join(folder, 'data'), join(folder, 'copy')])
  const copy = await startPostgres({ dataDir: join(folder, 'copy') })
  t.teardown(() => copy.stop())
  const restored = connect(copy.url, { max: 1 })
  t.teardown(() => restored.end())
  t.same([...(await restored`select title from book`)], [{ title: 'Akira' }])
})
