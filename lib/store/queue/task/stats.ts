// Task statistics: counts by type and status, ages and durations. Counting reads a whole index, so results
// are cached for fifty times as long as the query took.
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../../base/async/single-flight.ts'
import { timeOfId } from '../../../base/id.ts'
import type { Sql } from '../../postgres/db.ts'
import { type JobName, jobNames, jobTypes } from '../jobs.ts'
import {
  type JobState,
  jobNameOf,
  statesOf,
  statusOf,
  type TaskStatus,
  type TaskType,
  taskStatuses,
} from '../task-status.ts'
import { isInScope, scopeKey, type TaskScope } from './scope.ts'
import { selectTasks } from './select.ts'

const cacheFactor = 50
const maxSampledJobs = 1_000
const staleSeconds = 60

export type TaskCounts = Record<TaskStatus | 'processing' | 'stale' | 'total', number>
export type TypeStats = TaskCounts & {
  type: TaskType
  oldestPendingAgeSeconds: number | null
  p50DurationMs: number | null
  p95DurationMs: number | null
}

/** Cached statistics of the tasks in a database. */
export function openTaskStats(pool: Sql) {
  const stateCounts = cachedByScope(scope => countStates(pool, scope))
  const jobTimes = cachedByScope(scope => measureTimes(pool, scope))
  return {
    /** The number of matching tasks in a scope. */
    async count(scope: TaskScope, match: { status?: TaskStatus; type?: TaskType }) {
      return countMatching(await stateCounts(scope), match)
    },
    /** Counts of every task type, in a fixed order. */
    async all(scope: TaskScope): Promise<TypeStats[]> {
      const [counts, times] = await Promise.all([stateCounts(scope), jobTimes(scope)])
      return statsOf(counts, times)
    },
  }
}

function countMatching(
  rows: readonly StateCount[],
  { status, type }: { status?: TaskStatus; type?: TaskType },
): number {
  const states = new Set(statesOf(status))
  const name = type && jobNameOf(type)
  return rows
    .filter(row => states.has(row.state) && (name === undefined || row.name === name))
    .reduce((sum, row) => sum + row.count, 0)
}

function statsOf(
  counts: readonly StateCount[],
  times: ReadonlyMap<JobName, JobTimes>,
): TypeStats[] {
  return jobNames.map(name => {
    const rows = counts.filter(row => row.name === name)
    const countOf = (status: TaskStatus) =>
      rows.filter(row => statusOf(row.state) === status).reduce((sum, row) => sum + row.count, 0)
    const { oldestPendingAt, ...durations } = times.get(name)!
    return {
      type: jobTypes[name].task,
      ...(Object.fromEntries(taskStatuses.map(status => [status, countOf(status)])) as Record<
        TaskStatus,
        number
      >),
      processing: countOf('running'),
      stale: rows.reduce((sum, row) => sum + row.stale, 0),
      total: rows.reduce((sum, row) => sum + row.count, 0),
      oldestPendingAgeSeconds:
        oldestPendingAt === null
          ? null
          : Math.max(0, Math.round((Date.now() - oldestPendingAt.getTime()) / 1000)),
      ...durations,
    }
  })
}

type StateCount = { name: JobName; state: JobState; count: number; stale: number }

async function countStates(sql: Sql, scope: TaskScope): Promise<StateCount[]> {
  return await sql<StateCount[]>`
    select c.name, c.state, c.count, case when c.state <> 'active' then 0 else (
        select count(*) from pgboss.job_common j
        where j.name = c.name and j.state = 'active' and ${isInScope(sql, scope)}
          and j.heartbeat_on < now() - make_interval(secs => ${staleSeconds})) end as stale
    from (
      select j.name, j.state, count(*) as count from pgboss.job_common j
      where ${isInScope(sql, scope)}
      group by j.name, j.state
    ) c`
}

type JobTimes = {
  oldestPendingAt: Date | null
  p50DurationMs: number | null
  p95DurationMs: number | null
}

async function measureTimes(sql: Sql, scope: TaskScope): Promise<Map<JobName, JobTimes>> {
  const query = { scope, names: jobNames }
  const pending = await sql<{ id: string; name: JobName }[]>`
    select name, id
    from (${selectTasks(sql, { ...query, states: statesOf('pending'), limit: 1, oldestFirst: true })}) w
    order by id desc`
  const durations = await sql<{ name: JobName; p50: number; p95: number }[]>`
    select j.name, percentile_cont(0.5) within group (order by d.ms) as p50,
      percentile_cont(0.95) within group (order by d.ms) as p95
    from (${selectTasks(sql, { ...query, states: ['completed'], limit: maxSampledJobs })}) w
    join pgboss.job_common j on j.name = w.name and j.id = w.id
    cross join lateral (
      select extract(epoch from j.completed_on - j.started_on)::float8 * 1000 as ms) d
    where d.ms is not null
    group by j.name`
  const oldest = new Map(pending.map(row => [row.name, timeOfId(row.id)]))
  const durationsByName = new Map(durations.map(row => [row.name, row]))
  return new Map<JobName, JobTimes>(
    jobNames.map(name => [
      name,
      {
        oldestPendingAt: oldest.get(name) ?? null,
        p50DurationMs: round(durationsByName.get(name)?.p50),
        p95DurationMs: round(durationsByName.get(name)?.p95),
      },
    ]),
  )
}

const round = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms))

/** Caches `load` per scope; calls share a running query. */
function cachedByScope<T>(load: (scope: TaskScope) => Promise<T>) {
  const entries = new LRUCache<string, { value: T; expiresAt: number }>({ max: 200 })
  const flight = createSingleFlight<T>()
  return async (scope: TaskScope): Promise<T> => {
    const key = scopeKey(scope)
    const cached = entries.get(key)
    if (cached && performance.now() < cached.expiresAt) return cached.value
    return flight(key, async () => {
      const startedAt = performance.now()
      const value = await load(scope)
      const endedAt = performance.now()
      const expiresAt = endedAt + cacheFactor * (endedAt - startedAt)
      entries.set(key, { value, expiresAt })
      return value
    })
  }
}
