// Metrics of lists: failures of what they read in the background.
import { counter } from './registry.ts'

const failures = counter(
  'list_background_failures_total',
  'Failed readings of what lists are made from, by kind: they are slower until the next one succeeds.',
  ['kind'],
)

/** Counts a failed reading of an index of lists. */
export function countFailedListReading(kind: string) {
  failures.inc({ kind })
}
