// Metrics server, with and without a database.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { test } from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { openLog } from '../../../lib/base/log.ts'
import { openMetricsServer } from '../../../lib/store/metrics/server.ts'
import { connect } from '../../../lib/store/postgres/db.ts'
import { createDatabase } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

const log = openLog({ level: 'silent' })

test('only /metrics and health checks are served, without authentication', async t => {
  const { sql } = await createDatabase(t)
  const server = await openMetricsServer('127.0.0.1:0', { sql, log, dataDir: temporaryFolder(t) })
  t.teardown(server.close)
  const request = (path: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, init)
  const metrics = await request('/metrics')
  t.equal(metrics.status, 200)
  const text = await metrics.text()
  t.match(
    text,
    /^stackroom_build_info\{version="[\d.]+",node="\d+[\d.]+",database="\d+[^"]*"\} 1$/m,
  )
  t.match(text, /^stackroom_database_up 1$/m)
  t.match(text, /^db_size_bytes \d{7,}$/m)
  t.match(text, /^data_disk_free_bytes \d+$/m)
  t.match(text, /^process_resident_memory_bytes \d+$/m)
  t.notMatch(text, /_total gauge/, 'metrics named _total are counters')
  for (const line of text.split('\n').filter(text => text.startsWith('# HELP')))
    t.match(line, /^# HELP [a-z_0-9]+ .{10,}/, line)
  const openMetrics = await request('/metrics', {
    headers: { accept: 'application/openmetrics-text' },
  })
  t.match(openMetrics.headers.get('content-type'), 'application/openmetrics-text')
  t.match(await (await request('/health/live')).json(), { status: 'ok' })
  t.equal((await request('/health/ready')).status, 503, 'nothing has started yet')
  t.equal((await request('/health/startup')).status, 503)
  const head = await request('/metrics', { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
  t.equal((await request('/api/v1/books')).status, 404)
  t.equal((await request('/health')).status, 404)
  t.equal((await request('/metrics', { method: 'POST' })).status, 405)
})

test('without a database it reports stackroom_database_up 0', async t => {
  const sql = connect('postgres://user:password@127.0.0.1:1/none', { max: 1 })
  t.teardown(() => sql.end({ timeout: 0 }))
  // Containers often have no IPv6.
  const addresses = Object.values(networkInterfaces()).flat()
  const host = addresses.some(one => one?.address === '::1') ? '[::1]' : '127.0.0.1'
  const server = await openMetricsServer(`${host}:0`, { sql, log, dataDir: temporaryFolder(t) })
  t.teardown(server.close)
  const response = await fetch(`http://${host}:${server.port}/metrics`)
  t.equal(response.status, 200)
  const text = await response.text()
  t.match(text, /^stackroom_database_up 0$/m)
  t.match(text, /^# TYPE library_books gauge$/m)
  t.notMatch(text, /^library_books\{/m)
  t.match(text, /^process_cpu_seconds_total /m)
})

test('an unavailable or malformed address is rejected', async t => {
  const { sql } = await createDatabase(t)
  const deps = { sql, log, dataDir: temporaryFolder(t) }
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  await t.rejects(openMetricsServer(`127.0.0.1:${port}`, deps), Invalid)
  await t.rejects(openMetricsServer('::1:9464', deps), /like 127\.0\.0\.1:9464 or \[::1\]:9464/)
  await t.rejects(openMetricsServer('localhost:99999', deps), Invalid)
})
