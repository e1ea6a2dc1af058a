// Tasks are the jobs of the queue as users see them: their names, their states, what they are about.
import type { JobName } from './jobs.ts'

/** Of each job its name as a task, and what is done while it runs. */
export const kinds = {
  scan: { type: 'scan_library', doing: 'scanning' },
  analyze: { type: 'analyze_books', doing: 'reading' },
  index: { type: 'read_books', doing: 'reading' },
  cover: { type: 'generate_thumbnails', doing: 'making covers' },
  hash: { type: 'hash_books', doing: 'hashing' },
  dedupe: { type: 'find_duplicates', doing: 'comparing' },
  erase: { type: 'delete_library', doing: 'erasing' },
  show: { type: 'generate_thumbnail', doing: 'making a cover' },
  purge: { type: 'purge_deleted', doing: 'erasing missing books' },
  upkeep: { type: 'upkeep', doing: 'clearing away' },
} as const satisfies Record<JobName, { type: string; doing: string }>

export const taskTypes = Object.values(kinds).map(kind => kind.type)
export type TaskType = (typeof kinds)[JobName]['type']

const names = new Map(Object.entries(kinds).map(([name, { type }]) => [type, name as JobName]))

/** The queue of a type of tasks. */
export function nameOf(type: TaskType): JobName {
  return names.get(type)!
}

/** States of jobs as pg-boss has them. */
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

/** The states of a status; of none, all. */
export function statesOf(status?: TaskStatus): JobState[] {
  const all = Object.keys(statuses) as JobState[]
  return status ? all.filter(state => statuses[state] === status) : all
}

/** What a payload says of its subject, whichever job it is of. */
export type Payload = {
  libraryId?: string
  bookId?: string
  scanId?: string
  ids?: string[]
  /** How many ids there were, once the work is done. */
  books?: number
  asked?: true
  again?: true
}

/** Things that a task has to do; one that is not a batch is one. */
export function sizeOf({ ids, books }: Payload): number {
  return ids?.length ?? books ?? 1
}

/** The book that a task is about, when it is about one. Ids to read are no ids of books. */
export function bookOf(name: JobName, { bookId, ids }: Payload): string | null {
  if (bookId) return bookId
  const isAlone = (name === 'cover' || name === 'hash') && ids?.length === 1
  return isAlone ? ids[0]! : null
}
