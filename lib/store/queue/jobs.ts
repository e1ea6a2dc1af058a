// Job catalog: names of all jobs, their payloads, and the options of their queues.

/** Every job and its payload. `ids` is at most one batch; `again` repeats work that was already done. */
export type Jobs = {
  scan: { scanId: string; libraryId: string }
  /** A scan that does not look for new files, of the library or of one series or book. */
  analyze: { scanId: string; libraryId: string } & AnalysisSubject
  index: { scanId: string; libraryId: string; ids: string[] }
  /** `of`: the ids are of series, whose covers are in their folders. */
  cover: { scanId: string; libraryId: string; ids: string[]; of?: 'series' }
  hash: { scanId: string; libraryId: string; ids: string[]; again?: true }
  /** `requested`: by a user who is waiting for it. */
  dedupe: { libraryId?: string; requested?: true }
  /** Matches the due series of a library with a metadata source. */
  match: { libraryId: string; sourceId: string; kind: 'series' | 'book' }
  erase: { libraryId: string }
  /** The cover of one book that is displayed or was requested. */
  coverOnDemand: { libraryId: string; bookId: string; again?: true }
  /** Erases the missing books of a library. */
  purge: { libraryId: string }
  maintenance: Record<string, never>
  /** Writes a backup into `backup.dir`. */
  backup: Record<string, never>
  /** Reads the new releases of a source's list. */
  poll: { releaseSourceId: string }
}
export type JobName = keyof Jobs

/** The series or book of an analysis. */
export type AnalysisSubject = { seriesId?: string; bookId?: string }

// A job may wait for weeks behind a library of terabytes; pg-boss deletes jobs past their retention.
const common = {
  heartbeatSeconds: 30,
  retentionSeconds: 10 * 365 * 86_400,
  retryBackoff: true,
}
const quick = { ...common, retryLimit: 5, retryDelay: 1, retryDelayMax: 60 }
// A scan that takes days survives many restarts.
const long = { ...quick, retryLimit: 20 }
// A mount or a full disk takes time to recover. Jobs that are given up become due again at the end of the
// next scan.
const patient = { ...common, retryLimit: 8, retryDelay: 5, retryDelayMax: 300 }

/**
 * The task type under which users see each job, a text for its activity, and the options of its queue. Policy
 * `short` allows one waiting job per key: a request that arrives while the same work is running waits, and a
 * second waiting request would only repeat it.
 */
export const jobTypes = {
  scan: { task: 'scan_library', activity: 'scanning', queue: { policy: 'short', ...long } },
  analyze: { task: 'analyze_books', activity: 'reading', queue: { policy: 'short', ...long } },
  index: { task: 'read_books', activity: 'reading', queue: { policy: 'standard', ...quick } },
  cover: {
    task: 'generate_thumbnails',
    activity: 'generating covers',
    queue: { policy: 'standard', ...patient },
  },
  hash: { task: 'hash_books', activity: 'hashing', queue: { policy: 'standard', ...patient } },
  dedupe: { task: 'find_duplicates', activity: 'comparing', queue: { policy: 'short', ...quick } },
  match: {
    task: 'plugin_auto_match',
    activity: 'matching',
    queue: { policy: 'short', ...long },
  },
  erase: { task: 'delete_library', activity: 'erasing', queue: { policy: 'short', ...patient } },
  coverOnDemand: {
    task: 'generate_thumbnail',
    activity: 'generating a cover',
    queue: { policy: 'short', ...quick },
  },
  purge: {
    task: 'purge_deleted',
    activity: 'erasing missing books',
    queue: { policy: 'short', ...quick },
  },
  maintenance: {
    task: 'maintenance',
    activity: 'cleaning up',
    queue: { policy: 'short', ...quick },
  },
  // The schedule or a person repeats it.
  backup: {
    task: 'backup',
    activity: 'backing up',
    queue: { policy: 'short', ...quick, retryLimit: 0 },
  },
  poll: {
    task: 'poll_release_source',
    activity: 'looking for releases',
    queue: { policy: 'short', ...quick },
  },
} as const satisfies Record<JobName, { task: string; activity: string; queue: object }>
export const jobNames = Object.keys(jobTypes) as JobName[]

/** Batches. One scan creates thousands of these: no event and no wakeup for each one enqueued. */
export const bulkJobs: readonly JobName[] = ['index', 'cover', 'hash']

/** Jobs that are a scan and share its id. */
const scanJobs: readonly JobName[] = ['scan', 'analyze']

export const isBulk = (name: JobName) => bulkJobs.includes(name)
export const isScanJob = (name: JobName) => scanJobs.includes(name)
