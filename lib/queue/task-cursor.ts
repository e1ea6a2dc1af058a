// The tasks of some types, states and libraries in the order they were made, by index alone: a queue of
// a million is no slower than an empty one.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'
import type { JobName } from './jobs.ts'
import type { JobState } from './task-kind.ts'

type Db = Sql | TransactionSql

/** Libraries whose tasks are meant, null for all; and whether those of no library are meant too. */
export type Scope = { libraries: readonly string[] | null; others: boolean }

/** What a viewer may see of tasks, of one library if so asked. */
export function scopeOf({ libraries }: Pick<Viewer, 'libraries'>, libraryId?: string): Scope {
  if (libraryId === undefined) return { libraries, others: true }
  const isSeen = libraries === null || libraries.includes(libraryId)
  return { libraries: isSeen ? [libraryId] : [], others: false }
}

/** Each task of `names` and `states` is met once; of every combination at most `most`. */
export type Walk = {
  scope: Scope
  names: readonly JobName[]
  states: readonly JobState[]
  most: number
  /** The oldest first; else the newest. */
  oldest?: true
}

/** Columns id, name and state; ids tell their time. */
export function walked(sql: Db, { scope, names, states, most, oldest }: Walk): Fragment {
  const order = oldest ? sql`asc` : sql`desc`
  const some = (where: Fragment) => sql`
    cross join unnest(${names as string[]}::text[]) n(name)
    cross join unnest(${states as string[]}::pgboss.job_state[]) s(state)
    cross join lateral (
      select id, name, state from pgboss.job_common
      where name = n.name and state = s.state ${where}
      order by id ${order}
      limit ${most}
    ) j`
  const { libraries, others } = scope
  if (libraries === null) return sql`select j.* from (values (1)) once ${some(sql``)}`
  return sql`
    select j.* from unnest(${libraries as string[]}::text[]) l(id)
    ${some(sql`and data->>'libraryId' = l.id`)}
    union all
    select j.* from (select where ${others}) once
    ${some(sql`and data->>'libraryId' is null`)}`
}
