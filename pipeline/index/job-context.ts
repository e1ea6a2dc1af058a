// Context of the jobs that read books: database, queue, threads and thumbnail options.
import type { ThreadPool } from '../../lib/async/thread-pool.ts'
import type { FileAccess } from '../../lib/containment.ts'
import type { Sql } from '../../lib/postgres/db.ts'
import type { JobControl } from '../../lib/queue/job-run.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import type { SpaceGuard } from '../../lib/space-guard.ts'
import type { ThumbnailOptions } from './thumbnail-request.ts'

export type JobContext = JobControl & {
  sql: Sql
  queue: Queue
  threads: ThreadPool
  thumbnailOptions: ThumbnailOptions
  space: SpaceGuard
  /** Which files may be read, as configured now. */
  access: FileAccess
}
