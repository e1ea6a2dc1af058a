// What an invariant is, and how one that a statement can tell is looked at.
import type { PendingQuery, Row, Sql } from 'postgres'
import { newId } from '../../lib/id.ts'
import { pathText } from '../../lib/path.ts'
import type { Queue } from '../../lib/queue/queue.ts'

export type Scope = {
  sql: Sql
  /** Null when nothing is to be repaired. */
  queue: Queue | null
  /** Folder of all thumbnails. */
  thumbnails: string
  /** Ids of the libraries to look at: those that no process is scanning. */
  libraries: string[]
  /** No library at all is being scanned. */
  isQuiet: boolean
  /** The queue's tables are there. */
  hasQueue: boolean
}

export type Seen = { count: number; samples: string[] }

export type Invariant = {
  name: string
  /** What always holds, for a reader. */
  sentence: string
  look: (scope: Scope) => Promise<Seen>
  /** Mends what `look` saw; without it a person must. */
  repair?: (scope: Scope) => Promise<void>
}

const shown = 5

/** A look by SQL: one row for each breach, with the bytes of a `place`, a `note` in words, or both. */
export function broken(find: (scope: Scope) => PendingQuery<Row[]>): Invariant['look'] {
  return async scope => {
    const rows = await scope.sql<{ place?: Buffer; note?: string; count: number }[]>`
      select *, count(*) over () as count from (${find(scope)}) breach limit ${shown}`
    const samples = rows.map(({ place, note }) =>
      [place === undefined ? '' : pathText(place), note ?? ''].join(' ').trim(),
    )
    return { count: rows[0]?.count ?? 0, samples }
  }
}

/** Place and id of a book `b` in its directory `d`. */
export function naming(sql: Sql) {
  return sql`d.path || case when d.path = '' then '' else '/' end::bytea || b.name as place, b.id as note`
}

/** Puts the present books that `breach` gives by id into `found`, to be read again whole. */
export async function readAgain({ sql }: Scope, breach: PendingQuery<Row[]>) {
  await sql`
    insert into found (library_id, scan_id, directory_id, name, size, modified_ms, forced)
    select d.library_id, ${newId()}, b.directory_id, b.name, b.size, b.modified_ms, true
    from (${breach}) x
    join book b on b.id = x.id and b.missing_at is null
    join directory d on d.id = b.directory_id
    on conflict (directory_id, name) do update set forced = true`
}
