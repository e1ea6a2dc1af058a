// What can be asked of the pipeline: the names of the jobs and what each of them carries.

/** Every job and its payload. `ids` are at most one batch; `again` hashes what has a hash already. */
export type Jobs = {
  scan: { scanId: string; libraryId: string }
  /** A scan that does not look at the disk for more. */
  analyze: { scanId: string; libraryId: string }
  index: { scanId: string; libraryId: string; ids: string[] }
  cover: { scanId: string; libraryId: string; ids: string[] }
  hash: { scanId: string; libraryId: string; ids: string[]; again?: true }
  /** `asked`: a user waits for it. */
  dedupe: { libraryId?: string; asked?: true }
  erase: { libraryId: string }
  /** A cover that someone looks at or asked for; `again` makes one that is there. */
  show: { libraryId: string; bookId: string; again?: true }
  /** Erases the missing books of a library. */
  purge: { libraryId: string }
  upkeep: Record<string, never>
}
export type JobName = keyof Jobs

// A job may wait for weeks behind a library of terabytes; what waits too long is deleted.
const common = {
  heartbeatSeconds: 30,
  retentionSeconds: 10 * 365 * 86_400,
  retryBackoff: true,
}
const quick = { ...common, retryLimit: 5, retryDelay: 1, retryDelayMax: 60 }
// A scan of days lives through many a restart.
const long = { ...quick, retryLimit: 20 }
// A mount or a full disk takes its time to come back. What is given up is due at the next scan's end.
const patient = { ...common, retryLimit: 8, retryDelay: 5, retryDelayMax: 300 }

/**
 * How each is queued. Those of policy `short` keep one waiting job a key: a request that arrives while
 * the same work runs waits for its turn, a second one waiting would only do the same again.
 */
export const queues = {
  scan: { policy: 'short', ...long },
  analyze: { policy: 'short', ...long },
  index: { policy: 'standard', ...quick },
  cover: { policy: 'standard', ...patient },
  hash: { policy: 'standard', ...patient },
  dedupe: { policy: 'short', ...quick },
  erase: { policy: 'short', ...patient },
  show: { policy: 'short', ...quick },
  purge: { policy: 'short', ...quick },
  upkeep: { policy: 'short', ...quick },
} satisfies Record<JobName, object>
export const jobNames = Object.keys(queues) as JobName[]

/** Thousands of these come of one scan: nobody is told that they wait, nor woken for each. */
export const bulkNames = ['index', 'cover', 'hash'] as const satisfies JobName[]

/** Jobs that are a scan: each has the id of its scan. */
export const scanNames = ['scan', 'analyze'] as const satisfies JobName[]

export const isBulk = (name: JobName) => (bulkNames as readonly JobName[]).includes(name)
export const isOfScan = (name: JobName) => (scanNames as readonly JobName[]).includes(name)
