// Context of the jobs that read books: database, queue, threads and thumbnail options.
import type { ThreadPool } from '../../lib/base/async/thread-pool.ts'
import type { FileAccess } from '../../lib/base/containment.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { JobControl } from '../../lib/store/queue/job-run.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import type { SpaceGuard } from '../../lib/store/space-guard.ts'
import type { ThumbnailOptions } from './thumbnail-request.ts'

export type JobContext = JobControl & {
  sql: Sql
  queue: Queue
  threads: ThreadPool
  thumbnailOptions: ThumbnailOptions
  space: SpaceGuard
  /** Which files may be read, as currently configured. */
  access: FileAccess
}
