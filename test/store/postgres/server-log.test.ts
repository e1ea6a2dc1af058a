// The log of the bundled PostgreSQL: values of rows, parameters and statements never reach it.
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect } from '../../../lib/store/postgres/db.ts'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { preparedDataDirectory } from '../../kit/files/data-directory.ts'

t.test('no error leaves a value in the log', async t => {
  const dataDir = await preparedDataDirectory(t)
  const server = await startPostgres({ dataDir })
  const sql = connect(server.url, { max: 2 })
  const secrets: string[] = []
  const secret = () => {
    const word = `s${randomBytes(8).toString('hex')}`
    secrets.push(word)
    return word
  }
  const known = secret()
  await sql`
    create table account (
      id integer generated always as identity primary key, name text unique, hash text not null,
      age integer check (age > 0), parent integer references account, size numeric(4, 1),
      code varchar(3), key uuid, settings jsonb, at timestamptz, constraint short check (length(name) < 99))`
  await sql`insert into account (name, hash, age) values (${known}, ${secret()}, 1)`
  const long = () => secret().repeat(9)
  const text = (...parts: string[]) => sql.unsafe(parts.join(''))
  const failures: [string, () => Promise<unknown>][] = [
    ['unique', () => sql`insert into account (name, hash) values (${known}, ${secret()})`],
    [
      'check',
      () => sql`insert into account (name, hash, age) values (${secret()}, ${secret()}, -1)`,
    ],
    ['table check', () => sql`insert into account (name, hash) values (${long()}, ${secret()})`],
    ['null', () => sql`insert into account (name) values (${secret()})`],
    [
      'reference',
      () => sql`insert into account (name, hash, parent) values (${secret()}, 'x', 99)`,
    ],
    ['update', () => sql`update account set age = 0, hash = ${secret()} where name = ${known}`],
    ['numeric', () => sql`insert into account (hash, size) values (${secret()}, 123456)`],
    ['length', () => text(`insert into account (hash, code) values ('x', '${secret()}')`)],
    ['uuid', () => text(`select '${secret()}'::uuid`)],
    ['cast', () => sql`select ${secret()}::text::integer`],
    ['date', () => text(`select '${secret()}'::timestamptz`)],
    ['json', () => text(`select '{"token": ${secret()}}'::jsonb`)],
    ['syntax', () => text(`selec ${secret()} from account`)],
    ['column', () => text(`select ${secret()} from account`)],
    ['table', () => text(`select * from ${secret()}`)],
    ['regular expression', () => text(`select 'a' ~ '(${secret()}'`)],
    ['index', () => text(`create unique index on account ((1), (length(name) * 0))`)],
    [
      'raise',
      () => text(`do $$ begin raise exception '${secret()}' using detail = '${secret()}'; end $$`),
    ],
    ['context', () => text(`do $$ begin perform '${secret()}'::integer; end $$`)],
    ['timeout', () => text(`set statement_timeout = 50; select pg_sleep(9), '${secret()}'`)],
    ['warning', () => text(`do $$ begin raise warning '${secret()}'; end $$; select 1/0`)],
  ]
  await sql`insert into account (name, hash) values (${secret()}, 'x')`
  for (const [name, fail] of failures) await t.rejects(fail(), name)
  const killed = connect(server.url, { max: 1 })
  const [backend] = await killed<{ pid: number }[]>`select pg_backend_pid() as pid`
  const running = t.rejects(killed.unsafe(`select pg_sleep(60), '${secret()}'`))
  await sleep(50)
  // The log names the statement that a dead process ran.
  process.kill(backend!.pid, 'SIGKILL')
  await running
  await Promise.all([killed.end({ timeout: 1 }), sql.end({ timeout: 1 })])
  await server.stop()
  const path = join(dataDir, 'postgres.log')
  const log = readFileSync(path, 'utf8')
  t.match(log, /ready to accept connections/, 'the log is written')
  t.match(log, /was terminated by signal 9/)
  t.same(
    secrets.filter(word => log.includes(word)),
    [],
  )
  t.notMatch(log, /insert into|Failing row|Key \(|STATEMENT|DETAIL/)
  t.equal(statSync(path).mode & 0o077, 0)
})
