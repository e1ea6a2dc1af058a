// Invariants of the catalog: each has a description, a check and an optional repair.
import type { PendingQuery, Row } from 'postgres'
import { pathText } from '../../lib/base/path.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'

export type DoctorScope = {
  sql: Sql
  /** Null if nothing is to be repaired. */
  queue: Queue | null
  /** Folder of all thumbnails. */
  thumbnails: string
  /** Ids of the libraries to check: those not being scanned. */
  libraries: string[]
  /** Whether no library is being scanned. */
  isQuiet: boolean
  /** True when the tables of the queue exist. */
  hasQueue: boolean
}

export type Violations = { count: number; samples: string[] }

export type Invariant = {
  name: string
  /** What must hold, in words for users. */
  description: string
  check: (scope: DoctorScope) => Promise<Violations>
  /** Repairs the violations; if absent, a person has to. */
  repair?: (scope: DoctorScope) => Promise<void>
}

const maxSamples = 5

/** Counts violations described by notes, each of which stands for as many as `times`. */
export function createViolations() {
  const violations: Violations = { count: 0, samples: [] }
  const add = (note: string, times = 1) => {
    violations.count += times
    if (violations.samples.length < maxSamples) violations.samples.push(note)
  }
  return { violations, add }
}

/**
 * A check in SQL: the query returns a row per violation, with a path as bytes (`place`), a text (`note`), or
 * both.
 */
export function violationQuery(
  select: (scope: DoctorScope) => PendingQuery<Row[]>,
): Invariant['check'] {
  return async scope => {
    const rows = await scope.sql<{ place?: Buffer; note?: string; count: number }[]>`
      select *, count(*) over () as count from (${select(scope)}) violation limit ${maxSamples}`
    const samples = rows.map(({ place, note }) =>
      [place === undefined ? '' : pathText(place), note ?? ''].join(' ').trim(),
    )
    return { count: rows[0]?.count ?? 0, samples }
  }
}

/** Path and id of a book `b` in its directory `d`, as columns `place` and `note`. */
export function bookPlaceColumns(sql: Sql) {
  return sql`d.path || case when d.path = '' then '' else '/' end::bytea || b.name as place, b.id as note`
}

/** Makes the files of present books pending, to be fully read again. `violations` has their ids. */
export async function requeueBooks({ sql }: DoctorScope, violations: PendingQuery<Row[]>) {
  await sql`
    insert into pending_file (library_id, directory_id, name, size, modified_ms, forced)
    select d.library_id, b.directory_id, b.name, b.size, b.modified_ms, true
    from (${violations}) x
    join book b on b.id = x.id and b.missing_at is null
    join directory d on d.id = b.directory_id
    on conflict (directory_id, name) do update set forced = true`
}
