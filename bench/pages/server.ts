// A server for bench/pages.ts: all of Stackroom in one process, as `serve` runs it, and figures of it.
// node bench/pages/server.ts <folder> [scan]: `books` is the library, the rest is written; with `scan`
// that is all that is done, so that what is measured later is a server that began afresh.
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import { openApi } from '../../lib/api/open.ts'
import { openLog } from '../../lib/base/log.ts'
import { findOrCreateLibrary } from '../../lib/catalog/library/library-write.ts'
import { requestScan } from '../../lib/catalog/scan/scan-request.ts'
import { deliveryCounters } from '../../lib/download/counters.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { startPipeline } from '../../pipeline/pipeline.ts'
import { insertAccount } from '../../test/kit/accounts.ts'

const folder = process.argv[2]!
const config = loadConfig({
  env: {},
  flags: { data_dir: join(folder, 'data'), 'rate_limit.enabled': false },
})
const log = openLog({ level: 'error' })
const { sql, close } = await openDatabase(config, { log })
await migrate(sql)
const queue = await openQueue(sql, error => log.error({ err: error }, 'queue'))
const pipeline = await startPipeline({ sql, config, log, queue })
const closeAll = async () => {
  await pipeline.close()
  await queue.close()
  await close()
}
await (process.argv[3] === 'scan' ? scan().then(closeAll) : serve())

async function serve() {
  const { server, close: closeApi } = await openApi({ sql, config, log, queue })
  const api = await server.listen({ host: '127.0.0.1', port: 0 })
  const meter = openMeter()
  const figures = await meter.listen({ host: '127.0.0.1', port: 0 })
  const books = await sql`
    select b.id, convert_from(b.name, 'latin1') as name, b.page_count as pages from book b
    where b.page_count > 0 order by b.id`
  process.stdout.write(
    `${JSON.stringify({ api, figures, key: (await insertAccount(sql, 'admin')).key, books })}\n`,
  )
  process.once('SIGTERM', async () => {
    await meter.close()
    await closeApi()
    await closeAll()
  })
}

async function scan() {
  const { id } = await findOrCreateLibrary(sql, { root: Buffer.from(join(folder, 'books')) })
  const scanId = await requestScan(sql, queue, { libraryId: id, mode: 'normal' })
  for (;;) {
    pipeline.wake()
    const [row] = await sql`select finished_at is not null as over from scan where id = ${scanId}`
    if (row!.over && !(await queue.hasJobs(id, ['index', 'cover', 'hash']))) return
    await sleep(100)
  }
}

function openMeter() {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let peak = 0
  setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 50).unref()
  const meter = fastify()
  meter.get('/figures', () => {
    const figures = {
      rssMiB: process.memoryUsage.rss() / 2 ** 20,
      heapMiB: process.memoryUsage().heapTotal / 2 ** 20,
      outsideMiB: process.memoryUsage().external / 2 ** 20,
      peakRssMiB: peak / 2 ** 20,
      delayP99Ms: delay.percentile(99) / 1e6,
      delayMaxMs: delay.max / 1e6,
      ...deliveryCounters,
    }
    delay.reset()
    peak = 0
    return figures
  })
  return meter
}
