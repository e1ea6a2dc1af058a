// How many tasks there are, and how long they take. A count reads an index from end to end, so it is
// remembered for a while: fifty times as long as it took.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { timeOfId } from '../id.ts'
import { type JobName, jobNames } from './jobs.ts'
import { type Scope, walked } from './task-cursor.ts'
import {
  type JobState,
  kinds,
  nameOf,
  statesOf,
  statusOf,
  type TaskStatus,
  type TaskType,
  taskStatuses,
} from './task-kind.ts'

const restFactor = 50
const latest = 1_000
const staleSeconds = 60

export type TaskCounts = Record<TaskStatus | 'processing' | 'stale' | 'total', number>
export type TypeStats = TaskCounts & {
  type: TaskType
  oldestPendingAgeSeconds: number | null
  p50DurationMs: number | null
  p95DurationMs: number | null
}

/** Tasks of a scope that match, as remembered. */
export async function countTasksOf(
  sql: Sql,
  scope: Scope,
  { status, type }: { status?: TaskStatus; type?: TaskType },
): Promise<number> {
  const states = new Set(statesOf(status))
  const name = type && nameOf(type)
  const rows = await counted(sql, scope)
  return rows
    .filter(row => states.has(row.state) && (name === undefined || row.name === name))
    .reduce((sum, row) => sum + row.count, 0)
}

/** Every type in one order, with what is remembered of it. */
export async function taskStats(sql: Sql, scope: Scope): Promise<TypeStats[]> {
  const [counts, figures] = await Promise.all([counted(sql, scope), timed(sql, scope)])
  return jobNames.map(name => {
    const its = counts.filter(row => row.name === name)
    const of = (status: TaskStatus) =>
      its.filter(row => statusOf(row.state) === status).reduce((sum, row) => sum + row.count, 0)
    const { oldest, ...durations } = figures.get(name)!
    return {
      type: kinds[name].type,
      ...(Object.fromEntries(taskStatuses.map(status => [status, of(status)])) as Record<
        TaskStatus,
        number
      >),
      processing: of('running'),
      stale: its.reduce((sum, row) => sum + row.stale, 0),
      total: its.reduce((sum, row) => sum + row.count, 0),
      oldestPendingAgeSeconds:
        oldest === null ? null : Math.max(0, Math.round((Date.now() - oldest.getTime()) / 1000)),
      ...durations,
    }
  })
}

type Counted = { name: JobName; state: JobState; count: number; stale: number }

const counted = remembered(async (sql: Sql, { libraries, others }: Scope) => {
  const isMeant =
    libraries === null
      ? sql`true`
      : sql`(data->>'libraryId' = any(${libraries as string[]})
          or ${others} and data->>'libraryId' is null)`
  return await sql<Counted[]>`
    select c.name, c.state, c.count, case when c.state <> 'active' then 0 else (
        select count(*) from pgboss.job_common
        where name = c.name and state = 'active' and ${isMeant}
          and heartbeat_on < now() - make_interval(secs => ${staleSeconds})) end as stale
    from (
      select name, state, count(*) as count from pgboss.job_common
      where ${isMeant}
      group by name, state
    ) c`
})

type Timed = { oldest: Date | null; p50DurationMs: number | null; p95DurationMs: number | null }

const timed = remembered(async (sql: Sql, scope: Scope) => {
  const walk = { scope, names: jobNames }
  const first = await sql<{ id: string; name: JobName }[]>`
    select name, id
    from (${walked(sql, { ...walk, states: statesOf('pending'), most: 1, oldest: true })}) w
    order by id desc`
  const durations = await sql<{ name: JobName; p50: number; p95: number }[]>`
    select j.name, percentile_cont(0.5) within group (order by d.ms) as p50,
      percentile_cont(0.95) within group (order by d.ms) as p95
    from (${walked(sql, { ...walk, states: ['completed'], most: latest })}) w
    join pgboss.job_common j on j.name = w.name and j.id = w.id
    cross join lateral (
      select extract(epoch from j.completed_on - j.started_on)::float8 * 1000 as ms) d
    where d.ms is not null
    group by j.name`
  const oldest = new Map(first.map(row => [row.name, timeOfId(row.id)]))
  const lasting = new Map(durations.map(row => [row.name, row]))
  return new Map<JobName, Timed>(
    jobNames.map(name => [
      name,
      {
        oldest: oldest.get(name) ?? null,
        p50DurationMs: round(lasting.get(name)?.p50),
        p95DurationMs: round(lasting.get(name)?.p95),
      },
    ]),
  )
})

const round = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms))

/** `load`, asked again when so much time has passed. */
function remembered<T>(load: (sql: Sql, scope: Scope) => Promise<T>) {
  const known = new WeakMap<Sql, LRUCache<string, { due: number; value: Promise<T> }>>()
  return (sql: Sql, scope: Scope): Promise<T> => {
    const mine = known.get(sql) ?? new LRUCache({ max: 200 })
    known.set(sql, mine)
    const key = JSON.stringify(scope)
    const before = mine.get(key)
    if (before && performance.now() < before.due) return before.value
    const began = performance.now()
    const entry = { due: Number.POSITIVE_INFINITY, value: load(sql, scope) }
    mine.set(key, entry)
    const rest = () => {
      const ended = performance.now()
      entry.due = ended + restFactor * (ended - began)
    }
    entry.value.then(rest, () => mine.delete(key))
    return entry.value
  }
}
