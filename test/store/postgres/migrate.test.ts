// Migrations: order, concurrency, failures, refusal of foreign databases.
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { migrate } from '../../../lib/store/postgres/migrate.ts'
import { createDatabase, createEmptyDatabase } from '../../kit/db.ts'

const run = promisify(execFile)
const files = {
  '0001_library.sql': 'create table library (id int);\ncreate table series (id int);\n',
  '0002_book.sql': 'create table book (id int references library);',
}
const good = { ...files, '0002_book.sql': 'create table book (id int);' }

t.test('files are applied in order, once', async t => {
  const { sql } = await createEmptyDatabase(t)
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
  const { sql } = await createEmptyDatabase(t)
  const folder = t.testdir(good)
  const all = await Promise.all([1, 2, 3, 4].map(() => migrate(sql, folder)))
  t.equal(all.flat().length, 2)
})

t.test('a failing file is rolled back and reported with its line', async t => {
  const { sql } = await createEmptyDatabase(t)
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

t.test('a database with other checksums is refused; line endings do not matter', async t => {
  const { sql } = await createEmptyDatabase(t)
  const folder = t.testdir(good)
  await migrate(sql, folder)
  writeFileSync(join(folder, '0001_library.sql'), good['0001_library.sql'].replaceAll('\n', '\r\n'))
  t.same(await migrate(sql, folder), [])
  writeFileSync(join(folder, '0001_library.sql'), 'create table library (id bigint);')
  await t.rejects(migrate(sql, folder), Invalid)
  await t.rejects(migrate(sql, folder, { place: 'in /here' }), {
    message:
      /^The database in .here was created by an unreleased development version.*0001_library\.sql.*new data directory/,
  })
})

t.test('a database of a newer version is refused', async t => {
  const { sql } = await createEmptyDatabase(t)
  const folder = t.testdir(good)
  await migrate(sql, folder)
  rmSync(join(folder, '0002_book.sql'))
  await t.rejects(migrate(sql, folder), Invalid)
  await t.rejects(migrate(sql, folder), { message: /newer version.*0002_book\.sql/ })
})

t.test('a database whose migrations were squashed into a baseline is refused', async t => {
  const { sql, url } = await createEmptyDatabase(t)
  await migrate(sql, t.testdir(good))
  await t.rejects(migrate(sql, t.testdir({ '0001_baseline.sql': 'create table book (id int);' })), {
    name: 'Invalid',
    message: /unreleased development version/,
  })
  const stackroom = join(import.meta.dirname, '..', '..', '..', 'cmd', 'main.ts')
  const args = ['--no-warnings', stackroom, 'migrate', '--database-url', url]
  const result = await run(process.execPath, args).catch(error => error)
  t.equal(result.code, 2)
  t.match(
    result.stderr,
    /^stackroom: The database \w+ at \S+ was created by an unreleased.*\n$/,
    'no stack',
  )
})

t.test('invalid names and duplicate numbers are rejected before anything is applied', async t => {
  const { sql } = await createEmptyDatabase(t)
  const duplicate = t.testdir({ ...good, '0002_other.sql': 'select 1' })
  await t.rejects(migrate(sql, duplicate), { name: 'Invalid', message: /number 2/ })
  const named = join(t.testdir({ '1-first.sql': 'select 1' }))
  await t.rejects(migrate(sql, named), { name: 'Invalid', message: /1-first\.sql/ })
})

t.test('test databases are migrated and isolated', async t => {
  const [a, b] = await Promise.all([createDatabase(t), createDatabase(t)])
  await a.sql`create table separate (id int)`
  const [table] = await b.sql`select from pg_tables where tablename = 'separate'`
  t.equal(table, undefined)
  t.same(await migrate(a.sql), [], 'no migration is pending')
})

t.test('the command works in any directory', async t => {
  const { sql, url } = await createEmptyDatabase(t)
  const code = `
    import { migrateCommand } from ${JSON.stringify(new URL('../../../cmd/migrate.ts', import.meta.url).href)}
    await migrateCommand().parseAsync(process.argv.slice(1), { from: 'user' })`
  const args = ['--no-warnings', '--input-type=module', '-e', code, '--', '--database-url', url]
  const { stdout, stderr } = await run(process.execPath, args, { cwd: '/' })
  t.equal(stdout, '')
  t.notMatch(stderr, new URL(url).password)
  const [row] = await sql`select count(*) as count from schema_migration`
  t.type(row?.count, 'number', 'int8 is parsed as a number')
})
