// What a running job gets, and how it ends.

/** Stop signal of a job: `isStopped` to poll, `signal` to listen. */
export type JobControl = { isStopped: () => boolean; signal: AbortSignal }

/** Result of a job other than success; `later` runs the same job again after some seconds. */
export type JobOutcome =
  | { end: 'later'; seconds: number }
  | { end: 'failed'; reason: string }
  | { end: 'cancelled' }
