// Limits that the documents state as numbers and that no test of behavior reaches in reasonable time.
import t from 'tap'
import { RateLimited } from '../lib/base/errors.ts'
import { maxBodyBytes, smallBodyBytes, structureFault } from '../lib/http/limits/body-limit.ts'
import { openListGate } from '../lib/http/limits/list-gate.ts'
import { createHttpServer } from '../lib/http/listen/listener.ts'
import { bytesPerBook } from '../lib/list/index/books/book-segment.ts'
import { bytesPerSeries } from '../lib/list/index/series-classes.ts'
import { maxMembers } from '../lib/organize/grouping/members.ts'
import { maxListed } from '../lib/protocols/komga/routes/system/list-events.ts'
import { maxLatest } from '../lib/protocols/opds/shelf/listing.ts'
import { maxResults } from '../lib/protocols/opds/shelf/search.ts'
import { maxDeviceIdLength } from '../lib/reading/device.ts'
import { sittingGapMs } from '../lib/reading/merge.ts'
import { defaultLimits, defaultMaxBytes, maxRedirects } from '../lib/sources/http/client.ts'
import { maxFailures } from '../lib/sources/stored/call.ts'
import { loadConfig } from '../lib/store/config/config.ts'
import { defaultPace } from '../lib/store/postgres/monitor.ts'
import { createDatabase } from './kit/db.ts'

t.test('requests and connections', async t => {
  const server = createHttpServer(() => {})
  t.equal(server.maxConnections, 4096)
  t.same([server.requestTimeout, server.headersTimeout], [5 * 60_000, 60_000])
  const { tickMs, slowMs, hungTicks } = defaultPace
  // The call that is slow is seen up to a tick later.
  t.same([slowMs + hungTicks * tickMs, tickMs], [6_500, 500], 'until a silent database is noticed')
})

t.test('bodies', async t => {
  t.same([smallBodyBytes, maxBodyBytes], [16 * 1024, 1024 * 1024])
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  t.equal(structureFault(nested(200)), null)
  t.match(structureFault(nested(201)), /deep/)
})

t.test('two hundred lists of an account wait', async t => {
  const { sql } = await createDatabase(t)
  const gate = openListGate(sql)
  t.teardown(gate.close)
  const end = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  const admission = { accountId: 'a', isExpensive: false, signal: end.signal }
  const running = Math.max(1, Math.floor(sql.options.max / 4))
  const admitted = Array.from({ length: running + 200 }, () => gate.run(admission, () => promise))
  await t.rejects(
    gate.run(admission, () => promise),
    RateLimited,
  )
  resolve()
  await Promise.all(admitted)
})

t.test('lists and records', async t => {
  const { list } = loadConfig({ env: {} })
  const needed = 2_500_000 * bytesPerBook + 1_000_000 * bytesPerSeries
  t.ok(needed <= list.index_mb * 1024 ** 2, 'rows with an index in memory')
  t.same([maxLatest, maxResults], [1_000, 1_000], 'feeds of new items and searches')
  t.same(
    [maxMembers, maxListed],
    [20_000, 500],
    'members, and of them in events of the compatible API',
  )
  t.equal(sittingGapMs, 5 * 60_000)
  t.equal(maxDeviceIdLength, 128)
  t.equal(maxFailures, 100)
})

t.test('requests to sources', async t => {
  t.same(defaultLimits, { connectMs: 10_000, headersMs: 20_000, idleMs: 20_000, totalMs: 60_000 })
  t.same([defaultMaxBytes, maxRedirects], [10 * 1024 * 1024, 5])
})
