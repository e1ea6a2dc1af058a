// Metrics of lists: errors while loading the list index.
import { counter } from './registry.ts'

const failures = counter(
  'list_background_failures_total',
  'Errors while loading list indexes, by kind; lists are slower until the next load succeeds.',
  ['kind'],
)

/** Counts an error while loading a list index. */
export function countFailedListReading(kind: string) {
  failures.inc({ kind })
}
