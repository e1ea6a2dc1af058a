import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { migrate } from '../../lib/postgres/migrate.ts'
import { database, emptyDatabase } from '../kit/db.ts'

const run = promisify(execFile)
const files = {
  '0001_library.sql': 'create table library (id int);\ncreate table series (id int);\n',
  '0002_book.sql': 'create table book (id int references library);',
}
const good = { ...files, '0002_book.sql': 'create table book (id int);' }

t.test('files are applied in order, once', async t => {
  const { sql } = await emptyDatabase(t)
  const folder = t.testdir({ ...good, 'schema.sql': 'a dump', 'README.md': '' })
  t.match(await migrate(sql, folder), [
    { number: 1, name: 'library' },
    { number: 2, name: 'book' },
  ])
  t.same(await migrate(sql, folder), [])
  writeFileSync(join(folder, '0003_user.sql'), 'create table reader (id int)')
  t.match(await migrate(sql, folder), [{ number: 3, name: 'user' }])
  const rows = await sql`select number, name, applied_at from schema_migration order by number`
  t.match(
    [...rows],
    [{ number: 1, name: 'library', applied_at: Date }, { number: 2 }, { number: 3 }],
  )
})

t.test('servers that start at the same time apply each file once', async t => {
  const { sql } = await emptyDatabase(t)
  const folder = t.testdir(good)
  const all = await Promise.all([1, 2, 3, 4].map(() => migrate(sql, folder)))
  t.equal(all.flat().length, 2)
})

t.test('a file that fails leaves nothing of itself and tells its line', async t => {
  const { sql } = await emptyDatabase(t)
  const folder = t.testdir({
    ...good,
    '0002_book.sql': 'create table book (id int);\ncreate index on book (nothing);\n',
  })
  await t.rejects(migrate(sql, folder), { message: /0002_book\.sql.*"nothing"/ })
  const tables = await sql`
    select tablename from pg_tables
    where schemaname = 'public'
    order by tablename`
  t.same([...tables.map(row => row.tablename)], ['library', 'schema_migration', 'series'])
  writeFileSync(join(folder, '0002_book.sql'), 'create table book (id int);\n\nselct 1;\n')
  await t.rejects(migrate(sql, folder), { message: /0002_book\.sql:3: syntax error/ })
})

t.test('an applied file may not change, but its line ends may', async t => {
  const { sql } = await emptyDatabase(t)
  const folder = t.testdir(good)
  await migrate(sql, folder)
  writeFileSync(join(folder, '0001_library.sql'), good['0001_library.sql'].replaceAll('\n', '\r\n'))
  t.same(await migrate(sql, folder), [])
  writeFileSync(join(folder, '0001_library.sql'), 'create table library (id bigint);')
  await t.rejects(migrate(sql, folder), Invalid)
  await t.rejects(migrate(sql, folder), { message: /0001_library\.sql was changed/ })
})

t.test('a database that is newer than the code is refused', async t => {
  const { sql } = await emptyDatabase(t)
  const folder = t.testdir(good)
  await migrate(sql, folder)
  rmSync(join(folder, '0002_book.sql'))
  await t.rejects(migrate(sql, folder), Invalid)
  await t.rejects(migrate(sql, folder), { message: /newer.*0002_book\.sql/ })
})

t.test('names and numbers must be right before anything is applied', async t => {
  const { sql } = await emptyDatabase(t)
  const twice = t.testdir({ ...good, '0002_other.sql': 'select 1' })
  await t.rejects(migrate(sql, twice), { name: 'Invalid', message: /number 2/ })
  const named = join(t.testdir({ '1-first.sql': 'select 1' }))
  await t.rejects(migrate(sql, named), { name: 'Invalid', message: /1-first\.sql/ })
})

t.test('a test database has what sql/ says, and each is alone', async t => {
  const [a, b] = await Promise.all([database(t), database(t)])
  await a.sql`create table mine (id int)`
  const [found] = await b.sql`select from pg_tables where tablename = 'mine'`
  t.equal(found, undefined)
  t.same(await migrate(a.sql), [], 'nothing is left to apply')
})

t.test('the command migrates from any directory', async t => {
  const { sql, url } = await emptyDatabase(t)
  const code = `
    import { migrateCommand } from ${JSON.stringify(new URL('../../cmd/migrate.ts', import.meta.url).href)}
    await migrateCommand().parseAsync(process.argv.slice(1), { from: 'user' })`
  const args = ['--no-warnings', '--input-type=module', '-e', code, '--', '--database-url', url]
  const { stdout, stderr } = await run(process.execPath, args, { cwd: '/' })
  t.equal(stdout, '')
  t.notMatch(stderr, new URL(url).password)
  const [row] = await sql`select count(*) as count from schema_migration`
  t.type(row?.count, 'number', 'int8 arrives as a number')
})
