// Databases on which Stackroom cannot run: found at the start, each in words a person can act on.

import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { loadConfig } from '../../../lib/store/config/config.ts'
import { openDatabase } from '../../../lib/store/postgres/db.ts'
import { createDatabase, createEmptyDatabase, type Scope } from '../../kit/db.ts'

type Line = { msg: string; [name: string]: unknown }

/** Lines of the log of a start; throws what it throws. */
async function start(url: string, seconds = 0, signal?: AbortSignal): Promise<Line[]> {
  const lines: Line[] = []
  const log = openLog({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  const flags = { 'database.url': url, 'database.wait_seconds': seconds }
  const database = await openDatabase(loadConfig({ env: {}, flags }), {
    log,
    ...(signal && { signal }),
  })
  await database.close()
  return lines
}

const changed = (url: string, change: (url: URL) => void) => {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

/** An empty database and the URL of an ordinary role that exists until the end of `t`. */
async function withRole(t: Scope) {
  const { sql, url } = await createEmptyDatabase(t)
  const database = new URL(url).pathname.slice(1)
  const role = `${database}_role`
  await sql`create role ${sql(role)} login password 'x'`
  t.teardown(async () => {
    // The database too, which is dropped later.
    await sql`reassign owned by ${sql(role)} to current_user`
    await sql`drop owned by ${sql(role)}`
    await sql`drop role ${sql(role)}`
  })
  const roleUrl = changed(url, copy => {
    copy.username = role
    copy.password = 'x'
  })
  return { sql, url, role, database, roleUrl }
}

t.test('a suitable database is opened without a warning', async t => {
  const { url } = await createDatabase(t)
  t.same(await start(url), [])
})

t.test('another encoding', async t => {
  const { sql, url, database } = await withRole(t)
  // Servers before 15 have this provider alone.
  const [isOld] = await sql`select where current_setting('server_version_num')::int < 150000`
  const provider = isOld ? '' : 'locale_provider libc'
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const name = `${database}_${encoding.toLowerCase()}`
    await sql.unsafe(
      `create database ${name} template template0 encoding '${encoding}' ${provider} locale 'C'`,
    )
    t.teardown(() => sql`drop database ${sql(name)}`)
    const message = new RegExp(`encoding ${encoding}; Stackroom requires UTF8: create it`)
    const other = changed(url, copy => {
      copy.pathname = `/${name}`
    })
    await t.rejects(start(other), { name: 'Invalid', message })
  }
})

t.test('a read-only database', async t => {
  const { sql, url, database } = await withRole(t)
  await sql`alter database ${sql(database)} set default_transaction_read_only = on`
  await t.rejects(start(url), { name: 'Invalid', message: /read-only.*set it to off/ })
})

t.test('missing rights, in the order in which they are met', async t => {
  const { sql, database, role, roleUrl } = await withRole(t)
  const refused = (message: RegExp) => t.rejects(start(roleUrl), { name: 'Invalid', message })
  await sql`alter role ${sql(role)} set search_path = nowhere`
  await refused(/search_path.*no schema that exists/)
  await sql`alter role ${sql(role)} reset search_path`
  await sql`revoke create on schema public from public`
  await refused(/may not create tables in schema "public".*grant create, usage on schema public/)
  await sql`grant create on schema public to ${sql(role)}`
  await refused(/may not create schemas and extensions.*grant create on database/)
  await sql`grant create on database ${sql(database)} to ${sql(role)}`
  t.same(await start(roleUrl), [])
  await sql`create schema extensions`
  await sql`create extension pg_trgm schema extensions`
  await refused(/pg_trgm is in schema "extensions".*set search_path/)
  await sql`alter extension pg_trgm set schema public`
  await sql`create table book (id int)`
  await refused(/table book does not belong to role.*reassign owned by/)
  await sql`alter table book owner to ${sql(role)}`
  await sql`create schema pgboss`
  await refused(/may not use the schema "pgboss"/)
  await sql`alter schema pgboss owner to ${sql(role)}`
  await sql`revoke create on database ${sql(database)} from ${sql(role)}`
  t.same(await start(roleUrl), [], 'nothing is left to create')
})

t.test('too few connections are refused, few ones logged', async t => {
  const { sql, database, role, roleUrl } = await withRole(t)
  await sql`alter database ${sql(database)} owner to ${sql(role)}`
  await sql`alter role ${sql(role)} connection limit 3`
  await t.rejects(start(roleUrl), { name: 'Invalid', message: /allows 3 connections \(.*role/ })
  await sql`alter role ${sql(role)} connection limit 12`
  t.match(await start(roleUrl), [{ allowed: 12, peak: 36, msg: /fewer connections/ }])
  await sql`alter database ${sql(database)} connection limit 4`
  await t.rejects(start(roleUrl), { message: /allows 4 connections \(.*database/ })
})

t.test('wrong names, passwords and settings are final', async t => {
  const { url, role } = await withRole(t)
  const password = changed(url, copy => {
    copy.password = 'hunter2'
  })
  await t.rejects(start(password, 60), { message: /28P01.*check the user and password/ })
  const name = changed(url, copy => {
    copy.pathname = `/${role}`
  })
  await t.rejects(start(name, 60), { message: /3D000.*create it, or check the name/ })
  const setting = changed(url, copy => copy.searchParams.set('options', '-c nothing=1'))
  await t.rejects(start(setting.replaceAll('+', '%20'), 60), { message: /42704.*options/ })
})

t.test('a server that is absent or out of connections is waited for', async t => {
  const { sql, role, roleUrl, database } = await withRole(t)
  await sql`alter database ${sql(database)} owner to ${sql(role)}`
  await sql`alter role ${sql(role)} connection limit 0`
  const lines: unknown[] = []
  const opening = start(roleUrl, 60)
  setTimeout(() => void sql`alter role ${sql(role)} connection limit -1`.then(() => {}), 500)
  lines.push(...(await opening))
  t.match(lines, [{ code: '53300', message: /too many connections/, address: String }])
  const begin = performance.now()
  await t.rejects(start('postgres://u@127.0.0.1:1/d', 1), {
    message: /ECONNREFUSED.*server is running/,
  })
  t.ok(performance.now() - begin >= 1_000)
})

t.test('an abort ends the waiting at once, also for a server that is silent', async t => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as { port: number }
  for (const address of [`127.0.0.1:${port}`, '127.0.0.1:1']) {
    const abort = new AbortController()
    const reason = new Error('enough')
    setTimeout(() => abort.abort(reason), 200)
    const begin = performance.now()
    await t.rejects(start(`postgres://u@${address}/d`, 60, abort.signal), reason)
    t.ok(performance.now() - begin < 5_000)
  }
})

/**
 * A server that responds to the start of a connection with an error, as PgBouncer 1.18 was seen to do to `jit`. Where it
 * ignores these parameters (ignore_startup_parameters), its connections reported the same process in
 * transaction mode and were refused by that; in session mode it was accepted.
 */
async function refusing(t: Scope, code: string, text: string) {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => {
      // No encryption.
      if (data.length === 8) return void socket.write('N')
      const fields = `SFATAL\0C${code}\0M${text}\0\0`
      const message = Buffer.alloc(5)
      message.write('E')
      message.writeInt32BE(4 + Buffer.byteLength(fields), 1)
      socket.end(Buffer.concat([message, Buffer.from(fields)]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `postgres://u@127.0.0.1:${(server.address() as { port: number }).port}/d`
}

t.test('a pooler that refuses parameters is named', async t => {
  const url = await refusing(t, '08P01', 'unsupported startup parameter: jit')
  await t.rejects(start(url, 60), { name: 'Invalid', message: /PgBouncer.*direct address/ })
})
