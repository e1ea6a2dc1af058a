// Source metrics: calls, failures and durations.
import { counter, histogram } from './registry.ts'

const calls = counter('source_calls_total', 'Calls to sources, by operation and outcome.', [
  'source',
  'operation',
  'outcome',
])
const durations = histogram('source_call_duration_seconds', 'Duration of calls to sources.', {
  labels: ['source'],
  buckets: [0.1, 0.5, 2, 10, 60],
})

type SourceCall = {
  source: string
  operation: string
  /** `success` or the kind of failure. */
  outcome: string
  ms: number
}

export function observeSourceCall({ source, operation, outcome, ms }: SourceCall) {
  calls.inc({ source, operation, outcome })
  durations.observe({ source }, ms / 1000)
}
