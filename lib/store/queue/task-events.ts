// task_progress events for jobs, published in the transaction that changes the job. A scan publishes its own
// progress with its figures (lib/catalog/scan/scan-events.ts), so its job is skipped here.
import { type Progress, publishProgress } from '../event/publish.ts'
import type { Queryable } from '../postgres/db.ts'
import { isBulk, isScanJob, type JobName, jobTypes } from './jobs.ts'
import { type JobState, type Payload, payloadBookId, payloadSize, statusOf } from './task-status.ts'

/** A job whose state has just changed. */
export type JobChange = {
  id: string
  name: JobName
  state: JobState
  data: Payload | null
  /** Reason of the last failure. */
  error?: string | null
  createdAt: Date
  startedAt?: Date | null
  completedAt?: Date | null
}

/** One statement for all jobs; none if there is nothing to publish. */
export async function publishTasks(tx: Queryable, jobs: readonly JobChange[]): Promise<void> {
  await publishProgress(tx, jobs.filter(job => !isScanJob(job.name)).map(taskMessage))
}

function taskMessage({ id, name, state, data, ...job }: JobChange): Progress {
  const status = statusOf(state)
  const total = payloadSize(data ?? {})
  const { libraryId } = data ?? {}
  const bookId = payloadBookId(name, data ?? {})
  const texts = { pending: 'waiting', running: jobTypes[name].activity } as Record<string, string>
  const message = {
    task_id: id,
    task_type: jobTypes[name].task,
    status,
    progress: {
      current: status === 'completed' ? total : 0,
      total,
      message: texts[status] ?? status,
    },
    ...(job.error && status !== 'completed' ? { error: job.error } : {}),
    started_at: job.startedAt ?? job.createdAt,
    ...(job.completedAt ? { completed_at: job.completedAt } : {}),
    ...(libraryId ? { library_id: libraryId } : {}),
    ...(bookId ? { book_id: bookId } : {}),
  }
  return {
    stream: 'task',
    type: 'task_progress',
    data: message,
    ...(libraryId ? { libraryId } : {}),
    ...(bookId ? { bookId } : {}),
    ...(isBulk(name) ? { limited: null } : {}),
  }
}
