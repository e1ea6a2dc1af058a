// API of one process: opens the dependencies of the handlers and the HTTP server, and closes them in order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAuth } from '../accounts/auth.ts'
import type { Log } from '../base/log.ts'
import { version } from '../base/version.ts'
import { connectOpenBooks } from '../catalog/book/open-books.ts'
import { coverFolders } from '../catalog/cover/cover-files.ts'
import { fileAccess } from '../catalog/library/library-root.ts'
import { openListGate } from '../http/limits/list-gate.ts'
import type { ReceivePace } from '../http/listen/listener.ts'
import { openServer } from '../http/server.ts'
import { lists, openLists } from '../list/lists.ts'
import { prepareLists } from '../list/prepare-lists.ts'
import { limitsFromConfig } from '../media/archive/limits.ts'
import { openPages } from '../page/pages.ts'
import { openThumbnails } from '../page/thumbnail.ts'
import type { Sources } from '../sources/open.ts'
import { openSources } from '../sources/stored/open.ts'
import type { Config } from '../store/config/config.ts'
import { openEventFeed, type Pace } from '../store/event/feed.ts'
import { forRequests, type Sql } from '../store/postgres/db.ts'
import { openDatabaseMonitor, type ProbePace } from '../store/postgres/monitor.ts'
import type { Queue } from '../store/queue/queue.ts'
import { checkReadiness } from '../store/readiness.ts'
import { createServices } from '../store/services.ts'
import { openSpaceGuard, type SpaceGuard } from '../store/space-guard.ts'
import { openCompatibleApi } from './compatible.ts'
import { resources } from './resources.ts'

type Options = {
  sql: Sql
  config: Config
  log: Log
  queue: Queue
  /** What is passed in is not closed. */
  space?: SpaceGuard
  sources?: Sources
  /** Pace of the event streams; tests use a faster one. */
  pace?: Partial<Pace>
  /** Pace of receiving requests; tests use a shorter one. */
  receive?: ReceivePace
  /** Pace of noticing that the database does not respond; tests use a faster one. */
  probing?: ProbePace
}

// The first start of a version builds the web application, which takes a second that the first requests would notice.
const buildDelayMs = 5_000

/** The API of one process, ready to listen. */
export async function openApi({ sql, config, log, queue, ...options }: Options) {
  const space = options.space ?? openSpaceGuard({ config, log })
  const sources = options.sources ?? openSources({ config, log })
  const monitor = await openDatabaseMonitor(sql, log, options.probing)
  const auth = await openAuth({ sql, config, log })
  const requestSql = forRequests(sql, { timeoutMs: config.list.timeout_seconds * 1000 })
  const hasCacheSpace = () => space.shortage(['cache']) === null
  const folder = { path: join(config.data_dir, 'cache', 'lists'), hasSpace: hasCacheSpace }
  const listOptions = { log, folder, indexMb: config.list.index_mb }
  const services = createServices(requestSql, [[lists, openLists(requestSql, listOptions)]])
  const pages = openPages({
    folder: join(config.data_dir, 'cache', 'pages'),
    cacheBytes: config.files.cache_mb * 1024 * 1024,
    canStore: hasCacheSpace,
    limits: limitsFromConfig(config.files),
    access: () => fileAccess(config),
    threads: config.pipeline.threads,
    timeoutMs: config.pipeline.book_timeout_seconds * 1000,
    memoryMb: config.pipeline.book_memory_mb,
    onBug: error => log.error({ err: error }, 'a page thread failed'),
  })
  const thumbnails = openThumbnails({
    folder: coverFolders(config.data_dir).thumbnails,
    format: config.thumbnail.format,
    convert: pages.convert,
  })
  const feed = await openEventFeed({ sql, clientSql: requestSql, log, pace: options.pace })
  const listGate = openListGate(requestSql)
  const openBooks = await connectOpenBooks(requestSql)
  const lifecycle = { isShuttingDown: false }
  const deps = {
    ...{ sql: requestSql, services, config, log, queue, monitor, space, auth },
    ...{ identities: auth.identities, openBooks, pages, thumbnails, sources, feed },
    ...{ lists: listGate, version, lifecycle },
  }
  const compatible = await openCompatibleApi(deps)
  const web = config.web.enabled ? (await import('../web/web.ts')).openWeb(deps) : undefined
  const server = await openServer(deps, resources, {
    ...{ receive: options.receive, passOn: compatible.passOn, web },
  })
  return {
    server,
    /** Port of the separate server of the compatible API; null if there is none. */
    compatiblePort: compatible.port,
    /** Does in advance what the first requests would do: reads what lists need, later builds the web application. */
    async prepare() {
      await prepareLists(deps)
      if (!web) return
      await sleep(buildDelayMs, undefined, { ref: false })
      if (!lifecycle.isShuttingDown) await web.prepare()
    },
    /** The response of /health. */
    readiness: () => checkReadiness({ ...deps, isShuttingDown: lifecycle.isShuttingDown }),
    /** Responses then have Connection: close, and /health reports 503. */
    announceShutdown() {
      lifecycle.isShuttingDown = true
    },
    /** Waits up to 25 seconds for running requests, then closes everything. */
    async close() {
      lifecycle.isShuttingDown = true
      // Stops accepting connections, so that clients reconnect to another server.
      server.server.close()
      const { listener } = compatible
      const closed = listener && once(listener.close(), 'close')
      // Event streams never end on their own.
      await feed.close()
      await Promise.all([
        drain(server.server, () => server.close()),
        listener && drain(listener, async () => closed),
      ])
      await compatible.close()
      await auth.close()
      await pages.close()
      if (!options.sources) await sources.close()
      await Promise.all([listGate.close(), openBooks.close()])
      await requestSql.end({ timeout: 5 })
      await monitor.close()
      if (!options.space) space.close()
    },
  }
}

// Service managers usually kill the process after 30 seconds.
const drainTimeoutMs = 25_000

// Idle keep-alive connections would hold the server open until they time out.
async function drain(server: Server, close: () => Promise<unknown>) {
  const idleSweep = setInterval(() => server.closeIdleConnections(), 50)
  const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  try {
    await close()
  } finally {
    clearInterval(idleSweep)
    clearTimeout(deadline)
  }
}
