// SQL that selects the tasks of a scope by job name and state, in order of creation.
import type { Fragment } from 'postgres'
import type { Queryable } from '../../postgres/db.ts'
import type { JobName } from '../jobs.ts'
import type { JobState } from '../task-status.ts'
import { isWithinLimits, namesInScope, type TaskScope } from './scope.ts'

/** Selects each job of `names` and `states` once, at most `limit` of every combination. */
export type TaskQuery = {
  scope: TaskScope
  names: readonly JobName[]
  states: readonly JobState[]
  limit: number
  /** Oldest first rather than newest. */
  oldestFirst?: true
}

/**
 * Columns id, name and state, in order of creation because ids are ordered by time. For viewers without
 * limits it only reads indexes: a queue of a million jobs is no slower than an empty one.
 */
export function selectTasks(sql: Queryable, query: TaskQuery): Fragment {
  const { scope, states, limit, oldestFirst } = query
  const names = namesInScope(query.names, scope)
  const direction = oldestFirst ? sql`asc` : sql`desc`
  const firstOfEach = (where: Fragment) => sql`
    cross join unnest(${names as string[]}::text[]) n(name)
    cross join unnest(${states as string[]}::text[]::pgboss.job_state[]) s(state)
    cross join lateral (
      select j.id, j.name, j.state from pgboss.job_common j
      where j.name = n.name and j.state = s.state ${where} and ${isWithinLimits(sql, scope)}
      order by j.id ${direction}
      limit ${limit}
    ) j`
  const { libraries, withoutLibrary } = scope
  if (libraries === null) {
    const where = withoutLibrary ? sql`` : sql`and j.data->>'libraryId' is not null`
    return sql`select j.* from (values (1)) once ${firstOfEach(where)}`
  }
  return sql`
    select j.* from unnest(${libraries as string[]}::text[]) l(id)
    ${firstOfEach(sql`and j.data->>'libraryId' = l.id`)}
    union all
    select j.* from (select where ${withoutLibrary}) once
    ${firstOfEach(sql`and j.data->>'libraryId' is null`)}`
}
