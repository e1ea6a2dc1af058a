// Tasks that wait and run, in all processes.
import type { Sql } from 'postgres'
import { type TypeStats, taskStats } from '../queue/task-stats.ts'
import { kept } from './cached-gauge.ts'
import type { Family } from './registry.ts'

// What a scraper is told is fetched behind its back: among a million tasks, counting takes a while.
const ofAll = kept(sql => taskStats(sql, { libraries: null, others: true }), { forMs: 5_000 })

export async function queueFamilies(sql: Sql): Promise<Family[]> {
  const types = await ofAll(sql)
  const of = (name: string, help: string, value: (type: TypeStats) => number): Family => ({
    name,
    help,
    type: 'gauge',
    values: (types ?? []).map(type => ({ labels: { type: type.type }, value: value(type) })),
  })
  return [
    of('tasks_queued', 'Tasks that wait, by type.', type => type.pending),
    of('tasks_running', 'Tasks that run, by type.', type => type.running),
    of('tasks_failed', 'Tasks that were given up and are still in the list.', type => type.failed),
    of(
      'tasks_oldest_age_seconds',
      'How long the oldest task has waited; 0 when none waits.',
      type => type.oldestPendingAgeSeconds ?? 0,
    ),
  ]
}
