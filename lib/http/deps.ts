// What handlers work with; opened by the command that serves, passed to every handler.
import type { Auth } from '../auth/auth.ts'
import type { Identities } from '../auth/identify.ts'
import type { Config } from '../config/config.ts'
import type { Feed } from '../event/feed.ts'
import type { Log } from '../log.ts'
import type { Pages } from '../page/pages.ts'
import type { Thumbnails } from '../page/thumbnail.ts'
import type { Sql } from '../postgres/db.ts'
import type { Queue } from '../queue/queue.ts'

export type Deps = {
  sql: Sql
  config: Config
  log: Log
  /** Jobs for the pipeline, sent within the caller's transaction. */
  queue: Queue
  /** Sessions, tokens, mail: what accounts are changed with. */
  auth: Auth
  /** Who is behind a credential. */
  identities: Identities
  /** Images of pages, and what else the page threads make. */
  pages: Pages
  /** Covers, small, as files that the pipeline has made. */
  thumbnails: Thumbnails
  /** What happens, in any process. */
  feed: Feed
  version: string
  /** Whether this process is about to end: it still answers, and says so. */
  presence: { isLeaving: boolean }
}
