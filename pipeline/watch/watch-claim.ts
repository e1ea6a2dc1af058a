// Claims of libraries to watch (table library_watch): a process that watches a library renews its row, and
// any process can claim a row that is not renewed. Not an advisory lock, because losing the lock's connection
// would have to be detected. Mode and message are displayed to users.
import type { Sql } from '../../lib/store/postgres/db.ts'

/** A library that is configured to be watched or polled. */
export type LibraryToWatch = { id: string; root: Buffer; requestedMode: 'on' | 'poll' }
/** `since` (µs precision) identifies the claim. */
export type WatchClaim = { libraryId: string; since: string }
export type WatchMode = 'watching' | 'polling'
export type WatchState = { mode: WatchMode; message: string | null }

/**
 * A claim expires this long after its last renewal. Renewed every 10 s, it passes to other processes within a
 * minute.
 */
const expirySeconds = 40

export async function librariesToWatch(sql: Sql): Promise<LibraryToWatch[]> {
  return await sql<LibraryToWatch[]>`
    select id, root, scanning_config->>'watch' as "requestedMode"
    from library
    where is_active and deleting_at is null and scanning_config->>'watch' in ('on', 'poll')
    order by id`
}

/** Claims the libraries that no process watches. */
export async function claimLibraries(sql: Sql, libraryIds: string[]): Promise<WatchClaim[]> {
  if (libraryIds.length === 0) return []
  return await sql<WatchClaim[]>`
    insert into library_watch as w (library_id, mode, since, seen_at)
    select l.id, 'polling', clock_timestamp(), clock_timestamp()
    from library l
    where l.id = any(${libraryIds}::uuid[])
    order by l.id
    on conflict (library_id) do update
    set mode = 'polling', message = null, since = excluded.since, seen_at = excluded.seen_at
    where w.seen_at < now() - make_interval(secs => ${expirySeconds})
    returning library_id as "libraryId", since::text`
}

/** Returns the ids of the libraries whose claims still hold. */
export async function renewClaims(sql: Sql, claims: WatchClaim[]): Promise<Set<string>> {
  if (claims.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    update library_watch w set seen_at = clock_timestamp()
    from ${claimRows(sql, claims)}
    where w.library_id = c.id and w.since = c.since
    returning library_id as id`
  return new Set(rows.map(row => row.id))
}

/** Stores how the library is watched, or why it is not. Returns the claim, or null if it was lost. */
export async function storeWatchState(sql: Sql, claim: WatchClaim, { mode, message }: WatchState) {
  const [row] = await sql<WatchClaim[]>`
    update library_watch
    set mode = ${mode}, message = ${message}, seen_at = clock_timestamp(),
      since = case when mode = ${mode} then since else clock_timestamp() end
    where library_id = ${claim.libraryId} and since = ${claim.since}::text::timestamptz
    returning library_id as "libraryId", since::text`
  return row ?? null
}

/** Gives up claims, so that another process can take the libraries right away. */
export async function releaseClaims(sql: Sql, claims: WatchClaim[]): Promise<void> {
  if (claims.length === 0) return
  await sql`
    with released as (
      delete from library_watch w
      using ${claimRows(sql, claims)}
      where w.library_id = c.id and w.since = c.since
      returning library_id
    )
    select pg_notify('schedule', library_id::text) from released`
}

function claimRows(sql: Sql, claims: WatchClaim[]) {
  return sql`unnest(${claims.map(claim => claim.libraryId)}::uuid[],
    ${claims.map(claim => claim.since)}::text[]::timestamptz[]) as c(id, since)`
}
