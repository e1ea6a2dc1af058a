// What a running job receives, and how it ends.

/** Stop signal of a job: poll `isStopped`, or listen to `signal`. */
export type JobControl = { isStopped: () => boolean; signal: AbortSignal }

/** Result of a job other than success; `later` reruns the same job after some seconds. */
export type JobOutcome =
  | { end: 'later'; seconds: number }
  | { end: 'failed'; reason: string }
  | { end: 'cancelled' }
