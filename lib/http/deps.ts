// Dependencies of route handlers, opened once by lib/api/open.ts.
import type { Auth } from '../accounts/auth.ts'
import type { IdentityResolver } from '../accounts/identify.ts'
import type { Log } from '../base/log.ts'
import type { OpenBooks } from '../catalog/book/open-books.ts'
import type { Pages } from '../page/pages.ts'
import type { Thumbnails } from '../page/thumbnail.ts'
import type { Sources } from '../sources/open.ts'
import type { Config } from '../store/config/config.ts'
import type { EventFeed } from '../store/event/feed.ts'
import type { Sql } from '../store/postgres/db.ts'
import type { DatabaseMonitor } from '../store/postgres/monitor.ts'
import type { Queue } from '../store/queue/queue.ts'
import type { Services } from '../store/services.ts'
import type { SpaceGuard } from '../store/space-guard.ts'

export type Deps = {
  /** For reads of more than one record (`costOf` in route.ts), statements are canceled with the request. */
  sql: Sql
  /** State that outlives a request. */
  services: Services
  config: Config
  log: Log
  monitor: DatabaseMonitor
  space: SpaceGuard
  /** Background jobs, sent within the caller's transaction. */
  queue: Queue
  /** Sessions, tokens and mail. */
  auth: Auth
  /** Resolves credentials to identities. */
  identities: IdentityResolver
  /** Records of books whose pages are being read. */
  openBooks: OpenBooks
  /** Page images, rendered by worker threads. */
  pages: Pages
  /** Cover thumbnails as files. */
  thumbnails: Thumbnails
  /** Sources of metadata and releases. */
  sources: Sources
  /** Events of all processes. */
  feed: EventFeed
  version: string
  /** While shutting down, the server still responds, with Connection: close. */
  lifecycle: { isShuttingDown: boolean }
}
