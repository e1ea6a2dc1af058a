// Opens what the handlers work with, and the server around it; closes it all in the right order.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { openAuth } from '../auth/auth.ts'
import { coverFolders } from '../catalog/cover/cover-files.ts'
import type { Config } from '../config/config.ts'
import { openFeed, type Pace } from '../event/feed.ts'
import { limitsOf } from '../format/contract.ts'
import { openServer } from '../http/server.ts'
import type { Log } from '../log.ts'
import { openPages } from '../page/pages.ts'
import { openThumbnails } from '../page/thumbnail.ts'
import { bounded, type Sql } from '../postgres/db.ts'
import type { Queue } from '../queue/queue.ts'
import { version } from '../version.ts'

/** `pace` is that of the streams; only tests are in a hurry. */
type Options = { sql: Sql; config: Config; log: Log; queue: Queue; pace?: Partial<Pace> }

// Of a statement that a client waits for: the slowest search of a million books takes a second.
const longestMs = 20_000

/** The API of one process, ready to listen. */
export async function openApi({ sql, config, log, queue, pace }: Options): Promise<{
  server: FastifyInstance
  /** Answers go on, but who asks for more is to ask another process. */
  leave(): void
  /** Lets running requests end, for 25 seconds at most, then lets go of everything. */
  close(): Promise<void>
}> {
  const auth = await openAuth({ sql, config, log })
  const questions = bounded(sql, { forMs: longestMs })
  const pages = openPages({
    folder: join(config.data_dir, 'cache', 'pages'),
    cacheBytes: config.files.cache_mb * 1024 * 1024,
    limits: limitsOf(config.files),
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
  const feed = await openFeed({ sql, questions, log, pace })
  const presence = { isLeaving: false }
  const server = await openServer({
    sql: questions,
    config,
    log,
    queue,
    auth,
    identities: auth.identities,
    pages,
    thumbnails,
    feed,
    version,
    presence,
  })
  return {
    server,
    leave() {
      presence.isLeaving = true
    },
    async close() {
      presence.isLeaving = true
      // Nobody new comes; whoever comes back goes to another server.
      server.server.close()
      // Streams would be waited for, and have no end of their own.
      await feed.close()
      await drain(server)
      await auth.close()
      await pages.close()
      await questions.end({ timeout: 5 })
    },
  }
}

// Who told us to end usually kills after half a minute.
const patienceMs = 25_000

// A client that keeps its connection open would hold the server until it times out.
async function drain(server: FastifyInstance) {
  const sweep = setInterval(() => server.server.closeIdleConnections(), 50)
  const last = setTimeout(() => server.server.closeAllConnections(), patienceMs)
  try {
    await server.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(last)
  }
}
