// Database URLs of libpq's form: what is understood, and what is refused with its name.
import t from 'tap'
import { parseDatabaseUrl } from '../../lib/postgres/url.ts'

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
    ['u:hunter2/x@h/d', /invalid host or port.*percent-encoded/],
    ['u:hunter2%@h/d', /password.*percent-encoding/],
    ['u:hunter2@h:99999/d', /port that is not an integer/],
    ['u:hunter2@h/d?port=a', /port that is not an integer/],
    ['a,b/d?port=1,2,3', /2 hosts and 3 ports/],
    ['/d?host=/a,b', /socket directory/],
    ['h/d?search_path=x', /search_path is not supported.*options=/],
    ['h/d?pgbouncer=true', /pgbouncer is not supported/],
    ['h/d?channel_binding=require', /channel_binding=require/],
    ['h/d?target_session_attrs=standby', /standby.*cannot be written/],
    ['h/d?target_session_attrs=master', /master is not one of/],
    ['h/d?connect_timeout=soon', /connect_timeout/],
    ['h/d?sslmode=on', /sslmode=on is not one of disable/],
    ['h/d?sslmode=verify-full', /verify-full needs sslrootcert/],
    ['h/d?sslmode=require&sslrootcert=system', /system needs sslmode=verify-full/],
    ['h/d?sslrootcert=/ca.pem', /sslrootcert needs sslmode=/],
    ['h/d?sslnegotiation=direct', /sslnegotiation=direct needs sslmode=/],
    ['h/d?sslmode=require&sslcert=/a', /sslcert and sslkey belong together/],
    ['h/d?sslmode=verify-ca&sslrootcert=/nowhere/ca.pem', /\/nowhere\/ca\.pem.*ENOENT/],
    [`h/d?sslmode=verify-ca&sslrootcert=${import.meta.filename}`, /url\.test\.ts cannot be used/],
    ['h/d?sslmode=require&ssl_min_protocol_version=SSLv3', /ssl_min_protocol_version=SSLv3/],
  ]
  for (const [rest, message] of refused)
    t.throws(() => options(rest), { name: 'Invalid', message }, rest)
  for (const [rest] of refused.filter(([rest]) => rest.includes('hunter2')))
    t.throws(() => options(rest), { message: /^(?!.*hunter2)/ })
})
