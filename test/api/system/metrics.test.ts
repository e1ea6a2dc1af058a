// Metrics over HTTP: JSON statistics and Prometheus text.
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'tap'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi, type TestApi } from '../../kit/server.ts'

const scraped = async (all: TestApi, path: string, headers: Record<string, string>) => {
  const response = await fetch(all.base + path, { headers })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  }
}

test('metrics over the API', async t => {
  const all = await startApi(t)
  const { sql } = all
  const shelf = await createTestLibrary(t, all, {
    'Alpha/1.cbz': comic({ pages: 3 }),
    'Alpha/2.cbz': comic({ pages: 2 }),
    'Beta/1.cbz': comic({ pages: 2 }),
    'Broken/1.cbz': Buffer.from('this is no archive'),
  })
  const other = await createTestLibrary(t, all, { 'Gamma/1.cbz': comic({ pages: 4 }) })
  await shelf.scan()
  await other.scan()
  // No search for duplicates is running.
  await all.dedupe()
  const [{ id: first }, { id: second }] = (await sql<{ id: string }[]>`
    select id from library order by created_at, id`) as any
  const admin = await all.createUser('admin')
  const reader = await all.createUser('reader')

  t.test('JSON contains inventory and tasks', async t => {
    const { status, body } = await admin.get('/metrics')
    t.equal(status, 200)
    t.match(body, {
      libraryCount: 2,
      seriesCount: 4,
      bookCount: 5,
      pageCount: 11,
      userCount: 2,
      tasks: { processingCount: 0, failedCount: 0 },
    })
    t.ok(body.databaseSize > 1_000_000)
    t.equal(body.libraries.length, 2)
    t.equal(
      body.totalBookSize,
      body.libraries.reduce((sum: number, l: any) => sum + l.totalSize, 0),
    )
    t.ok(body.tasks.byType.some((type: any) => type.taskType === 'scan_library'))
    const alone = await admin.get('/metrics/inventory')
    const { tasks: _, ...inventory } = body
    t.same(alone.body, inventory)
    t.equal(
      (await reader.get('/metrics')).body.userCount,
      1,
      'readers count only their own account',
    )
  })

  t.test('the Accept header selects the text format', async t => {
    const key = { 'x-api-key': reader.key }
    const root = await scraped(all, '/metrics', key)
    t.equal(root.status, 200)
    t.equal(root.type, 'text/plain; version=0.0.4; charset=utf-8')
    t.match(root.text, `library_books{library="${first}"} 4`)
    t.match(root.text, `library_books_error{library="${first}"} 1`)
    t.match(root.text, `library_available{library="${second}"} 1`)
    t.match(root.text, `watcher_state{library="${second}",mode="off"} 1`)
    t.match(root.text, /^stackroom_database_up 1$/m)
    t.match(root.text, /^tasks_queued\{type="scan_library"\} 0$/m)
    const prometheus =
      'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
    const open = await scraped(all, '/api/v1/metrics', { ...key, accept: prometheus })
    t.equal(open.type, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
    t.match(open.text, /# TYPE http_server_requests counter/)
    t.match(open.text, /\n# EOF\n$/)
    const after = await scraped(all, '/metrics', key)
    t.match(
      after.text,
      /# TYPE http_server_requests_total counter/,
      'one format does not affect the other',
    )
    for (const accept of ['*/*', 'application/json', 'text/html,*/*;q=0.8', 'text/plain;q=0'])
      t.match(
        (await scraped(all, '/api/v1/metrics', { ...key, accept })).type,
        /^application\/json/,
      )
  })

  t.test('scans are counted', async t => {
    const { text } = await scraped(all, '/metrics', { 'x-api-key': admin.key })
    for (const line of [
      `scan_files_total{library="${first}",outcome="created"} 3`,
      `scan_files_total{library="${first}",outcome="failed"} 1`,
      `scan_files_total{library="${second}",outcome="created"} 1`,
      'scan_file_opens_total{purpose="index"} 5',
      'parse_duration_seconds_count{format="cbz"} 4',
      'parse_failures_total{code="not_an_archive"} 1',
      'scan_phase_duration_seconds_count{phase="walk"} 2',
      'scan_phase_duration_seconds_count{phase="finalize"} 2',
      'tasks_completed_total{type="scan_library",outcome="completed"} 2',
      `library_books_missing{library="${first}"} 0`,
    ])
      t.ok(text.includes(`\n${line}\n`), line)
  })

  t.test('hidden resources are not counted', async t => {
    const limited = await all.createUser('reader')
    await sql`update account set all_libraries = false where id = ${limited.id}`
    await sql`insert into account_library values (${limited.id}, ${second})`
    const { body } = await limited.get('/metrics')
    t.match(body, {
      libraryCount: 1,
      seriesCount: 1,
      bookCount: 1,
      pageCount: 4,
      tasks: { failedCount: 0 },
    })
    t.same(
      body.libraries.map((l: any) => l.id),
      [second],
    )
    const key = { 'x-api-key': limited.key }
    t.equal((await scraped(all, '/metrics', key)).status, 403)
    t.equal((await scraped(all, '/api/v1/metrics', { ...key, accept: 'text/plain' })).status, 403)
    await sql`insert into account_library values (${limited.id}, ${first})`
    const young = await all.createUser('reader')
    await sql`update book set age_rating = 18 where name = ${Buffer.from('2.cbz')}`
    await sql`update account set age_limit = 12 where id = ${young.id}`
    const seen = (await young.get('/metrics')).body
    t.match(seen, { libraryCount: 2, seriesCount: 4, bookCount: 4, pageCount: 9 })
    t.equal((await scraped(all, '/metrics', { 'x-api-key': young.key })).status, 403)
  })

  t.test('a library that is being deleted does not block scraping', async t => {
    await sql`update library set deleting_at = now() where id = ${second}`
    const fresh = await all.createUser('admin')
    const { status, text } = await scraped(all, '/metrics', { 'x-api-key': fresh.key })
    t.equal(status, 200)
    t.match(text, first)
    t.notMatch(text, second)
    await sql`update library set deleting_at = null where id = ${second}`
  })

  t.test('requests are counted by route template', async t => {
    await admin.get(`/libraries/${first}`)
    await fetch(`${all.base}/api/v1/no/such/place?apiKey=secret`)
    await fetch(`${all.base}/api/v1/books`, { headers: { authorization: 'Bearer nonsense' } })
    await fetch(`${all.base}/health`, { method: 'HEAD' })
    const { text } = await scraped(all, '/metrics', { 'x-api-key': admin.key })
    t.match(
      text,
      /http_server_route_requests_total\{method="GET",route="\/api\/v1\/libraries\/\{id\}"\} 1/,
    )
    t.match(text, /http_server_requests_total\{resource="none",status="4xx"\} 1/)
    t.match(text, /http_server_requests_total\{resource="health",status="2xx"\} 1/)
    t.match(text, /auth_attempts_total\{method="token",outcome="refused"\} 1/)
    t.match(text, /auth_attempts_total\{method="key",outcome="accepted"\} \d+/)
    t.match(text, /http_server_request_duration_seconds_count\{resource="libraries"\} 1/)
    t.match(text, /^http_server_requests_in_flight 1$/m, 'the scrape itself')
    t.notMatch(text, /secret|nonsense|no\/such/)
  })

  t.test('responses have the request id of the log', async t => {
    const response = await fetch(`${all.base}/health`)
    t.match(response.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
    const refused = await fetch(`${all.base}/api/v1/books`)
    t.match(refused.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  })

  t.test('bytes of responses are counted once each, also on one connection', async t => {
    const sent = async () => {
      const { text } = await scraped(all, '/metrics', { 'x-api-key': admin.key })
      return Number(
        /^http_server_response_bytes_total\{resource="libraries"\} (\d+)/m.exec(text)?.[1] ?? 0,
      )
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const before = await sent()
    let bytes = 0
    for (let i = 0; i < 20; i++) {
      const headers = { 'x-api-key': admin.key }
      const [response] = await once(
        get(`${all.base}/api/v1/libraries`, { agent, headers }),
        'response',
      )
      bytes += (await buffer(response)).length
    }
    const counted = (await sent()) - before
    t.ok(counted > bytes && counted < bytes + 20 * 3_000, `${counted} for ${bytes}`)
  })
})
