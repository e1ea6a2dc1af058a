// Tasks that this process ran.
import { counter, histogram } from './registry.ts'

const durations = histogram('task_duration_seconds', 'Time that tasks ran, by type.', {
  labels: ['type'],
  buckets: [0.1, 1, 10, 60, 600],
})
const ended = counter('tasks_completed_total', 'Tasks that ended here, by type and how.', [
  'type',
  'outcome',
])

export type Outcome = 'completed' | 'failed' | 'cancelled' | 'interrupted'

/** Counts the end of tasks that ran together for `ms`. */
export function countTasks(
  type: string,
  outcome: Outcome,
  { ms, tasks = 1 }: { ms: number; tasks?: number },
) {
  durations.observe({ type }, ms / 1000)
  ended.inc({ type, outcome }, tasks)
}
