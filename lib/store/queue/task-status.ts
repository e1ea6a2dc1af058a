// Task types and statuses: how queued jobs appear to users.
import { type JobName, jobNames, jobTypes } from './jobs.ts'

export type TaskType = (typeof jobTypes)[JobName]['task']

export const taskTypes: TaskType[] = jobNames.map(name => jobTypes[name].task)

const namesByType = new Map<string, JobName>(jobNames.map(name => [jobTypes[name].task, name]))

/** The job of a task type. */
export function jobNameOf(type: TaskType): JobName {
  return namesByType.get(type)!
}

/** States of jobs in pg-boss. */
export type JobState = 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed'

export const taskStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof taskStatuses)[number]

const statuses: Record<JobState, TaskStatus> = {
  created: 'pending',
  retry: 'pending',
  active: 'running',
  completed: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
}

export function statusOf(state: JobState): TaskStatus {
  return statuses[state]
}

/** The job states of a status; all states if none is given. */
export function statesOf(status?: TaskStatus): JobState[] {
  const all = Object.keys(statuses) as JobState[]
  return status ? all.filter(state => statuses[state] === status) : all
}

/** Fields that may occur in any job's payload. */
export type Payload = {
  libraryId?: string
  seriesId?: string
  bookId?: string
  scanId?: string
  releaseSourceId?: string
  ids?: string[]
  /** The number of `ids`, once the job has completed. */
  books?: number
  requested?: true
  again?: true
}

/** The number of items of a batch; 1 for other jobs. */
export function payloadSize({ ids, books }: Payload): number {
  return ids?.length ?? books ?? 1
}

/** The id of the book that a job is about, if it is a single one. The ids of `index` are not book ids. */
export function payloadBookId(name: JobName, { bookId, ids }: Payload): string | null {
  if (bookId) return bookId
  const isSingle = (name === 'cover' || name === 'hash') && ids?.length === 1
  return isSingle ? ids[0]! : null
}
