// Which process watches which library: a row of `library_watch` that it renews. A lease and no lock,
// because a lock dies with its connection and would have to be noticed; a row that nobody renews is
// simply anybody's. What it says is what users are shown.
import type { Sql } from 'postgres'

/** A library that asks to be watched. */
export type Wanted = { id: string; root: Buffer; wish: 'on' | 'poll' }
/** `since` tells one holder from the next, to the microsecond. */
export type Lease = { libraryId: string; since: string }
export type Mode = 'watching' | 'polling'

/** How long a lease holds after its last renewal. With a renewal every 10 s others take over within a minute. */
const leaseSeconds = 40

export async function wantedLibraries(sql: Sql): Promise<Wanted[]> {
  return await sql<Wanted[]>`
    select id, root, scanning_config->>'watch' as wish
    from library
    where is_active and deleting_at is null and scanning_config->>'watch' in ('on', 'poll')
    order by id`
}

/** Takes those that nobody holds. */
export async function claim(sql: Sql, libraryIds: string[]): Promise<Lease[]> {
  if (libraryIds.length === 0) return []
  return await sql<Lease[]>`
    insert into library_watch as w (library_id, mode, since, seen_at)
    select l.id, 'polling', clock_timestamp(), clock_timestamp()
    from library l
    where l.id = any(${libraryIds}::uuid[])
    order by l.id
    on conflict (library_id) do update
    set mode = 'polling', message = null, since = excluded.since, seen_at = excluded.seen_at
    where w.seen_at < now() - make_interval(secs => ${leaseSeconds})
    returning library_id as "libraryId", since::text`
}

/** Answers the libraries whose leases still hold. */
export async function renew(sql: Sql, leases: Lease[]): Promise<Set<string>> {
  if (leases.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    update library_watch w set seen_at = clock_timestamp()
    from ${among(sql, leases)}
    where w.library_id = m.id and w.since = m.since
    returning library_id as id`
  return new Set(rows.map(row => row.id))
}

/** Says how the library is watched now, and why not otherwise. Null when the lease is lost. */
export async function say(
  sql: Sql,
  lease: Lease,
  state: { mode: Mode; message: string | null },
): Promise<Lease | null> {
  const [row] = await sql<Lease[]>`
    update library_watch
    set mode = ${state.mode}, message = ${state.message}, seen_at = clock_timestamp(),
      since = case when mode = ${state.mode} then since else clock_timestamp() end
    where library_id = ${lease.libraryId} and since = ${lease.since}::text::timestamptz
    returning library_id as "libraryId", since::text`
  return row ?? null
}

/** Gives libraries to whoever wants them. */
export async function release(sql: Sql, leases: Lease[]): Promise<void> {
  if (leases.length === 0) return
  await sql`
    with given as (
      delete from library_watch w
      using ${among(sql, leases)}
      where w.library_id = m.id and w.since = m.since
      returning library_id
    )
    select pg_notify('schedule', library_id::text) from given`
}

function among(sql: Sql, leases: Lease[]) {
  return sql`unnest(${leases.map(l => l.libraryId)}::uuid[],
    ${leases.map(l => l.since)}::text[]::timestamptz[]) as m(id, since)`
}
