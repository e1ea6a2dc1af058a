// Database URLs in libpq's form: supported parameters, and unsupported ones, which are refused by name.
import t from 'tap'
import { parseDatabaseUrl } from '../../../lib/store/postgres/url.ts'
import { createRandom } from '../../kit/random.ts'

const options = (rest: string) =>
  parseDatabaseUrl(`postgres://${rest}`).options as unknown as Record<string, unknown>

t.test('user, password, hosts, ports and database', async t => {
  t.match(options('ana:p%40ss%2F@db.example.org:6543/my%20books'), {
    host: ['db.example.org'],
    port: [6543],
    user: 'ana',
    password: 'p@ss/',
    database: 'my books',
  })
  t.match(options('u@[::1]/d'), { host: ['::1'], port: [5432] })
  t.match(options('u:a+b@/d'), { host: ['localhost'], password: 'a+b' })
  t.match(options('a:1,b,c:3/d'), { host: ['a', 'b', 'c'], port: [1, 5432, 3] })
  t.match(options('/d?host=a,b&port=7&user=u&password=x'), {
    host: ['a', 'b'],
    port: [7, 7],
    user: 'u',
    password: 'x',
  })
  t.match(options('u@/d?host=/run/postgresql'), { host: '/run/postgresql', port: 5432 })
  t.match(options('u@%2Frun%2Fpostgresql:5433/d'), { host: '/run/postgresql', port: 5433 })
})

t.test('parameters of the connection', async t => {
  const query = 'connect_timeout=3&application_name=books&options=-c%20work_mem%3D64MB'
  t.match(options(`h/d?${query}`), {
    connect_timeout: 3,
    connection: { application_name: 'books', options: '-c work_mem=64MB' },
  })
  t.equal(options('h/d').target_session_attrs, undefined)
  t.equal(options('h,i/d').target_session_attrs, 'read-write', 'Stackroom writes')
  t.equal(options('h,i/d?target_session_attrs=any').target_session_attrs, undefined)
  t.equal(options('h/d?target_session_attrs=primary').target_session_attrs, 'primary')
  options('h/d?channel_binding=prefer&gssencmode=disable&client_encoding=utf8')
})

t.test('encryption as sslmode states it, not on a socket', async t => {
  const encryptions = (query: string) => parseDatabaseUrl(`postgres://h/d?${query}`).encryptions
  const unverified = { rejectUnauthorized: false }
  t.same(encryptions(''), ['prefer', false])
  t.same(encryptions('sslmode=disable'), [false])
  t.same(encryptions('sslmode=allow'), [false, unverified])
  t.match(encryptions('sslmode=require'), [unverified])
  t.match(encryptions('ssl=true'), [unverified])
  t.match(encryptions('sslrootcert=system'), [{ ca: Array, rejectUnauthorized: true }])
  t.same(encryptions('host=/tmp&sslmode=require'), [false])
})

t.test('what is not understood is refused by its name, without the password', async t => {
  const refused: [string, RegExp][] = [
    ['u:hunter2/x@h/d', /percent-encoded \(@ as %40, \/ as %2F/],
    ['u:hunter2%@h/d', /password.*percent-encoding/],
    ['u:12?hunter2&x@h/d', /percent-encoded/],
    ['u:p@hunter2/x@h/d', /percent-encoded/],
    ['u:p@hunter2?x@h/d', /percent-encoded/],
    ['/d?password=12&hunter2', /unknown parameter.*%26/],
    ['/d?password=12&hunter2=%', /percent-encoding/],
    ['u:hunter2:x/d', /invalid host or port/],
    ['u:hunter2@h:99999/d', /port that is not an integer/],
    ['u:hunter2@h/d?port=a', /port that is not an integer/],
    ['a,b/d?port=1,2,3', /2 hosts and 3 ports/],
    ['/d?host=/a,b', /socket directory/],
    ['h/d?search_path=x', /search_path is not supported.*options=/],
    ['h/d?search_path=%zz', /the query has an invalid percent-encoding/],
    ['h/d?ssl=require', /ssl is not supported; use sslmode/],
    ['h/d?sslaccept=strict', /sslaccept is not supported; use sslmode/],
    ['h/d?schema=books', /schema is not supported; use options=-c%20search_path%3DNAME$/],
    ['h/d?pgbouncer=true', /pgbouncer is not supported; remove it$/],
    ['h/d?pool_timeout=5', /pool_timeout is not supported; remove it$/],
    ['h/d?connection_limit=5', /connection_limit is not supported.*database\.max_connections/],
    ['h/d?loginTimeout=5', /loginTimeout is not supported; use connect_timeout$/],
    ['h/d?keepalives=1', /keepalives is not supported; remove it$/],
    ['h/d?service=books', /service is not supported; remove it$/],
    ['h/d?channel_binding=require', /channel_binding=require/],
    ['h/d?target_session_attrs=standby', /standby.*read-only/],
    ['h/d?target_session_attrs=master', /master is not one of/],
    ['h/d?connect_timeout=soon', /connect_timeout/],
    ['h/d?sslmode=on', /sslmode=on is not one of disable/],
    ['h/d?sslmode=verify-full', /verify-full needs sslrootcert/],
    ['h/d?sslmode=require&sslrootcert=system', /system needs sslmode=verify-full/],
    ['h/d?sslrootcert=/ca.pem', /sslrootcert needs sslmode=/],
    ['h/d?sslnegotiation=direct', /sslnegotiation=direct needs sslmode=/],
    ['h/d?sslmode=require&sslcert=/a', /sslcert and sslkey must be used together/],
    ['h/d?sslmode=verify-ca&sslrootcert=/nowhere/ca.pem', /\/nowhere\/ca\.pem.*ENOENT/],
    [`h/d?sslmode=verify-ca&sslrootcert=${import.meta.filename}`, /url\.test\.ts cannot be used/],
    ['h/d?sslmode=require&ssl_min_protocol_version=SSLv3', /ssl_min_protocol_version=SSLv3/],
  ]
  for (const [rest, message] of refused)
    t.throws(() => options(rest), { name: 'Invalid', message }, rest)
  for (const [rest] of refused.filter(([rest]) => rest.includes('hunter2')))
    t.throws(() => options(rest), { message: /^(?!.*hunter2)/ })
})

t.test('no part of a password that is not encoded is in a message or an address', async t => {
  const random = createRandom(38)
  const characters = '0123456789ABCDEFGHJKLMNP@@//??##&&=:%,[] '
  const outcomes = { read: 0, refused: 0 }
  for (let i = 0; i < 1000; i++) {
    const password = Array.from({ length: 6 + random.below(20) }, () =>
      random.pick([...characters]),
    ).join('')
    for (const rest of [
      `ana:${password}@db.example.org/books`,
      `ana@db.example.org/books?password=${password}`,
      `db.example.org/books?sslmode=require&user=ana&password=${password}&connect_timeout=3`,
    ]) {
      const shown = outcomeOf(rest)
      outcomes[shown.startsWith('database.url') ? 'refused' : 'read'] += 1
      for (let at = 0; at + 4 <= password.length; at++)
        if (shown.includes(password.slice(at, at + 4))) t.fail(`${rest}: ${shown}`)
    }
  }
  t.ok(outcomes.read > 100 && outcomes.refused > 100, JSON.stringify(outcomes))

  /** The message, or what messages name of a URL that is understood. */
  function outcomeOf(rest: string): string {
    try {
      const { host, port, user, database, connection } = options(rest)
      return JSON.stringify({ host, port, user, database, connection })
    } catch (error) {
      return (error as Error).message
    }
  }
})
