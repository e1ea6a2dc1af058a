// Tells how tasks get on, in the transaction that moves them. What a scan does is told with its figures
// (lib/catalog/library/scan-events.ts), so that its task is told of once.
import type { Sql, TransactionSql } from 'postgres'
import { type Progress, tellProgress } from '../event/publish.ts'
import { isOfScan, type JobName } from './jobs.ts'
import { bookOf, type JobState, kinds, type Payload, sizeOf, statusOf } from './task-kind.ts'

/** A job whose state has just changed. */
export type Moved = {
  id: string
  name: JobName
  state: JobState
  data: Payload | null
  /** Why it failed last. */
  error?: string | null
  createdAt: Date
  startedAt?: Date | null
  completedAt?: Date | null
}

/** One statement for all of them; none for none, and for scans. */
export async function tellTasks(tx: Sql | TransactionSql, moved: readonly Moved[]): Promise<void> {
  await tellProgress(tx, moved.filter(job => !isOfScan(job.name)).map(messageOf))
}

/** That jobs were begun; not told of one that was called off in the same moment. */
export async function tellBegun(sql: Sql, jobs: readonly (Moved & { attempt: number })[]) {
  const told = jobs.filter(job => !isOfScan(job.name))
  if (told.length === 0) return
  await sql.begin(async tx => {
    const rows = await tx<{ id: string }[]>`
      select j.id
      from pgboss.job j
      join unnest(${told.map(job => job.name)}::text[], ${told.map(job => job.id)}::uuid[],
        ${told.map(job => job.attempt)}::integer[]) as h(name, id, attempt)
        on j.name = h.name and j.id = h.id and j.retry_count = h.attempt
      where j.state = 'active'
      for share of j`
    const held = new Set(rows.map(row => row.id))
    await tellTasks(
      tx,
      told.filter(job => held.has(job.id)),
    )
  })
}

function messageOf({ id, name, state, data, ...job }: Moved): Progress {
  const status = statusOf(state)
  const total = sizeOf(data ?? {})
  const { libraryId } = data ?? {}
  const bookId = bookOf(name, data ?? {})
  const words = { pending: 'waiting', running: kinds[name].doing } as Record<string, string>
  const message = {
    task_id: id,
    task_type: kinds[name].type,
    status,
    progress: {
      current: status === 'completed' ? total : 0,
      total,
      message: words[status] ?? status,
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
  }
}
