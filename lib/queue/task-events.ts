// task_progress events of jobs, published in the transaction that changes the job. A scan publishes its
// own progress with its figures (lib/catalog/scan/scan-events.ts), so its job is skipped here.
import { type Progress, publishProgress } from '../event/publish.ts'
import type { Queryable, Sql } from '../postgres/db.ts'
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

/** One statement for all jobs; none when there is nothing to publish. */
export async function publishTasks(tx: Queryable, jobs: readonly JobChange[]): Promise<void> {
  await publishProgress(tx, jobs.filter(job => !isScanJob(job.name)).map(taskMessage))
}

/** Publishes the start of jobs, except of those that were cancelled at the same moment. */
export async function publishStarted(
  sql: Sql,
  started: readonly (JobChange & { attempt: number })[],
) {
  const jobs = started.filter(job => !isScanJob(job.name))
  if (jobs.length === 0) return
  await sql.begin(async tx => {
    const rows = await tx<{ id: string }[]>`
      select j.id
      from pgboss.job j
      join unnest(${jobs.map(job => job.name)}::text[], ${jobs.map(job => job.id)}::uuid[],
        ${jobs.map(job => job.attempt)}::integer[]) as c(name, id, attempt)
        on j.name = c.name and j.id = c.id and j.retry_count = c.attempt
      where j.state = 'active'
      order by j.id
      for share of j`
    const active = new Set(rows.map(row => row.id))
    await publishTasks(
      tx,
      jobs.filter(job => active.has(job.id)),
    )
  })
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
