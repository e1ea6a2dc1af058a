// Limit of the number of series in a scrape: 50 libraries, all routes, all label values.
import { test } from 'tap'
import { resources } from '../../../lib/api/resources.ts'
import { unreadableCodes } from '../../../lib/base/errors.ts'
import { newId } from '../../../lib/base/id.ts'
import { endpoints } from '../../../lib/http/route.ts'
import { formatNames } from '../../../lib/media/format/formats.ts'
import { streamClients, streamEvents, streamResyncs } from '../../../lib/store/event/metrics.ts'
import { countRequest } from '../../../lib/store/metrics/http.ts'
import {
  countBooksRead,
  countCoverRequest,
  countCovers,
  countFiles,
  countReading,
  countTasks,
  createPhaseTimer,
} from '../../../lib/store/metrics/pipeline.ts'
import { taskTypes } from '../../../lib/store/queue/task-status.ts'
import { startApi } from '../../kit/server.ts'

const maxSeries = 2_300

test(`at most ${maxSeries} series with 50 libraries after every route was hit`, async t => {
  const all = await startApi(t)
  const { sql } = all
  await sql`
    insert into library (id, name, root, scanning_config, last_scanned_at)
    select gen_random_uuid(), 'L' || i, convert_to('/nowhere/' || i, 'UTF8'),
      '{"enabled": true, "cronSchedule": "0 */6 * * *", "cronTimezone": "Europe/Berlin"}', now()
    from generate_series(1, 50) i`
  await sql`
    insert into scan (id, library_id, mode, state, started_at, finished_at)
    select gen_random_uuid(), id, 'normal', 'completed', now(), now() from library`
  await sql`insert into library_watch (library_id, mode) select id, 'watching' from library`
  const libraries = await sql<{ id: string }[]>`select id from library`
  for (const { id } of libraries)
    countFiles(id, {
      added: 1,
      changed: 1,
      moved: 1,
      missing: 1,
      restored: 1,
      unchanged: 1,
      failed: { io: 1 },
    })
  const read = { ms: 1, isUnchanged: false, error: null }
  for (const format of formatNames) countBooksRead([{ ...read, format }])
  for (const code of unreadableCodes) countBooksRead([{ ...read, format: null, error: { code } }])
  countCovers([{ ms: 1, error: null }, { error: { code: 'io' } }])
  for (const purpose of ['index', 'thumbnail', 'hash'] as const)
    countReading(purpose, [{ bytesRead: 1 }])
  for (const result of ['hit', 'made', 'miss'] as const) countCoverRequest(result)
  for (const phase of ['walk', 'read', 'finalize'] as const) createPhaseTimer()(phase)
  for (const type of taskTypes)
    for (const outcome of ['completed', 'failed', 'cancelled', 'interrupted'] as const)
      countTasks(type, outcome, { ms: 1 })
  for (const stream of ['entity', 'task', 'scan']) {
    streamClients.inc({ stream })
    streamEvents.inc({ stream })
    streamResyncs.inc({ stream })
  }
  const admin = await all.createUser('admin')
  const key = { 'x-api-key': admin.key }
  for (const { method, path } of resources.flatMap(endpoints)) {
    const url = all.base + path.replace(/\{\w+\}/g, newId())
    const headers = method === 'GET' && !path.endsWith('/stream') ? key : {}
    await fetch(url, { method, headers }).then(response => response.body?.cancel())
  }
  for (const route of resources)
    for (const status of [200, 401, 404]) {
      const { method, path } = endpoints(route)[0]!
      countRequest({
        method,
        route: path,
        resource: path.replace('/api/v1', '').split('/')[1]!,
        status,
        ms: 1,
        bytes: 1,
        isStream: false,
        bucket: 'authenticated',
        credentialKind: 'key',
        isAuthenticated: true,
      })
    }
  const started = performance.now()
  const text = await (await fetch(`${all.base}/metrics`, { headers: key })).text()
  const ms = performance.now() - started
  const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  t.comment(`${series.length} series, ${text.length} characters, ${Math.round(ms)} ms`)
  t.ok(series.length <= maxSeries, `${series.length}`)
  t.equal(series.filter(line => line.startsWith('library_books{')).length, 50)
  t.equal(series.filter(line => line.startsWith('library_scan_interval_seconds{')).length, 50)
  t.match(text, /library_scan_interval_seconds\{[^}]+\} 21600/)
  t.match(text, /watcher_state\{library="[^"]+",mode="watching"\} 1/)
  t.equal(new Set(series.map(line => line.slice(0, line.lastIndexOf(' ')))).size, series.length)
  const families = new Map<string, number>()
  for (const line of series) {
    const name = /^\w+/.exec(line)![0].replace(/_(bucket|sum|count)$/, '')
    families.set(name, (families.get(name) ?? 0) + 1)
  }
  const largest = [...families].sort((a, b) => b[1] - a[1]).slice(0, 8)
  t.comment(largest.map(([name, size]) => `${name} ${size}`).join(', '))
})
